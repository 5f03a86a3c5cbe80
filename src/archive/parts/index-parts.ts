import { performance } from 'node:perf_hooks';
import type { FileWalk } from '../files/file-walk.js';
import { Moved } from '../files/job-result.js';
import { type RecordingSource, withRecording } from '../files/recording-source.js';
import { PartCollector } from './part-collector.js';
import { partsOfTable } from './parts-of-table.js';
import { type PartColumns, RecordedParts } from './recorded-parts.js';

export type IndexPartsInput = {
  readonly source: RecordingSource;
  /** Where the part begins that is to be the first of the answer; 0: the file's first one. */
  readonly fromBytes: number;
};

export type IndexPartsOutput = {
  /** The last of them may be unfinished, where `nextBytes` isn't null or where the file is still growing. */
  readonly parts: PartColumns;
  /** The walk took too long: it goes on here, where the last of `parts` begins. Null: that was all. */
  readonly nextBytes: number | null;
};

/** Without a description so little was just made, or whoever wrote it ended then: in more there would be pictures that are lost. */
const MAX_BARE_BYTES = 64 << 10;

/** A job that takes longer hands over what it has; a cold disk can take half a minute for a file without index. */
const BUDGET_MS = 1_500;

/** Job: the parts of a recording, from its own index or by walking its fragments. */
export const indexParts = ({ source, fromBytes }: IndexPartsInput): Moved<IndexPartsOutput> =>
  withRecording(source, (recording) => {
    if (source.isOpen && recording.fileBytes <= MAX_BARE_BYTES) {
      const walk = recording.walkDescribed(fromBytes, recording.fileBytes);
      return walk === null ? toOutput(new RecordedParts(), null) : walkParts(walk);
    }
    const known = source.isOpen || fromBytes > 0 ? null : partsOfTable(recording);
    return known === null ? walkParts(recording.walk(fromBytes, recording.fileBytes)) : toOutput(known, null);
  });

const walkParts = (walk: FileWalk): Moved<IndexPartsOutput> => {
  const collector = new PartCollector(walk.scanner);
  const startedMs = performance.now();
  // With no whole part there would be no progress: the next job would begin where this one did.
  const isAtEnd = walk.readAll(
    (fragment) => collector.take(fragment),
    () => performance.now() - startedMs < BUDGET_MS || collector.parts.count === 0,
  );
  const nextBytes = isAtEnd ? null : collector.openStartBytes;
  collector.finish();
  return toOutput(collector.parts, nextBytes);
};

const toOutput = (parts: RecordedParts, nextBytes: number | null): Moved<IndexPartsOutput> => {
  const { count, startBytes, endBytes, ptsTicks, endTicks, wallMs } = parts;
  const columns = { count, startBytes, endBytes, ptsTicks, endTicks, wallMs };
  return new Moved({ parts: columns, nextBytes }, [
    startBytes.buffer,
    endBytes.buffer,
    ptsTicks.buffer,
    endTicks.buffer,
    wallMs.buffer,
  ]);
};
