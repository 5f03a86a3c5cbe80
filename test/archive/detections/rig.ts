import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { DetectionKeeper } from '../../../src/archive/detections/detection-keeper.js';
import type { KeptDetection } from '../../../src/archive/detections/detection-record.js';
import { type ReadDetectionsInput, readDetections } from '../../../src/archive/detections/read-detections.js';
import { openName } from '../../../src/archive/files/file-name.js';
import { FileProgress } from '../../../src/archive/files/file-progress.js';
import { sidecarName } from '../../../src/archive/files/sidecar-name.js';
import type { JobRunner } from '../../../src/archive/jobs/jobs.js';
import { FakeClock } from '../../support/fake-clock.js';
import { tempFolder } from '../../support/temp-folder.js';
import { InlineRunner } from '../inline-runner.js';
import { logLines } from '../log-lines.js';

export const CAMERA_ID = 'gate';
export const START_MS = Date.UTC(2026, 10, 21, 8, 30, 0, 250);

/** Something at a moment, told apart by its label. */
export const seen = (wallMs: number, label = 'person'): KeptDetection => ({
  ...{ wallMs, source: 'model' },
  objects: [{ label, score: 0.5, box: [0.1, 0.2, 0.3, 0.4], zone: '' }],
});

export const nothing = (wallMs: number): KeptDetection => ({ wallMs, source: 'model', objects: [] });

/** All that a sidecar has, in the order of time. */
export const readAll = (
  folder: string,
  names: readonly string[],
  more: Partial<ReadDetectionsInput> = {},
): readonly KeptDetection[] =>
  readDetections({
    ...{
      folder,
      sidecars: names.map((name) => ({ name, startMs: START_MS, endMs: 9e15 })),
      fromMs: 0,
      toMs: 9e15,
    },
    ...{ labels: null, limit: 1e6, behind: null, maxBytes: 1e9 },
    ...more,
  }).detections;

/** A keeper over an archive of one camera; a recorder is whoever makes progress. */
export const makeKeeper = (t: TestContext, runner: JobRunner = new InlineRunner()) => {
  const archiveDir = tempFolder(t);
  const folder = join(archiveDir, CAMERA_ID);
  const clock = new FakeClock(START_MS);
  const { log, lines } = logLines();
  const keeper = new DetectionKeeper({ archiveDir }, { runner, clock, log });
  const stop = async (): Promise<void> => {
    const stopping = keeper.stop();
    clock.advance(3_000);
    await stopping;
  };
  t.after(stop);
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 500) {
      clock.advance(Math.min(left, 500));
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  /** A recording that began at `startMs` and covers the time up to `endMs`. */
  const begin = (startMs: number, endMs: number) => {
    const progress = new FileProgress();
    const fileName = openName(startMs);
    progress.startMs = startMs;
    progress.set(1, endMs);
    keeper.fileMade(CAMERA_ID, fileName, progress);
    return {
      ...{ fileName, sidecar: sidecarName(startMs) },
      covers: (ms: number) => progress.set(1, ms),
      end: () => keeper.fileEnded(CAMERA_ID, fileName),
    };
  };
  return { archiveDir, folder, clock, keeper, lines, pass, begin, stop };
};
