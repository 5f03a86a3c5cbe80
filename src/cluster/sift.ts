import type { SharedRecord } from '../store/shared/shared-records.js';
import { type ClusterMark, MARK_KEY, markOf } from './cluster-mark.js';
import type { LogEntry } from './log-entry.js';

/** Up to where the log was read, and its mark there. */
export type LogPosition = { readonly sequence: number; readonly mark: ClusterMark | null };

/** What was read of the log: what boxes of the cluster wrote, and what stands there instead. */
export type Sifted = {
  /** Null: it has none that is the cluster's. */
  readonly mark: ClusterMark | null;
  readonly records: readonly (SharedRecord & { readonly sequence: number })[];
  /** What is kept under these was not written by a box, or not as part of a change that was made. */
  readonly foreignKeys: readonly string[];
  /** Those of them that nobody has changed since what is known. */
  readonly unchangedKeys: ReadonlySet<string>;
  /** Something may have been changed that nothing tells of any more: the mark was written over. */
  readonly isInDoubt: boolean;
};

/** The last mark among them that a box of the cluster wrote; null: there is none. */
export const markIn = (entries: readonly LogEntry[]): ClusterMark | null => {
  const marks = entries.filter(({ key, text }) => key === MARK_KEY && text !== null);
  return markOf(JSON.parse(marks.at(-1)?.text ?? 'null'));
};

/**
 * Sifts what was read since `known` (null: nothing is known). The key and the place of an entry are right where it could be
 * opened; that its change was made whole is told by the mark, as far back as it remembers.
 */
export const sift = (entries: readonly LogEntry[], known: LogPosition | null): Sifted => {
  const newest = new Map(entries.map((entry) => [entry.key, entry]));
  newest.delete('');
  const mark = markIn(entries);
  const teller = mark ?? known?.mark ?? null;
  const sinceCount = (teller?.count ?? 0) - (known?.mark?.count ?? 0);
  const isMade = ({ sequence, changeId }: LogEntry): boolean =>
    changeId !== null &&
    (known === null ||
      sequence <= known.sequence ||
      (teller !== null && (teller.changes.includes(changeId) || sinceCount > teller.changes.length)));
  const isOurs = (entry: LogEntry): boolean => (entry.key === MARK_KEY ? entry.text !== null : isMade(entry));
  const sinceSequence = known?.sequence ?? 0;
  const later = entries.filter(({ sequence }) => sequence > sinceSequence);
  // Where a number is missing, something was written over since that is not known.
  const gapAt = later.findIndex(({ sequence }, index) => sequence !== sinceSequence + index + 1);
  const isUntold = gapAt >= 0 || later.some((entry) => entry.changeId !== null && !isMade(entry));
  const foreign = [...newest.values()].filter((entry) => !isOurs(entry));
  const beforeGap = new Set(later.slice(0, gapAt < 0 ? later.length : gapAt));
  return {
    mark,
    records: entries.filter(({ key }) => key !== MARK_KEY && key !== '').filter(isMade),
    foreignKeys: foreign.map(({ key }) => key),
    unchangedKeys: new Set(foreign.filter((entry) => beforeGap.has(entry)).map(({ key }) => key)),
    isInDoubt: mark === null && newest.has(MARK_KEY) && isUntold,
  };
};
