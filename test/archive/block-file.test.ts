import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { BlockFile, padToBlock } from '../../src/archive/write/block-file.js';
import { BLOCK_BYTES, DIRECT_FLAGS, DirectDisk, STAGE_BYTES } from '../../src/archive/write/direct-disk.js';
import { disk } from '../../src/archive/write/disk.js';
import { DiskGate } from '../../src/archive/write/disk-gate.js';
import { DiskQueue } from '../../src/archive/write/disk-queue.js';
import type { Fragment } from '../../src/archive/write/fragment-collector.js';
import { Recorder } from '../../src/archive/write/recorder.js';
import { RecordingFile } from '../../src/archive/write/recording-file.js';
import { type MonotonicMs, systemClock } from '../../src/base/clock.js';
import { createLogger } from '../../src/base/log.js';
import { Bell } from '../../src/ring/doorbell.js';
import { frameFlag } from '../../src/ring/frame-flag.js';
import { HeldFrames } from '../../src/ring/held-frames.js';
import { RingMemory } from '../../src/ring/layout.js';
import { RingWriter } from '../../src/ring/writer.js';
import { FakeClock } from '../support/fake-clock.js';
import { makeRing, stampOf } from '../support/ring.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { recorderRoot } from './opened-root.js';
import { encodeSource, SourceMovie } from './source-movie.js';

const ignore = (): void => {};

const anyDirect = (): DirectDisk => new DirectDisk({ clock: systemClock, onChange: ignore });

test('a stage ends at a block, in a free box, and nothing of what it held before is left in it', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 3 * BLOCK_BYTES }), (filledBytes) => {
      const stage = Buffer.alloc(6 * BLOCK_BYTES, 7);
      const end = padToBlock(stage, filledBytes);
      assert.equal(end % BLOCK_BYTES, 0);
      assert.ok(end >= filledBytes && end < filledBytes + BLOCK_BYTES + 8);
      assert.ok(stage.subarray(0, filledBytes).every((byte) => byte === 7));
      assert.ok(stage.subarray(end).every((byte) => byte === 7));
      if (end === filledBytes) return;
      assert.equal(stage.readUInt32BE(filledBytes), end - filledBytes);
      assert.equal(stage.toString('latin1', filledBytes + 4, filledBytes + 8), 'free');
      assert.ok(stage.subarray(filledBytes + 8, end).every((byte) => byte === 0));
    }),
  );
});

type Before = Readonly<Record<number, () => void>>;

/** Writes three blocks and an end of 5 bytes, with something happening before some of the blocks; whether all is there. */
const writeSome = async (
  t: TestContext,
  direct: DirectDisk,
  before: Before,
  onWritten: (file: BlockFile) => void = ignore,
): Promise<boolean> => {
  const path = join(tempFolder(t), 'file');
  const file = await BlockFile.create(path, direct);
  const stage = direct.take();
  const blocks = randomBytes(3 * BLOCK_BYTES);
  for (let block = 0; block < 3; block += 1) {
    before[block]?.();
    blocks.copy(stage, 0, block * BLOCK_BYTES, (block + 1) * BLOCK_BYTES);
    await file.write(stage, BLOCK_BYTES, block * BLOCK_BYTES);
    onWritten(file);
  }
  direct.giveBack(stage);
  await file.end(Buffer.from('index'), 3 * BLOCK_BYTES - 100);
  await file.sync();
  await file.close();
  const wanted = Buffer.concat([blocks.subarray(0, -100), Buffer.from('index')]);
  return wanted.equals(readFileSync(path));
};

const refusal = (code: string) => Promise.reject(Object.assign(new Error(code), { code }));

test('what is written directly is in the file, and its end is where it should be', async (t) => {
  assert.ok(await writeSome(t, anyDirect(), {}));
});

test('a disk that takes no direct writes after all gets the same bytes otherwise', async (t) => {
  const before = (): void => void t.mock.method(disk, 'writeAt', () => refusal('EINVAL'), { times: 1 });
  assert.ok(await writeSome(t, anyDirect(), { 1: before }));
});

test('a file system without direct writes is written to by its cache', async (t) => {
  const { open } = disk;
  t.mock.method(disk, 'open', (path: string, flags: string | number, mode?: number) =>
    flags === DIRECT_FLAGS ? refusal('EINVAL') : open(path, flags, mode),
  );
  assert.ok(await writeSome(t, anyDirect(), {}));
});

test('a disk that is late is written to by the cache, tried again after a while, and each change is told once', () => {
  const clock = new FakeClock();
  const told: boolean[] = [];
  const direct = new DirectDisk({ clock, onChange: (isSlow) => told.push(isSlow) });
  const writeFor = (durationMs: number): void => {
    const askedMs = direct.nowMs;
    clock.advance(durationMs);
    direct.note(askedMs);
  };
  for (let write = 0; write < 100; write += 1) writeFor(200);
  assert.ok(direct.isWanted, 'slow, but in time');
  for (let jam = 0; jam < 20; jam += 1) {
    writeFor(700);
    writeFor(5);
  }
  assert.ok(direct.isWanted, 'late now and then');
  for (const restSeconds of [15, 30, 60]) {
    const waitingSinceMs = direct.nowMs;
    writeFor(400);
    writeFor(399);
    assert.ok(direct.isWanted, 'not late for long');
    writeFor(400);
    assert.equal(direct.isWanted, false);
    clock.advance(restSeconds * 1_000 - 1);
    assert.equal(direct.isWanted, false);
    clock.advance(1);
    assert.ok(direct.isWanted, `after ${restSeconds} seconds`);
    direct.note(waitingSinceMs);
    assert.ok(direct.isWanted, 'what waited before says nothing');
  }
  assert.deepEqual(told, [true]);
  for (let write = 0; write < 61; write += 1) writeFor(1_000 / 5);
  clock.advance(50_000);
  writeFor(5);
  assert.deepEqual(told, [true, false]);
  writeFor(800);
  assert.deepEqual(told, [true, false, true]);
  clock.advance(15_000);
  assert.ok(direct.isWanted, 'a new trouble begins with a short rest');
});

test('a file goes by the cache for a while, and then past it again', async (t) => {
  const clock = new FakeClock();
  const direct = new DirectDisk({ clock, onChange: ignore });
  const pastCache: boolean[] = [];
  const late = (): void => {
    clock.advance(800);
    direct.note((direct.nowMs - 800) as MonotonicMs);
  };
  const whole = await writeSome(t, direct, { 1: late, 2: () => clock.advance(15_000) }, (file) =>
    pastCache.push(file.isDirect),
  );
  assert.ok(whole);
  if (pastCache[0]) assert.deepEqual(pastCache, [true, false, true]);
  else t.diagnostic('this file system has no direct writes');
});

test('a write that the disk takes a part of fails as on a full disk', async (t) => {
  const direct = anyDirect();
  t.mock.method(disk, 'writeAt', async () => 10);
  await assert.rejects(writeSome(t, direct, {}), { code: 'ENOSPC' });
});

/** A camera with frames of any size, recorded into a folder. */
const recordedCamera = (t: TestContext) => {
  const folder = tempFolder(t);
  const source = new SourceMovie(encodeSource(folder, { codec: 'h264', seconds: 1, framesPerGop: 5 }), 0);
  const gate = DiskGate.create(4);
  const queue = new DiskQueue({ gate, seat: 0 });
  const writer = new RingWriter({}, { bell: new Bell(), onReplaced: (ring) => recorder.moveTo(ring) });
  writer.setStreamInfo(source.info);
  const lost: number[] = [];
  const archiveDir = join(folder, 'archive');
  const options = {
    cameraId: 'door',
    root: recorderRoot(archiveDir),
    fileSeconds: 3600,
    mode: 'continuous' as const,
  };
  const recorder: Recorder = new Recorder(options, writer.ring, {
    ...{ log: createLogger(ignore), queue, direct: anyDirect(), onNews: ignore, onFile: ignore },
    onLost: (frames) => lost.push(frames),
  });
  let nowMs = 1_000_000;
  const frames: Buffer[] = [];
  const film = (lengthBytes: number, isKey: boolean): void => {
    const slice = randomBytes(lengthBytes);
    slice[0] = isKey ? 0x65 : 0x41;
    frames.push(slice);
    writer.beginNal();
    for (let at = 0; at < slice.length; at += 1_400) {
      writer.append(slice, at, Math.min(at + 1_400, slice.length));
    }
    writer.endNal();
    nowMs += 40;
    const ptsTicks = (nowMs - 1_000_000) * 90;
    const flags = isKey ? frameFlag.key : 0;
    writer.commitVideo(stampOf({ ptsTicks, wallMs: 1_700_000_000_000 + nowMs, arrivalMs: nowMs, flags }));
  };
  const files = (): string[] =>
    readdirSync(join(archiveDir, 'door')).map((name) => join(archiveDir, 'door', name));
  const pump = async (): Promise<void> => {
    recorder.pump(nowMs);
    await until('the disk is idle', () => gate.inUse === 0);
  };
  return { recorder, frames, film, files, lost, pump };
};

test('a fragment larger than a stage is written in pieces, and whole', async (t) => {
  const { recorder, frames, film, files, lost, pump } = recordedCamera(t);
  for (const lengthBytes of [STAGE_BYTES - 2_000, STAGE_BYTES, 2 * STAGE_BYTES + 1_000, 900]) {
    film(lengthBytes, true);
    await pump();
    for (let frame = 0; frame < 20; frame += 1) film(20_000, false);
    await pump();
  }
  await recorder.stop();
  assert.deepEqual(lost, []);
  const [path, ...others] = files();
  assert.deepEqual(others, []);
  const written = readFileSync(path!);
  let at = 0;
  for (const [index, frame] of frames.entries()) {
    at = written.indexOf(frame, at);
    assert.ok(at > 0, `frame ${index} is there`);
  }
  // Random bytes are no pictures: what ffprobe thinks of those is not asked.
  const asked = ['-v', 'quiet', '-show_entries', 'packet=size', '-of', 'csv=p=0', path!];
  const sizes = execFileSync('ffprobe', asked, { encoding: 'utf8' });
  const counted = sizes
    .trim()
    .split('\n')
    .map((line) => Number.parseInt(line, 10) - 4);
  assert.deepEqual(
    counted,
    frames.map(({ length }) => length),
  );
});

test('a file that is to begin otherwise while its beginning is being written stays whole', async (t) => {
  const folder = tempFolder(t);
  const { writeAt } = disk;
  const fail = (): never => assert.fail();
  const events = {
    onMade: ignore,
    onBegun: ignore,
    onLost: fail,
    onOverrun: fail,
    onFault: fail,
  };
  const file: RecordingFile = new RecordingFile(
    { root: recorderRoot(folder), folder, startWallMs: 1_700_000_000_000, init: Buffer.alloc(100, 1) },
    {
      queue: new DiskQueue({ gate: DiskGate.create(4), seat: 0 }),
      direct: anyDirect(),
      events,
    },
  );
  const replacing = async (...args: Parameters<typeof writeAt>) => {
    file.replaceInit(Buffer.alloc(107, 9));
    return await writeAt(...args);
  };
  t.mock.method(disk, 'writeAt', replacing, { times: 1 });
  const noFrames = new HeldFrames(new RingMemory(makeRing().writer.ring), 0, 0);
  const fragment = (fill: number): Fragment => ({
    ...{ head: Buffer.alloc(1_000, fill), frames: noFrames, lengthBytes: 1_000 },
    ...{ videoFrames: 1, firstArrivalMs: 0 },
    ...{ partPtsTicks: null, moofStart: 0, endDtsTicks: 0, videoMs: 1000, endWallMs: 1_700_000_001_000 },
  });
  file.append(fragment(2));
  file.flush();
  await until('it has begun', () => file.name !== '');
  file.append(fragment(3));
  await file.close();
  const written = readFileSync(join(folder, readdirSync(folder)[0]!));
  assert.deepEqual(
    [written[0], written[100], written[1_100 + 7], written.indexOf(3)],
    [1, 2, 'e'.charCodeAt(0), BLOCK_BYTES],
  );
});

test('an open recording consists of whole blocks, written past the page cache where the system can', async (t) => {
  const { recorder, film, files, pump } = recordedCamera(t);
  for (let frame = 0; frame < 50; frame += 1) {
    film(5_000, frame % 25 === 0);
    await pump();
  }
  const [path] = files();
  const flags = readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      if (readlinkSync(`/proc/self/fd/${descriptor}`) !== path) return [];
      const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1');
      return [Number.parseInt(/^flags:\s*(\d+)/m.exec(info)?.[1] ?? '0', 8)];
    } catch {
      return [];
    }
  });
  const canDirect = ((): boolean => {
    try {
      closeSync(openSync(path!, DIRECT_FLAGS ?? 'never'));
      return true;
    } catch {
      return false;
    }
  })();
  const O_DIRECT = (DIRECT_FLAGS ?? 0) & ~1;
  assert.equal(
    flags.some((value) => (value & O_DIRECT) !== 0),
    canDirect,
  );
  assert.equal(readFileSync(path!).length % BLOCK_BYTES, 0);
  await recorder.stop();
});
