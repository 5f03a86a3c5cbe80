import assert from 'node:assert/strict';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { openName, parseRecordingName } from '../../../src/archive/files/file-name.js';
import type { CutInput } from '../../../src/archive/keep/cut-recording.js';
import type { ProtectedSpan } from '../../../src/archive/keep/delete-files.js';
import { Recordings } from '../../../src/archive/list/recordings.js';
import { decodedHashes } from '../../fmp4/ffmpeg.js';
import { tempFolder } from '../../support/temp-folder.js';
import { InlineRunner } from '../inline-runner.js';
import { nobodyWrites } from '../nobody-writes.js';
import { RecordingStudio } from '../recording-studio.js';
import { encodeSource, SourceMovie } from '../source-movie.js';
import { always, type Event, event, MINUTE_MS, rememberedOf, setUpEvents } from './events-rig.js';
import { SECONDS, START_MS, TwoMinutes } from './two-minutes.js';

let filmed: TwoMinutes;

before(async () => {
  filmed = await TwoMinutes.record();
});

after(() => filmed.remove());

const setUp = (t: TestContext, events: Event[] | null, stored?: string | null) =>
  setUpEvents(t, filmed, events, stored);

test('what lies around events is kept frame by frame, over borders of files, and nothing else', async (t) => {
  // The second one begins where its pre-roll is in the file before; two are near each other.
  const rig = setUp(t, [event(8.5, 11.2), event(62, 63), event(75, 76)]);
  await rig.make().look();
  assert.deepEqual(rig.hashes(), [...filmed.seconds(3, 22), ...filmed.seconds(57, 87)]);
  assert.ok(
    rig.names().every((name) => name.includes('_to_') && name.endsWith('.mp4')),
    rig.names().join(),
  );
  assert.deepEqual(
    (await rig.gaps()).map(([fromSec, toSec, reason]) => [
      Math.round(Number(fromSec)),
      Math.round(Number(toSec)),
      reason,
    ]),
    [
      [0, 3, 'no_event'],
      [22, 57, 'no_event'],
      [87, 120, 'unknown'],
    ],
  );
  const kept = rig.names();
  await rig.make().look();
  assert.deepEqual(rig.names(), kept, 'another look, of another service, changes nothing');
});

test('an event that lasts for hours keeps all of its time; while it goes on nothing is decided', async (t) => {
  const rig = setUp(t, [event(40, null)]);
  const recording = rig.make();
  await recording.look();
  const [first] = filmed.names;
  assert.deepEqual(
    rig.names().filter((name) => name !== first),
    filmed.names.slice(1),
  );
  rig.state.events = [event(40, 50)];
  await recording.look();
  assert.deepEqual(rig.hashes(), filmed.seconds(35, 61));
});

test('an event that is told of late still has its pre-roll: nothing goes within a minute', async (t) => {
  const rig = setUp(t, []);
  rig.clock.advance(-MINUTE_MS - 2_000);
  const recording = rig.make();
  await recording.look();
  const left = rig.names();
  assert.deepEqual(left, filmed.names.slice(-left.length));
  assert.ok(left.length >= 2, left.join());
  const lastStartSec = Math.ceil((SECONDS * 1_000 - 10_000) / 1_000);
  rig.state.events = [event(lastStartSec, lastStartSec + 1)];
  rig.clock.advance(MINUTE_MS + 2_000);
  await recording.look();
  assert.deepEqual(rig.hashes(), filmed.seconds(lastStartSec - 5, SECONDS));
});

test('a clock that is set ahead makes nothing due that was just closed', async (t) => {
  const rig = setUp(t, []);
  const [first, second, ...others] = filmed.names;
  for (const name of others) rmSync(join(rig.folder, name));
  renameSync(join(rig.folder, second!), join(rig.archiveDir, second!));
  const recording = rig.make();
  await recording.look();
  assert.deepEqual(rig.names(), [], `${first} was closed a minute ago`);
  renameSync(join(rig.archiveDir, second!), join(rig.folder, second!));
  await recording.look();
  rig.clock.advance(50_000);
  await recording.look();
  assert.deepEqual(rig.names(), [second]);
  rig.clock.advance(10_000);
  await recording.look();
  assert.deepEqual(rig.names(), []);
});

test('where nobody knows what happened, all stays', async (t) => {
  const rig = setUp(t, null);
  const recording = rig.make();
  await recording.look();
  assert.deepEqual(rig.names(), filmed.names);
  rig.state.events = [];
  rig.state.sinceMs = START_MS + (SECONDS - 5) * 1_000;
  await recording.look();
  assert.deepEqual(rig.names(), filmed.names, 'the database of events was begun anew amid them');
  rig.state.sinceMs = 0;
  await rig.make().look();
  assert.deepEqual(rig.names(), filmed.names, 'what was kept then is kept');
});

test('what is known in memory alone decides nothing, then or later', async (t) => {
  const rig = setUp(t, []);
  rig.state.isLasting = false;
  await rig.make().look();
  rig.state.isLasting = true;
  await rig.make().look();
  assert.deepEqual(rig.names(), filmed.names);
});

test('what is protected stays, be it of an event or not; while nobody knows what is, nothing is decided', async (t) => {
  const rig = setUp(t, [event(8, 9)]);
  rig.state.spared = null;
  await rig.make().look();
  assert.deepEqual(rig.names(), filmed.names);
  const spanOf = (cameraId: string, fromSec: number, toSec: number): ProtectedSpan => ({
    cameraId,
    fromMs: START_MS + fromSec * 1_000,
    toMs: START_MS + toSec * 1_000,
  });
  rig.state.spared = [spanOf('door', 60, 80), spanOf('yard', 90, 110)];
  await rig.make().look();
  assert.deepEqual(rig.hashes(), [...filmed.seconds(3, 20), ...filmed.seconds(60, 81)]);
});

test('a recording whose writer died stays whole, and that one alone', async (t) => {
  const rig = setUp(t, []);
  const recording = rig.make();
  const [, second] = filmed.names;
  recording.keepLeft('door', openName(parseRecordingName(second!)!.startMs));
  await recording.look();
  assert.deepEqual(rig.names(), [second]);
  await rig.make().look();
  assert.deepEqual(rig.names(), [second], 'it is decided on');
});

test('a recording whose writer died stays whole over a restart before it is decided on', async (t) => {
  const rig = setUp(t, null);
  const [, second] = filmed.names;
  const recording = rig.make();
  recording.keepLeft('door', openName(parseRecordingName(second!)!.startMs));
  await recording.look();
  recording.stop();
  rig.state.events = [];
  await rig.make().look();
  assert.deepEqual(rig.names(), [second]);
  assert.match(rig.state.stored!, /"times":\[\d+\]/, 'it is remembered no longer');
});

test('where the clock was set back nothing goes that the time before it may have made', async (t) => {
  const rig = setUp(t, [], rememberedOf(START_MS + 3_600_000));
  // So far back that what is there lies after the moment that it shows.
  rig.clock.advance(-SECONDS * 1_000 - 2 * MINUTE_MS);
  const recording = rig.make();
  for (let look = 0; look < 40; look += 1) {
    await recording.look();
    rig.clock.advance(10_000);
  }
  assert.deepEqual(rig.names(), filmed.names);
});

test('where the clock was set back while nothing can be seen, what is there stays all the same', async (t) => {
  const rig = setUp(t, [], rememberedOf(START_MS + 3_600_000));
  rig.clock.advance(-SECONDS * 1_000 - 2 * MINUTE_MS);
  const recording = rig.make();
  rig.state.watched = 'nothing';
  await recording.look();
  rig.state.watched = always;
  for (let look = 0; look < 40; look += 1) {
    await recording.look();
    rig.clock.advance(10_000);
  }
  assert.deepEqual(rig.names(), filmed.names);
});

test('of writers that died long ago none takes the place of one that died now', async (t) => {
  const rig = setUp(t, []);
  const recording = rig.make();
  for (let ago = 1; ago <= 200; ago += 1) recording.keepLeft('door', openName(START_MS - ago * MINUTE_MS));
  const [, second] = filmed.names;
  recording.keepLeft('door', openName(parseRecordingName(second!)!.startMs));
  await recording.look();
  assert.deepEqual(rig.names(), [second]);
});

test('where a recording can not be cut for want of room, those of no event behind it go, which make it', async (t) => {
  const rig = setUp(t, [event(8, 9), event(100, 101)]);
  const run = rig.runner.run.bind(rig.runner);
  rig.runner.run = (name, input) =>
    name === 'cutRecording' && (input as CutInput).kept.length > 0
      ? Promise.reject(new Error('ENOSPC'))
      : run(name, input);
  const recording = rig.make();
  await recording.look();
  const left = rig.names();
  assert.ok(left.length >= 2 && left.length < filmed.names.length, left.join());
  rig.runner.run = run;
  await recording.look();
  assert.deepEqual(rig.hashes(), [...filmed.seconds(3, 20), ...filmed.seconds(95, 112)]);
});

test('what was recorded before a camera was recorded by events stays, and what is being written', async (t) => {
  const rig = setUp(t, [], null);
  await rig.make().look();
  assert.deepEqual(rig.names(), filmed.names);
  rig.state.stored = rememberedOf(START_MS);
  writeFileSync(join(rig.folder, openName(START_MS + 1_000)), '');
  await rig.make().look();
  assert.deepEqual(rig.names().length, filmed.names.length, 'the first recording alone is before it');
  rig.state.cameraIds = [];
  await rig.make().look();
  assert.equal(rig.state.stored, '{}');
});

test('a camera that was deleted and made anew between two looks is another one: what was recorded before stays', async (t) => {
  const rig = setUp(t, []);
  const recording = rig.make();
  const before = rig.names();
  recording.forget('door');
  await recording.look();
  assert.deepEqual(rig.names(), before);
});

test('a cut that was broken off anywhere comes to the same when it is done again', async (t) => {
  const events = [event(33, 34), event(52, 53)];
  const whole = setUp(t, events);
  await whole.make().look();
  const result = whole.names();
  assert.equal(result.length, 3);
  const rig = setUp(t, events);
  // Some of the pieces have their names, one doesn't, and the recording is there still.
  copyFileSync(join(whole.folder, result[1]!), join(rig.folder, result[1]!));
  writeFileSync(join(rig.folder, `${filmed.names[1]}.cut-2`), 'half of it');
  await rig.make().look();
  assert.deepEqual(rig.names(), result);
  for (const name of result)
    assert.ok(readFileSync(join(rig.folder, name)).equals(readFileSync(join(whole.folder, name))), name);
});

test('a recording that tells nothing of its parts stays, and holds up no other', async (t) => {
  const rig = setUp(t, [event(2, 3)]);
  writeFileSync(join(rig.folder, filmed.names[0]!), 'no boxes');
  const recording = rig.make();
  await recording.look();
  assert.deepEqual(rig.names(), [filmed.names[0]]);
  assert.equal(statSync(join(rig.folder, filmed.names[0]!)).size, 8);
  assert.deepEqual(recording.counts, { cut: 0, deleted: filmed.names.length - 1, unreadable: 1 });
  assert.equal(rig.lines.length, 1);
});

test('a disk that refuses holds up no other camera, and in the end nothing', async (t) => {
  const rig = setUp(t, []);
  const { door } = JSON.parse(rig.state.stored!);
  rig.state.stored = JSON.stringify({ broken: door, door });
  rig.state.cameraIds = ['broken', 'door'];
  mkdirSync(join(rig.archiveDir, 'broken'));
  for (const name of filmed.names) copyFileSync(join(rig.folder, name), join(rig.archiveDir, 'broken', name));
  const run = rig.runner.run.bind(rig.runner);
  rig.runner.run = (name, input) =>
    name === 'cutRecording' &&
    (input as CutInput).cameraId === 'broken' &&
    (input as CutInput).fileName === filmed.names[0]
      ? Promise.reject(new Error('EIO'))
      : run(name, input);
  const recording = rig.make();
  await recording.look();
  assert.deepEqual(rig.names(), []);
  for (let look = 0; look < 61; look += 1) await recording.look();
  assert.deepEqual(readdirSync(join(rig.archiveDir, 'broken')), [filmed.names[0]]);
  assert.equal(rig.lines.length, 1, 'the log tells once');
});

test('recording that is to go by events, or no more, goes on without losing a frame: in another file', async (t) => {
  const folder = tempFolder(t);
  const path = encodeSource(folder, { codec: 'h264', seconds: 15, framesPerGop: 25 });
  const studio = new RecordingStudio(folder, 3_600);
  const source = new SourceMovie(path, START_MS);
  for (const mode of ['continuous', 'events', 'continuous'] as const) {
    studio.recorders.setRecorded('door', true, mode);
    await studio.play(source, 5_000);
  }
  await studio.finish();
  assert.equal(studio.files.length, 3);
  assert.equal(studio.lostFrames, 0);
  assert.deepEqual(
    studio.paths.flatMap((file) => decodedHashes(file, 'v')),
    decodedHashes(path, 'v'),
  );
  const list = await new Recordings(
    { archiveDir: folder },
    { runner: new InlineRunner(), live: nobodyWrites },
  ).list('door');
  assert.deepEqual(
    list.map(({ startReason }) => startReason),
    ['start', 'no_event', 'rollover'],
  );
});
