import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { badgesOf } from '../../src/web/player/badges.js';
import { type GovernedTile, Governor } from '../../src/web/player/governor.js';
import {
  chooseRung,
  Failures,
  type LadderFacts,
  Rebuilds,
  RefusedCodecs,
  reasonAgainst,
} from '../../src/web/player/ladder.js';
import { freshnessOf, IntervalMeter, KeyDistance, LagMeter, Sleeps } from '../../src/web/player/lag.js';
import { saysTheSame, type TileFacts, viewOf } from '../../src/web/player/tile-view.js';
import { Backoff } from '../../src/web/socket/backoff.js';
import { TakenCount, takenMessage } from '../../src/web/socket/taken.js';

const CALM = { queued: 0, decodeMs: 20, lateMs: 0 };
const BUSY = { queued: 9, decodeMs: 20, lateMs: 0 };
const tilesOf = (count: number, hasSmaller = true): GovernedTile[] =>
  Array.from({ length: count }, (_, tile) => ({ tile, importance: tile, hasSmaller }));

test('a machine that does not keep up shows less of what matters least, a step of each at a time', () => {
  const governor = new Governor();
  const tiles = tilesOf(3);
  const seen: string[] = [];
  for (let second = 0; second < 60; second++) {
    if (governor.look(second * 1_000, BUSY, tiles))
      seen.push(tiles.map(({ tile }) => governor.stepOf(tile)).join(' '));
  }
  assert.deepEqual(seen.slice(0, 4), ['sub full full', 'sub sub full', 'sub sub sub', 'key sub sub']);
  assert.equal(seen.at(-1), 'still still still');
  const single = new Governor();
  single.look(0, BUSY, tilesOf(1, false));
  assert.equal(single.stepOf(0), 'full', 'one late second is a hiccup');
  single.look(1_000, BUSY, tilesOf(1, false));
  assert.equal(single.stepOf(0), 'key', 'there is no smaller stream');
});

test('it shows more again after half a minute, and waits twice as long where that was too much', () => {
  const governor = new Governor();
  const tiles = tilesOf(1);
  let nowMs = 0;
  const run = (seconds: number, load: typeof CALM): void => {
    for (let second = 0; second < seconds; second++) {
      nowMs += 1_000;
      governor.look(nowMs, load, tiles);
    }
  };
  run(2, BUSY);
  assert.equal(governor.stepOf(0), 'sub');
  run(30, CALM);
  assert.equal(governor.stepOf(0), 'sub', 'not yet');
  run(1, CALM);
  assert.equal(governor.stepOf(0), 'full');
  run(2, BUSY);
  run(32, CALM);
  assert.equal(governor.stepOf(0), 'sub', 'that was too much: it waits a minute now');
  run(30, CALM);
  assert.equal(governor.stepOf(0), 'full');
});

test('it waits less long again after steps up that were not too much', () => {
  const governor = new Governor();
  const tiles = tilesOf(2);
  let nowMs = 0;
  const run = (seconds: number, load: typeof CALM): void => {
    for (let second = 0; second < seconds; second++) {
      nowMs += 1_000;
      governor.look(nowMs, load, tiles);
    }
  };
  /** How long it takes until the next step up. */
  const untilRaised = (): number => {
    const before = tiles.map(({ tile }) => governor.stepOf(tile)).join(' ');
    for (let seconds = 1; ; seconds++) {
      assert.ok(seconds < 1_000);
      run(1, CALM);
      if (tiles.map(({ tile }) => governor.stepOf(tile)).join(' ') !== before) return seconds;
    }
  };
  run(6, BUSY);
  // Three that were too much: it waits for four minutes now.
  for (const _ of [1, 2, 3]) {
    untilRaised();
    run(2, BUSY);
  }
  assert.deepEqual(
    tiles.map(({ tile }) => governor.stepOf(tile)),
    ['key', 'sub'],
  );
  assert.deepEqual([untilRaised(), untilRaised(), untilRaised()], [241, 240, 120]);
  run(1_000, CALM);
  run(2, BUSY);
  assert.equal(untilRaised(), 31, 'after long enough it is as at the beginning');
});

const facts = (changes: Partial<LadderFacts> = {}): LadderFacts => ({
  ...{ isSecure: true, hasWebCodecs: true, hasMse: true, hasWebRtc: true, hasHls: true },
  ...{ isSocketBlocked: false, whepTaken: 0, hlsTaken: 0 },
  ...{ refusedCodec: new Set(), failed: new Set(), ...changes },
});

test('a tile takes the best way that there is, and says why not a better one', () => {
  assert.equal(chooseRung(facts()), 'webcodecs');
  const plain = facts({ isSecure: false, hasWebCodecs: false });
  assert.deepEqual([chooseRung(plain), reasonAgainst('webcodecs', plain)], ['mse', 'insecure']);
  assert.equal(chooseRung(facts({ refusedCodec: new Set(['webcodecs', 'mse']) })), 'whep');
  const blocked = facts({ isSocketBlocked: true });
  assert.deepEqual([chooseRung(blocked), reasonAgainst('mse', blocked)], ['whep', 'socket']);
  assert.equal(chooseRung(facts({ isSocketBlocked: true, whepTaken: 9 })), 'hls');
  assert.equal(chooseRung(facts({ isSocketBlocked: true, whepTaken: 9, hlsTaken: 3 })), 'stills');
  assert.equal(chooseRung(facts(), 'hls'), 'hls', 'as the user wants');
  assert.equal(chooseRung(blocked, 'mse'), 'whep', 'what can not be is not taken');

  const failures = new Failures();
  failures.note('webcodecs', 1_000);
  assert.equal(chooseRung(facts({ failed: failures.at(60_000) })), 'mse');
  assert.equal(chooseRung(facts({ failed: failures.at(61_001) })), 'webcodecs', 'tried again after a minute');
  const rebuilds = new Rebuilds();
  assert.deepEqual(
    [0, 1_000, 2_000, 3_000, 62_000].map((nowMs) => rebuilds.mayRebuild(nowMs)),
    [true, true, true, false, true],
  );
});

test('a codec that is not played is tried again as soon as the camera sends another one', () => {
  const refused = new RefusedCodecs();
  refused.look('h265 1920x1080', '');
  refused.rungs.add('webcodecs');
  refused.isSubOnly = true;
  refused.look('h265 1920x1080', '');
  refused.look('', 'h264 640x360');
  assert.ok(refused.rungs.has('webcodecs') && refused.isSubOnly, 'it is away, or its smaller stream came');
  refused.look('h264 1920x1080', '');
  assert.ok(refused.rungs.size === 0 && !refused.isSubOnly);
  const unknown = new RefusedCodecs();
  unknown.rungs.add('mse');
  unknown.look('h265 1920x1080', '');
  assert.ok(unknown.rungs.has('mse'), 'what it sends was not known before');
});

test('added lag is what is above the least of a minute, whatever the clocks say', () => {
  const sources = fc.record({
    apartMs: fc.integer({ min: -1e9, max: 1e9 }),
    delaysMs: fc.array(fc.integer({ min: 0, max: 500 }), { minLength: 2, maxLength: 50 }),
  });
  fc.assert(
    fc.property(sources, ({ apartMs, delaysMs }) => {
      const meter = new LagMeter();
      for (const [at, delayMs] of delaysMs.entries()) {
        const addedMs = meter.note(at * 66 + delayMs, at * 66 + apartMs);
        assert.equal(addedMs, delayMs - Math.min(...delaysMs.slice(0, at + 1)));
      }
    }),
  );
  const meter = new LagMeter();
  meter.note(0, 0);
  assert.equal(meter.note(10_500, 10_000), 500);
  for (let ms = 20_000; ms <= 80_000; ms += 1_000) meter.note(ms + 500, ms);
  assert.equal(meter.note(90_500, 90_000), 0, 'a minute later it is the usual delay');
});

test('a picture is live for a second and two intervals, and old after five seconds', () => {
  assert.equal(freshnessOf(1_100, 66), 'live');
  assert.equal(freshnessOf(1_200, 66), 'stalled');
  assert.equal(freshnessOf(5_001, 66), 'old');
  assert.equal(freshnessOf(8_000, 4_000), 'live', 'keyframes alone, every four seconds');
  assert.equal(freshnessOf(9_500, 4_000), 'old');
  const interval = new IntervalMeter();
  for (const ms of [0, 100, 200, 2_200]) interval.note(ms);
  assert.equal(interval.intervalMs, 2_000);
});

const tileFacts = (changes: Partial<TileFacts> = {}): TileFacts => ({
  ...{ rung: 'webcodecs', reason: null, step: 'full', stream: 'sub', problem: null, report: null },
  ...{
    drawnMs: 100_000,
    sleptMs: 0,
    isCameraAway: false,
    intervalMs: 66,
    wallMs: 99_700,
    offsetMs: 0,
    ...changes,
  },
});

test('for how long a camera was away is no distance of its keyframes, and no camera that is away is live', () => {
  const keys = new KeyDistance();
  for (const ms of [1_000, 3_000]) keys.note(ms);
  assert.equal(keys.distanceMs, 2_000);
  keys.reset();
  keys.note(3_603_000);
  assert.equal(keys.distanceMs, 2_000);
  keys.note(3_663_000);
  assert.equal(keys.distanceMs, 15_000);
  const facts = tileFacts({ intervalMs: 15_000, isCameraAway: true });
  assert.equal(viewOf(facts, 105_001).freshness, 'old');
  assert.equal(viewOf({ ...facts, isCameraAway: false }, 105_001).freshness, 'live');
});

test('a picture from before the machine slept is not live, whatever clock stood still meanwhile', () => {
  const sleeps = new Sleeps();
  sleeps.note(1_000, 500_000);
  sleeps.note(1_500, 500_500);
  assert.equal(sleeps.since(1_400), 0);
  sleeps.note(2_000, 800_000);
  assert.equal(sleeps.since(1_400), 299_000);
  assert.equal(sleeps.since(2_100), 0, 'that came since');
  sleeps.note(2_500, 700_000);
  assert.equal(sleeps.since(2_100), 0, 'a clock that is set back is no sleep');
  const view = viewOf(tileFacts({ sleptMs: 299_000 }), 100_010);
  assert.deepEqual([view.freshness, view.ageMs], ['old', 299_000]);
});

test('a picture that was old when it was drawn is as old as it is, and not live for a moment', () => {
  const gone = tileFacts({ wallMs: 85_000 });
  const view = viewOf(gone, 100_010);
  assert.deepEqual([view.freshness, view.ageMs], ['old', 15_000]);
  assert.equal(viewOf({ ...gone, offsetMs: 15_000 }, 100_010).freshness, 'live', 'the clocks differ');
  assert.equal(viewOf({ ...gone, offsetMs: null }, 100_010).freshness, 'live', 'nothing is known of it');
});

test('what is said of a tile: never that it is live when it is not', () => {
  const camera = { state: 'streaming', recording: true, recordError: '', hasSub: true };
  const live = viewOf(tileFacts(), 100_010);
  assert.deepEqual([live.lagMs, badgesOf(camera, live)], [300, ['live', 'sub', 'recording']]);
  const full = { ...camera, recordError: 'the disk is full' };
  assert.deepEqual(badgesOf(full, live), ['live', 'sub', 'unrecorded'], 'a file is open, and takes nothing');
  assert.ok(saysTheSame(live, viewOf(tileFacts(), 100_400)), 'nothing is drawn anew for nothing');
  const views = fc.record({
    ageMs: fc.integer({ min: 0, max: 100_000 }),
    state: fc.constantFrom('streaming', 'reconnecting', 'standby', 'error', 'disabled'),
    rung: fc.constantFrom('webcodecs', 'mse', 'whep', 'hls', 'stills'),
    drawnMs: fc.constantFrom(0, 100_000),
  });
  fc.assert(
    fc.property(views, ({ ageMs, state, rung, drawnMs }) => {
      const view = viewOf(tileFacts({ rung, drawnMs } as Partial<TileFacts>), 100_000 + ageMs);
      const badges = badgesOf({ ...camera, state }, view);
      if (badges.includes('live')) assert.ok(drawnMs > 0 && ageMs <= 1_132);
      if (ageMs > 5_000 && drawnMs > 0) assert.equal(badges[0], 'away');
      assert.ok(badges.filter((badge) => ['live', 'stalled', 'away', 'standby'].includes(badge)).length <= 1);
    }),
  );
});

test('pages wait ever longer before they try again, and count what was taken of this socket alone', () => {
  const backoff = new Backoff(() => 1);
  assert.deepEqual(
    Array.from({ length: 7 }, () => backoff.next()),
    [250, 500, 1_000, 2_000, 4_000, 8_000, 8_000],
  );
  backoff.reset();
  assert.equal(new Backoff(() => 0).next(), 125, 'with jitter');
  const taken = new TakenCount();
  taken.begin(1);
  taken.note(0, 1, { messages: 5, bytes: 500 });
  taken.begin(2);
  taken.note(0, 1, { messages: 6, bytes: 600 });
  taken.note(0, 2, { messages: 2, bytes: 2 ** 32 });
  taken.note(1, 2, { messages: 1, bytes: 7 });
  assert.deepEqual(taken.total, { messages: 3, bytes: 7 });
  assert.equal(Buffer.from(takenMessage(taken.total)).toString('hex'), '210000000000000300000007');
});
