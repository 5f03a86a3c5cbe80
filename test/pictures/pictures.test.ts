import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../../src/base/log.js';
import { Pictures } from '../../src/pictures/pictures.js';
import { feedsOf, HlsCamera, isSettled } from '../live/hls/hls-camera.js';
import { splitNals } from '../support/access-units.js';
import { joinAnnexB } from '../support/annex-b.js';
import { FakeClock } from '../support/fake-clock.js';
import { fixtures } from '../support/fixtures.js';
import { until } from '../support/until.js';
import { FakeKeyframes } from './fake-keyframes.js';
import { HeldDecoder } from './held-decoder.js';

/** Two cameras with a keyframe a second. */
const setUp = ({ atOnce = 2 } = {}) => {
  const clock = new FakeClock();
  const door = new HlsCamera(clock, fixtures.h264High());
  const cameras = new Map([
    ['door', door],
    ['yard', new HlsCamera(clock, fixtures.h265Main())],
  ]);
  const decoder = new HeldDecoder();
  const records: string[] = [];
  const log = createLogger((level, message, fields) =>
    records.push(`${level} ${message} ${fields['fault']}`),
  );
  const archive = new FakeKeyframes();
  const pictures = new Pictures({ atOnce }, { clock, log, feeds: feedsOf(cameras), archive, decoder });
  const ask = (id = 'door', width: number | null = null, signal = new AbortController().signal) =>
    pictures.live(id, width, signal);
  const running = (count: number) => until(`${count} are decoded`, () => decoder.running === count);
  return { clock, cameras, door, archive, decoder, records, pictures, ask, running };
};

test('all who ask at the same time, and for a second longer, get one decoding of the newest keyframe', async () => {
  const { clock, door, decoder, pictures, ask, running } = setUp();
  door.play(1.5);
  const asked = Array.from({ length: 200 }, () => ask());
  await running(1);
  decoder.end({ jpeg: Buffer.from('the picture') });
  const all = await Promise.all(asked);
  assert.equal(new Set(all).size, 1);
  assert.equal(all[0]!.jpeg.toString(), 'the picture');
  assert.equal(await ask(), all[0]);
  const { codec, maxWidth, annexB } = decoder.jobs[0]!;
  assert.deepEqual([codec, maxWidth], ['h264', null]);
  const key = door.sent.findLast(({ isKey }) => isKey)!;
  const nals = [...fixtures.h264High().parameterSets, ...splitNals(key.bytes)];
  assert.ok(joinAnnexB(nals).equals(annexB));
  const ageMs = clock.wallMs() - all[0]!.takenMs;
  assert.ok(ageMs >= 400 && ageMs <= 600, `it was taken ${ageMs} ms ago`);
  assert.equal(pictures.figures.decoded, 1);
  assert.equal(door.listeners.size, 0);
  assert.equal(clock.pendingTimers, 0);
});

test('a picture is made anew when there is another keyframe, at most once a second', async () => {
  const { door, decoder, ask, running } = setUp();
  door.play(0.5);
  const first = ask();
  await running(1);
  decoder.end();
  const { etag } = await first;
  door.play(0.8);
  assert.equal((await ask()).etag, etag, 'the second is not over');
  door.play(0.3);
  const second = ask();
  await running(1);
  decoder.end();
  assert.notEqual((await second).etag, etag);
  assert.equal(decoder.jobs.length, 2);
});

test('the same keyframe is decoded once, however long it stays the newest', async () => {
  const { clock, door, decoder, ask, running } = setUp();
  door.play(0.5);
  const first = ask();
  await running(1);
  decoder.end();
  clock.advance(5_000);
  assert.equal(await ask(), await first);
  assert.equal(decoder.jobs.length, 1);
});

test('each width is a picture of its own, and each camera too', async () => {
  const { door, cameras, decoder, ask } = setUp({ atOnce: 3 });
  door.play(0.5);
  cameras.get('yard')!.play(0.5);
  const asked = [ask('door', 160), ask('door', 320), ask('yard', 160)];
  await until('all are decoded', () => decoder.running === 3);
  for (const [index] of asked.entries()) decoder.end({ jpeg: Buffer.from(String(index)) });
  const texts = (await Promise.all(asked)).map(({ jpeg }) => jpeg.toString());
  assert.deepEqual(texts, ['0', '1', '2']);
  assert.deepEqual(
    decoder.jobs.map(({ codec, maxWidth }) => `${codec} ${maxWidth}`),
    ['h264 160', 'h264 320', 'h265 160'],
  );
});

test('what a camera sent before it fell silent is no live picture', async () => {
  const { clock, door, decoder, ask, running } = setUp();
  door.play(0.5);
  clock.advance(10_500);
  const asked = ask();
  assert.equal(await isSettled(asked), false);
  assert.equal(decoder.jobs.length, 0);
  door.away(0);
  door.play(0.5);
  await running(1);
  decoder.end();
  assert.ok((await asked).takenMs > clock.wallMs() - 1_000);
});

test('a camera that has no picture yet is waited for, for 10 s', async () => {
  const { clock, door, decoder, ask, running } = setUp();
  const asked = ask();
  const late = ask('yard');
  assert.equal(await isSettled(asked), false);
  assert.equal(door.listeners.size, 1, 'waiting is following');
  clock.advance(4_000);
  door.play(0.2);
  await running(1);
  decoder.end();
  await asked;
  clock.advance(6_000);
  await assert.rejects(late, { code: 'no_picture' });
  assert.equal(door.listeners.size, 0);
  await assert.rejects(ask('nowhere'), { code: 'not_found' });
  const waiting = ask('yard');
  door.remove();
  assert.equal(await isSettled(waiting), false);
  assert.equal(clock.pendingTimers, 2);
});

test('whoever leaves stops waiting; what nobody wants any more gives its turn up', async () => {
  const { clock, door, decoder, pictures, ask, running } = setUp({ atOnce: 1 });
  const gone = new Error('the client left');
  const [one, other, last] = [new AbortController(), new AbortController(), new AbortController()];
  const unseen = ask('door', null, one.signal);
  one.abort(gone);
  await assert.rejects(unseen, gone);
  assert.deepEqual([door.listeners.size, clock.pendingTimers], [0, 0]);
  door.play(0.5);
  const held = ask('door', 16);
  await running(1);
  const both = [ask('door', 32, last.signal), ask('door', 32, other.signal)];
  await until('it waits for its turn', () => pictures.figures.waiting === 1);
  other.abort(gone);
  await assert.rejects(both[1]!, gone);
  assert.equal(pictures.figures.waiting, 1, 'one still wants it');
  last.abort(gone);
  await assert.rejects(both[0]!, gone);
  assert.equal(pictures.figures.waiting, 0);
  const again = ask('door', 32);
  decoder.end();
  await held;
  await running(1);
  decoder.end();
  await again;
  assert.equal(decoder.jobs.length, 2);
});

test('a bounded number waits: the next is told when to come again', async () => {
  const { door, decoder, pictures, ask } = setUp({ atOnce: 1 });
  door.play(0.5);
  const asked = Array.from({ length: 17 }, (_, index) => ask('door', 16 + index));
  await until('all but one wait', () => pictures.figures.waiting === 16);
  await assert.rejects(ask('door', 999), { code: 'pictures_busy', details: { retryAfterSec: 2 } });
  for (const one of asked) {
    await until('it is decoded', () => decoder.running === 1);
    decoder.end();
    await one;
  }
});

test('what ffmpeg can make nothing of is told, logged once, and tried again a second later', async () => {
  const { clock, door, decoder, records, pictures, ask, running } = setUp();
  door.play(0.5);
  const outcomes = [
    ['undecodable', 'picture_undecodable'],
    ['too_slow', 'picture_undecodable'],
    ['missing', 'ffmpeg_missing'],
    ['unstartable', 'pictures_busy'],
  ] as const;
  for (const [fault, code] of outcomes) {
    const asked = ask();
    await running(1);
    decoder.end({ fault, detail: 'what ffmpeg said' });
    await assert.rejects(asked, (thrown: { code: string; message: string }) => {
      assert.doesNotMatch(thrown.message, /said/);
      return thrown.code === code;
    });
    await assert.rejects(ask(), { code });
    clock.advance(1_001);
  }
  assert.deepEqual(records, ['warn a picture could not be decoded undecodable']);
  const asked = ask();
  await running(1);
  decoder.end();
  await asked;
  assert.deepEqual(pictures.figures, {
    decoded: 1,
    failed: { undecodable: 1, too_slow: 1, missing: 1, unstartable: 1 },
    waiting: 0,
  });
});

test('pictures are kept in bounded memory, and none of a camera that is deleted', async () => {
  const { door, decoder, pictures, ask, running } = setUp();
  door.play(0.5);
  const made = async (width: number) => {
    const asked = ask('door', width);
    await running(1);
    decoder.end({ jpeg: Buffer.alloc(10 << 20) });
    await asked;
  };
  for (const width of [100, 200, 300, 400]) await made(width);
  await ask('door', 400);
  assert.equal(decoder.jobs.length, 4, 'the newest is there');
  await made(100);
  pictures.forget('door');
  await made(400);
});

const DAY_MS = 86_400_000;

test('the recorded keyframe of a moment is decoded once, and looked for again a minute later', async () => {
  const { clock, archive, decoder, pictures, running } = setUp();
  const atMs = clock.wallMs() - DAY_MS;
  const ask = () => pictures.archived('door', atMs, 64, new AbortController().signal);
  const asked = Array.from({ length: 20 }, ask);
  await running(1);
  decoder.end();
  const all = await Promise.all(asked);
  assert.equal(new Set(all.map(({ jpeg }) => jpeg)).size, 1);
  assert.deepEqual([all[0]!.takenMs, all[0]!.isSettled], [atMs - 400, true]);
  const { codec, maxWidth, annexB } = decoder.jobs[0]!;
  assert.deepEqual([codec, maxWidth], ['h264', 64]);
  const { parameterSets, frames } = fixtures.h264High();
  const nals = splitNals(frames[0]!.bytes);
  assert.ok(joinAnnexB([...parameterSets, ...nals]).equals(annexB));
  assert.deepEqual(archive.asked, [`door ${atMs}`]);
  clock.advance(59_000);
  await ask();
  assert.equal(archive.asked.length, 1);
  clock.advance(2_000);
  assert.equal((await ask()).jpeg, all[0]!.jpeg);
  assert.deepEqual([archive.asked.length, decoder.jobs.length], [2, 1]);
  clock.advance(61_000);
  archive.isDeleted = true;
  await assert.rejects(ask(), { code: 'not_found' });
});

test('a moment that recordings may yet come to is looked for each second', async () => {
  const { clock, archive, decoder, pictures, running } = setUp();
  const ask = () => pictures.archived('door', clock.wallMs() - 1_000, null, new AbortController().signal);
  const asked = ask();
  await running(1);
  decoder.end();
  assert.equal((await asked).isSettled, false);
  clock.advance(1_001);
  const again = ask();
  await running(1);
  decoder.end();
  await again;
  assert.equal(archive.asked.length, 2);
});

test('a damaged keyframe of a recording is told of without ffmpeg', async () => {
  const { archive, decoder, pictures } = setUp();
  archive.isDamaged = true;
  const asked = pictures.archived('door', 0, null, new AbortController().signal);
  await assert.rejects(asked, { code: 'picture_undecodable' });
  assert.deepEqual([decoder.jobs.length, archive.open], [0, 0]);
});
