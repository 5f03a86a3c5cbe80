import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { smallDisk } from '../archive/keep/small-disk.js';
import { watchLateness } from '../support/lateness.js';
import { recordsOf } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { type ReceivedFrame, WebSocketViewer } from '../support/websocket-viewer.js';
import { encodeVideo, RecordingService } from './recording-service.js';

const STALL_MS = Number(process.env['STALL_MS'] ?? 30_000);
const FRAME_US = 1_000_000 / 15;
/** The viewers of a process that is held up for longer answer nothing meanwhile, and may count as slow. */
const HELD_UP_MS = 500;
/** By then a viewer that was slow has gone on: with a keyframe, of which there is one in 4 s. */
const GOES_ON_WITHIN_MS = 6_000;
const IDR_SLICE = Buffer.of(0, 0, 1, 0x65);

const decodes = (path: string): void => {
  const { status, stderr } = spawnSync('ffmpeg', ['-v', 'error', '-xerror', '-i', path, '-f', 'null', '-'], {
    encoding: 'utf8',
  });
  assert.deepEqual([status, stderr], [0, ''], path);
};

const watch = (recording: RecordingService, id: string): WebSocketViewer =>
  new WebSocketViewer(`${recording.service.url.replace(/^http/, 'ws')}/stream/ws/${id}`);

type HoldUp = { readonly fromMs: number; readonly toMs: number };

/** When this process was held up. */
const watchHoldUps = (t: TestContext): readonly HoldUp[] => {
  const holdUps: HoldUp[] = [];
  const latenessMs = watchLateness(t);
  const timer = setInterval(() => {
    const [toMs, lateMs] = [performance.now(), latenessMs()];
    if (lateMs > HELD_UP_MS) holdUps.push({ fromMs: toMs - lateMs, toMs });
  }, 20);
  t.after(() => clearInterval(timer));
  return holdUps;
};

/**
 * Every frame came, none twice: the source's frames are equally far apart. Each time that this process was held up, its
 * viewers may go on once with a later keyframe, by that much later and until there is one.
 */
const missedNothing = (viewer: WebSocketViewer, holdUps: readonly HoldUp[]): void => {
  assert.deepEqual(viewer.faults, []);
  const excuses = [...holdUps];
  const isExcused = ({ bytes, receivedMs }: ReceivedFrame, missedMs: number): boolean => {
    const at = excuses.findIndex(
      ({ fromMs, toMs }) =>
        fromMs <= receivedMs &&
        receivedMs < toMs + GOES_ON_WITHIN_MS &&
        missedMs <= toMs - fromMs + GOES_ON_WITHIN_MS,
    );
    if (at === -1 || !bytes.includes(IDR_SLICE)) return false;
    excuses.splice(0, at + 1);
    return true;
  };
  for (const [index, frame] of viewer.frames.entries()) {
    const before = viewer.frames[index - 1];
    if (before === undefined) continue;
    const stepUs = frame.timestampUs - before.timestampUs;
    const steps = Math.max(1, Math.round(stepUs / FRAME_US));
    const most = steps > 1 && isExcused(frame, stepUs / 1_000) ? steps : 1;
    assert.ok(
      Math.abs(stepUs - most * FRAME_US) < 2_000,
      `frame ${index} comes ${stepUs} us after the one before`,
    );
  }
};

const metric = async (recording: RecordingService, name: string): Promise<number> => {
  const { text } = await recording.service.call('GET', '/metrics');
  return Number(new RegExp(`^${name}\\{camera_id="door"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
};

test('a full disk pauses the recording and nothing else, until there is room again', async (t) => {
  const disk = await smallDisk(t, 64);
  if (disk === null) return;
  const folder = tempFolder(t);
  const ballast = join(disk, 'ballast');
  writeFileSync(ballast, Buffer.alloc(56 << 20));
  const video = encodeVideo(folder, 1, 10, 8_000);
  const recording = await RecordingService.start(
    t,
    { door: video },
    { DATA_DIR: folder, ARCHIVE_DIR: disk, STORAGE_MIN_FREE_PERCENT: '0' },
  );
  await recording.untilRecording();
  const holdUps = watchHoldUps(t);
  const viewer = watch(recording, 'door');
  t.after(() => viewer.webSocket.terminate());
  await until('the disk is full', async () => (await recording.readiness()).status === 503, {
    deadlineMs: 60_000,
    describe: () => recording.service.out().slice(-2000),
  });
  assert.equal((await recording.readiness()).archive, 'the disk is full');
  await until('the recording is paused', async () => !(await recording.isRecording('door')), {
    deadlineMs: 60_000,
  });
  const { body: camera } = await recording.call('GET', '/api/cameras/door');
  assert.equal(camera.record_error, 'the disk is full');
  assert.equal((await recording.call('GET', '/api/stats')).body.storage_fault, 'the disk is full');
  await until('an event tells it', async () => {
    const { body } = await recording.call('GET', '/api/events?type=storage');
    return body.length === 1 && body[0].to === null && body[0].detail === 'the disk is full';
  });
  const framesWhenFull = viewer.frames.length;
  await viewer.untilFrames(framesWhenFull + 45);
  rmSync(ballast);
  await until('it is recorded again', () => recording.isRecording('door'), { deadlineMs: 60_000 });
  await until('the service is ready', async () => (await recording.readiness()).status === 200, {
    deadlineMs: 60_000,
  });
  await viewer.untilFrames(viewer.frames.length + 30);
  missedNothing(viewer, holdUps);
  assert.equal(await recording.service.stop(), 0);
  const files = recording.files('door');
  assert.ok(files.length >= 2, files.join());
  for (const name of files) decodes(recording.pathOf('door', name));
});

test('where space is short the oldest recordings go, and recording goes on', async (t) => {
  const disk = await smallDisk(t, 64);
  if (disk === null) return;
  const folder = tempFolder(t);
  writeFileSync(join(disk, 'ballast'), Buffer.alloc(44 << 20));
  const video = encodeVideo(folder, 1, 10, 8_000);
  const recording = await RecordingService.start(
    t,
    { door: video },
    { DATA_DIR: folder, ARCHIVE_DIR: disk, RECORD_FILE_SECONDS: '2', STORAGE_MIN_FREE_PERCENT: '20' },
  );
  await recording.untilRecording();
  const holdUps = watchHoldUps(t);
  const viewer = watch(recording, 'door');
  t.after(() => viewer.webSocket.terminate());
  await until('the first file is closed', () => recording.files('door').length >= 2, { deadlineMs: 60_000 });
  const [first] = recording.files('door');
  await until('the oldest is deleted', () => !recording.files('door').includes(first!), {
    deadlineMs: 60_000,
    describe: () => recording.files('door').join(),
  });
  await until('a newer one is written', () => recording.files('door').at(-1)?.includes('ongoing') === true);
  missedNothing(viewer, holdUps);
  assert.equal(await recording.service.stop(), 0);
  for (const name of recording.files('door')) decodes(recording.pathOf('door', name));
});

test('a disk that takes nothing for half a minute leaves live pictures, logins and other cameras alone', async (t) => {
  const folder = tempFolder(t);
  const shim = join(folder, 'stalled-disk.so');
  const source = join(import.meta.dirname, '../../../test/support/stalled-disk.c');
  const { status } = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', shim, source, '-ldl']);
  if (status !== 0) return t.skip('a stand-in for a stalled disk takes a C compiler');
  const flag = join(folder, 'stalled');
  const archive = join(folder, 'archive');
  const videos = { door: encodeVideo(folder, 1, 10), yard: encodeVideo(folder, 4, 12) };
  const recording = await RecordingService.start(t, videos, {
    ...{ DATA_DIR: folder, ARCHIVE_DIR: archive, RECORD_FILE_SECONDS: '10' },
    ...{ LD_PRELOAD: shim, STALL_FLAG: flag, STALL_DIR: archive },
  });
  await recording.untilRecording();
  const holdUps = watchHoldUps(t);
  const viewers = Object.keys(videos).map((id) => watch(recording, id));
  t.after(() => viewers.map(({ webSocket }) => webSocket.terminate()));
  await Promise.all(viewers.map((viewer) => viewer.untilFrames(30)));
  const tryLogin = async (): Promise<number> => {
    const startMs = performance.now();
    const { status: refused } = await recording.service.call('POST', '/api/login', {
      body: { username: `nobody-${Math.round(startMs)}`, password: 'wrong password' },
    });
    assert.ok(refused === 401 || refused === 429, String(refused));
    return performance.now() - startMs;
  };
  const usualMs = Math.max(await tryLogin(), await tryLogin());
  writeFileSync(flag, '');
  const stalledMs = performance.now();
  await until('readiness says so', async () => (await recording.readiness()).status === 503, {
    deadlineMs: 60_000,
  });
  while (performance.now() - stalledMs < STALL_MS) {
    // Password hashes need a thread of the pool that file operations use, too.
    const tookMs = await tryLogin();
    assert.ok(
      tookMs < STALL_MS / 3 + 3 * usualMs,
      `a login waits for the disk: ${tookMs} ms, ${usualMs} before`,
    );
    // A camera that comes back is resolved, connected and watched meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 3_000));
  }
  for (const viewer of viewers) missedNothing(viewer, holdUps);
  rmSync(flag);
  await until(
    'frames that were lost are counted',
    async () => (await metric(recording, 'svc_unrecorded_frames_total')) > 0,
    {
      deadlineMs: 60_000,
    },
  );
  await recording.untilRecording();
  await until('the service is ready', async () => (await recording.readiness()).status === 200, {
    deadlineMs: 60_000,
  });
  await Promise.all(viewers.map((viewer) => viewer.untilFrames(viewer.frames.length + 30)));
  for (const viewer of viewers) missedNothing(viewer, holdUps);
  const { body } = await recording.call('GET', '/api/cameras/door/recordings');
  assert.ok(
    body.gaps.some(({ reason }: { reason: string }) => reason === 'disk'),
    JSON.stringify(body),
  );
  assert.equal(await recording.service.stop(), 0);
  for (const id of recording.ids) {
    for (const name of recording.files(id)) decodes(recording.pathOf(id, name));
  }
  assert.ok(recordsOf(recording.service.out()).some(({ msg }) => String(msg).includes('the disk')));
});
