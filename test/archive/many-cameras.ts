import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { DIRECT_FLAGS } from '../../src/archive/write/direct-disk.js';
import { disk } from '../../src/archive/write/disk.js';
import { DiskGate } from '../../src/archive/write/disk-gate.js';
import { Recorders } from '../../src/archive/write/recorders.js';
import { Bell } from '../../src/ring/doorbell.js';
import { RingWriter } from '../../src/ring/writer.js';
import { FakeClock } from '../support/fake-clock.js';
import { KEY, stampOf } from '../support/ring.js';
import { tempFolder } from '../support/temp-folder.js';
import { logLines } from './log-lines.js';
import { openedRoot } from './opened-root.js';
import { encodeSource, SourceMovie } from './source-movie.js';

const FRAME_MS = 40;
const FRAMES_A_GOP = 25;
const FRAME_BYTES = 10_000;
const STEP_MS = 10;

/** A disk that needs so long for each write past the page cache, one at a time, and next to nothing for the others. */
const slowDisk = (t: TestContext, clock: FakeClock) => {
  const state = { directWriteMs: 0, directWrites: 0 };
  const { open } = disk;
  const direct = new Set<number>();
  let underWay = 0;
  t.mock.method(disk, 'open', async (path: string, flags: string | number, mode?: number) => {
    // Any file system will do: that it takes direct writes is pretended.
    const descriptor = await open(path, flags === DIRECT_FLAGS ? 'r+' : flags, mode);
    if (flags === DIRECT_FLAGS) direct.add(descriptor);
    return descriptor;
  });
  t.mock.method(disk, 'writeAt', (descriptor: number, _bytes: Buffer, lengthBytes: number) => {
    if (!direct.has(descriptor)) return Promise.resolve(lengthBytes);
    state.directWrites += 1;
    if (state.directWriteMs === 0) return Promise.resolve(lengthBytes);
    underWay += 1;
    return new Promise<number>((resolve) => {
      clock.after(state.directWriteMs, () => {
        underWay -= 1;
        resolve(lengthBytes);
      });
    });
  });
  return { state, underWay: () => underWay };
};

/** Many cameras of one thread, filmed and recorded in the test's own time, on a disk as slow as it is told to be. */
export const manyCameras = (t: TestContext, cameras: number, fileSeconds = 3600) => {
  const clock = new FakeClock();
  const { state, underWay } = slowDisk(t, clock);
  const folder = tempFolder(t);
  const { info } = new SourceMovie(encodeSource(folder, { codec: 'h264', seconds: 1, framesPerGop: 5 }), 0);
  const gate = DiskGate.create(1);
  const archiveDir = join(folder, 'archive');
  const { memory: root } = openedRoot(archiveDir);
  const { log, lines } = logLines();
  /** When each camera's files were made and closed. */
  const [madeMs, closedMs] = [new Map<string, number[]>(), new Map<string, number[]>()];
  let lostFrames = 0;
  const recorders = new Recorders(
    { archiveDir, root, fileSeconds, gate: gate.memory, seat: 0 },
    {
      ...{ clock, log, onNews: () => {} },
      onFile: (cameraId, _fileName, state) => {
        const at = state === 'made' ? madeMs : closedMs;
        at.set(cameraId, [...(at.get(cameraId) ?? []), clock.monotonicMs()]);
      },
      onLost: (_cameraId, frames) => {
        lostFrames += frames;
      },
    },
  );
  const writers = Array.from({ length: cameras }, (_, index) => {
    const cameraId = `camera-${index}`;
    const onReplaced = (ring: SharedArrayBuffer): void => recorders.setRing(cameraId, ring);
    const writer = new RingWriter({}, { bell: new Bell(), onReplaced });
    writer.setStreamInfo(info);
    recorders.setRing(cameraId, writer.ring);
    recorders.setRecorded(cameraId, true);
    return writer;
  });
  const frame = Buffer.alloc(FRAME_BYTES, 0x5a);
  /** Each camera begins its GOPs at another time. */
  const film = (writer: RingWriter, index: number, number: number): void => {
    const isKey = (number + index) % FRAMES_A_GOP === 0;
    frame[0] = isKey ? 0x65 : 0x41;
    writer.beginNal();
    writer.append(frame, 0, frame.length);
    writer.endNal();
    const ptsTicks = number * FRAME_MS * 90;
    const [wallMs, arrivalMs, flags] = [clock.wallMs(), clock.monotonicMs(), isKey ? KEY : 0];
    writer.commitVideo(stampOf({ ptsTicks, wallMs, arrivalMs, flags }));
  };
  const settle = async (): Promise<void> => {
    do {
      await new Promise((resolve) => setImmediate(resolve));
    } while (gate.inUse !== underWay());
  };
  let number = 0;
  const play = async (seconds: number): Promise<void> => {
    for (let step = 0; step < (seconds * 1000) / STEP_MS; step += 1) {
      clock.advance(STEP_MS);
      await settle();
      if (step % (FRAME_MS / STEP_MS) === 0) {
        for (const [index, writer] of writers.entries()) film(writer, index, number);
        number += 1;
      }
      recorders.pump(clock.monotonicMs());
      await settle();
    }
  };
  const finish = async (): Promise<void> => {
    state.directWriteMs = 0;
    const stopping = recorders.stop();
    clock.advance(1_000);
    await stopping;
  };
  /** Nothing is filmed. */
  const rest = (seconds: number): void => clock.advance(seconds * 1000);
  return { state, play, rest, finish, lines, madeMs, closedMs, lost: () => lostFrames };
};
