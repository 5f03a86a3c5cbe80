import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { closedName } from '../../src/archive/files/file-name.js';
import { film } from '../archive/filmed.js';
import { fixtures } from '../support/fixtures.js';
import { looped } from '../support/looped.js';

const MINUTE_MS = 60_000;
/** What was recorded, in minutes before now: with a gap of 25 minutes, and one of 4. */
const RECORDED: readonly (readonly [fromMinutes: number, minutes: number])[] = [
  [180, 10],
  [170, 10],
  [160, 10],
  [125, 10],
  [115, 10],
  [105, 8],
  [93, 10],
  [83, 10],
  [73, 10],
  [63, 10],
  [53, 10],
  [43, 10],
  [33, 10],
  [23, 10],
  [13, 10],
];

/** Some hours of recordings of a camera, as if the service had run all the time but for two gaps. */
export const writeArchive = (archiveDir: string, camera: string, nowMs: number): void => {
  const folder = join(archiveDir, camera);
  mkdirSync(folder, { recursive: true });
  const pictures = fixtures.h264High();
  const turnMs = (pictures.frames.length * 1_000) / pictures.frameRateHz;
  for (const [fromMinutes, minutes] of RECORDED) {
    const startMs = nowMs - fromMinutes * MINUTE_MS;
    const video = looped(pictures, Math.floor((minutes * MINUTE_MS) / turnMs));
    const { bytes, endMs } = film({ video, startMs });
    writeFileSync(join(folder, closedName(startMs, endMs)), bytes);
  }
};
