import { closeSync, openSync, rmSync, writevSync } from 'node:fs';
import { join } from 'node:path';
import { threadCpuSeconds } from '../src/base/thread-stats.js';

const FRAME_BYTES = 20_000;
const WRITE_EVERY_MS = 750;
/** What a ring holds of a camera, so that the bytes are as cold as a recorder finds them. */
const RING_SECONDS = 3;

/**
 * What the system itself takes for the writing: the same bytes into as many files, in writes of as many pieces, and
 * nothing else. CPU milliseconds of this thread.
 */
export const bareWrites = async (job: {
  readonly folder: string;
  readonly files: number;
  readonly bytesASecond: number;
  readonly seconds: number;
}): Promise<{ readonly cpuMs: number; readonly wallMs: number }> => {
  const { files, bytesASecond, seconds } = job;
  const rings = Array.from({ length: files }, () =>
    Buffer.from(new SharedArrayBuffer(bytesASecond * RING_SECONDS)).fill(1),
  );
  const paths = rings.map((_, index) => join(job.folder, `bare-${index}`));
  const descriptors = paths.map((path) => openSync(path, 'w'));
  const frames = Math.round((bytesASecond * WRITE_EVERY_MS) / 1000 / FRAME_BYTES);
  const startMs = performance.now();
  let cpuSeconds = 0;
  let turns = 0;
  while (performance.now() - startMs < seconds * 1000) {
    const before = threadCpuSeconds();
    for (const [index, ring] of rings.entries()) {
      const first = (turns * frames * FRAME_BYTES) % (ring.length - frames * FRAME_BYTES);
      const views = Array.from({ length: frames }, (_, frame) =>
        ring.subarray(first + frame * FRAME_BYTES, first + (frame + 1) * FRAME_BYTES),
      );
      writevSync(descriptors[index]!, views, turns * frames * FRAME_BYTES);
    }
    cpuSeconds += threadCpuSeconds() - before;
    turns += 1;
    await new Promise((resolve) => setTimeout(resolve, startMs + turns * WRITE_EVERY_MS - performance.now()));
  }
  const wallMs = performance.now() - startMs;
  for (const descriptor of descriptors) closeSync(descriptor);
  for (const path of paths) rmSync(path);
  return { cpuMs: cpuSeconds * 1000, wallMs };
};
