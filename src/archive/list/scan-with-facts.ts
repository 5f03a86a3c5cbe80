import { startReasons } from '../../fmp4/start-reason.js';
import { readFacts } from '../facts/camera-facts.js';
import { parseRecordingName } from '../files/file-name.js';
import { Moved } from '../files/job-result.js';
import { type FolderScan, scanFolder, stampAt } from '../files/scan-folder.js';
import type { Inspection } from './inspect-files.js';

const FIELDS = 3;

/** A scan with what is kept of the files in it; three numbers a file in `facts`, the first NaN where nothing is. */
export type KnownScan = FolderScan & { readonly facts: Float64Array };

/** What is kept of one file of a scan; null: nothing. */
export const factsAt = ({ facts }: KnownScan, index: number): Inspection | null => {
  const at = index * FIELDS;
  const [startMs, endMs, reason] = [facts[at]!, facts[at + 1]!, facts[at + 2]!];
  if (Number.isNaN(startMs)) return null;
  const startReason = startReasons[reason] ?? null;
  return { startMs, endMs: Number.isNaN(endMs) ? null : endMs, startReason, seenBytes: 0 };
};

/** Job: all recordings of a camera's folder, as the folder has them now, and what is kept of just these files. */
export const scanWithFacts = (input: {
  readonly folder: string;
  readonly factsPath: string;
}): Moved<KnownScan> => {
  const { value: scan, memory } = scanFolder({ folder: input.folder });
  const known = readFacts(input.factsPath);
  const facts = new Float64Array(scan.names.length * FIELDS).fill(Number.NaN);
  for (const [index, fileName] of scan.names.entries()) {
    const name = parseRecordingName(fileName);
    const found = name === null ? null : known.find(name, stampAt(scan, index));
    if (found === null) continue;
    const reason = found.startReason === null ? -1 : startReasons.indexOf(found.startReason);
    const at = index * FIELDS;
    facts[at] = found.startMs ?? Number.NaN;
    facts[at + 1] = found.endMs ?? Number.NaN;
    facts[at + 2] = reason;
  }
  return new Moved({ ...scan, facts }, [...memory, facts.buffer]);
};
