import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bench } from './bench.js';
import { measure } from './ingest.js';
import { startCameras } from './ingest-cameras.js';
import { median, quantile } from './table.js';

const defaults = {
  cameras: 100,
  /** Of one window; there are as many without recording as with it, and one more. */
  seconds: 10,
  windows: 9,
  'warm-up': 25,
  pattern: 'burst',
  kbps: 4_000,
  fps: 25,
  gop: 50,
  /** A folder on the disk that is to be written; empty: the system's for temporary files. */
  folder: '',
};

/**
 * Memory that a virtual machine has never used costs several times what used memory does when the page cache takes
 * it; after a day of recording all of it is used. So as much is written, and given back, as the bare writes will take.
 */
const usePageCache = (folder: string, lengthBytes: number): void => {
  const path = join(folder, 'page-cache');
  const file = openSync(path, 'w');
  const piece = Buffer.alloc(8 << 20, 1);
  for (let written = 0; written < lengthBytes; written += piece.length) writeSync(file, piece);
  closeSync(file);
  rmSync(path);
};

/** The same cameras with and without recording, in turns within one run: what recording adds to ingest. */
export const recording: Bench<typeof defaults> = {
  name: 'recording',
  describe: 'N cameras recorded and not, in turns: CPU that recording adds a camera, frames lost',
  options: defaults,
  run: async (options) => {
    const archiveDir = mkdtempSync(join(options.folder || tmpdir(), 'framering-bench-'));
    usePageCache(archiveDir, options.cameras * options.kbps * 125 * options.seconds);
    const cameras = await startCameras({
      count: options.cameras,
      isPaced: options.pattern === 'paced',
      kbps: options.kbps,
      framesPerSecond: options.fps,
      framesPerGop: options.gop,
    });
    try {
      const report = await measure({
        urls: cameras.urls,
        transport: 'tcp',
        camerasPerWorker: 'auto',
        watched: 0,
        warmUpSeconds: options['warm-up'],
        seconds: options.seconds,
        archiveDir,
        recordedWindows: options.windows,
        bytesASecond: options.kbps * 125,
      });
      const percent = (window: { cpuMs: number; wallMs: number }): number =>
        (window.cpuMs / window.wallMs / options.cameras) * 100;
      const { recorded } = report;
      const added = recorded.addedCores
        .map((cores) => (cores / options.cameras) * 100)
        .toSorted((a, b) => a - b);
      return {
        columns: [
          'cameras',
          'pattern',
          '% without',
          '% recorded',
          '% recording adds',
          'least',
          'most',
          '% bare writes',
          'frames lost',
        ],
        rows: [
          [
            options.cameras,
            options.pattern,
            percent(report),
            percent(recorded),
            median(added),
            quantile(added, 0),
            quantile(added, 1),
            percent(recorded.bare),
            recorded.lostFrames,
          ],
        ],
        notes: [
          'recording adds: each window beside the two around it, the median; least and most of a window',
          'bare writes: the same bytes written to the same disk by nothing but the system calls; what is left is ours',
          '% of a core a camera, all threads and kernel time of the process; writeback by the kernel not',
        ],
      };
    } finally {
      await cameras.stop();
      rmSync(archiveDir, { recursive: true, force: true });
    }
  },
};
