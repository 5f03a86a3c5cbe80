import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { closedName } from '../../src/archive/files/file-name.js';
import { film } from '../archive/filmed.js';
import { looped } from '../support/looped.js';
import { movingPicture } from './moving-picture.js';

const FILE_MS = 300_000;
/** From the beginning: three files, with gaps of four minutes and of ten seconds. */
const STARTS_MS = [0, FILE_MS + 240_000, 2 * FILE_MS + 250_000] as const;

const APART_MS = 17;

export type Span = readonly [fromMs: number, toMs: number];

/** Files as the recorder writes them, of each camera from each of these moments on; where pictures are. */
export const writeRecordings = (
  archiveDir: string,
  cameras: readonly string[],
  fromMs: readonly number[],
): Span[] => {
  const pictures = movingPicture();
  const turnMs = (pictures.frames.length * 1_000) / pictures.frameRateHz;
  const video = looped(pictures, Math.floor(FILE_MS / turnMs));
  const spans: Span[] = [];
  for (const from of fromMs)
    for (const startMs of STARTS_MS.map((each) => from + each)) {
      for (const [nth, camera] of cameras.entries()) {
        // No two cameras take their pictures at the same moment.
        const { bytes, endMs } = film({ video, startMs: startMs + nth * APART_MS });
        if (nth === 0) spans.push([startMs, endMs]);
        const folder = join(archiveDir, camera);
        mkdirSync(folder, { recursive: true });
        writeFileSync(join(folder, closedName(startMs + nth * APART_MS, endMs)), bytes);
      }
    }
  return spans;
};
