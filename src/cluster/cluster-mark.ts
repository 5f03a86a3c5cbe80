import { randomBytes } from 'node:crypto';

/** What each change ends with: which cluster it is, and which changes were made last. */
export type ClusterMark = {
  readonly cluster: string;
  /** How many changes there were. */
  readonly count: number;
  /** Ids of the last ones, the newest last: whoever got no answer finds here whether theirs is one of them. */
  readonly changes: readonly string[];
  /** How often boxes have put their copy back into a log that had lost something. */
  readonly putBacks: number;
};

/** The key that it is kept under; no record is called so. */
export const MARK_KEY = 'mark';
/** While nobody knows whether a change was made, others may make as many. */
const MAX_CHANGES = 32;
const UPKEEP = '~';

export const newId = (): string => randomBytes(9).toString('base64url');

/** Of a change that a box makes by itself, to put back what was set before: nothing is lost with it. */
export const newUpkeepId = (): string => UPKEEP + newId();

const isText = (value: unknown): value is string => typeof value === 'string';

/** Null: it is none. */
export const markOf = (value: unknown): ClusterMark | null => {
  if (typeof value !== 'object' || value === null) return null;
  const { cluster, count, changes, putBacks } = value as Partial<Record<keyof ClusterMark, unknown>>;
  const isMark = isText(cluster) && typeof count === 'number' && Array.isArray(changes);
  if (!isMark) return null;
  return {
    ...{ cluster, count, changes: changes.filter(isText) },
    putBacks: typeof putBacks === 'number' ? putBacks : 0,
  };
};

/** The mark after one more change; of a new cluster where there is none. */
export const nextMark = (mark: ClusterMark | null, changeId: string): ClusterMark => ({
  cluster: mark?.cluster ?? newId(),
  count: (mark?.count ?? 0) + 1,
  changes: [...(mark?.changes ?? []), changeId].slice(-MAX_CHANGES),
  putBacks: mark?.putBacks ?? 0,
});

/** Whether it is the mark of the very next change: what is told of another log, or of another life of it, has none. */
export const isNext = (mark: ClusterMark, before: ClusterMark, changeId: string | null): boolean =>
  mark.cluster === before.cluster &&
  mark.putBacks === before.putBacks &&
  mark.count === before.count + 1 &&
  mark.changes.at(-1) === changeId &&
  mark.changes.at(-2) === before.changes.at(-1);

const withoutUpkeep = (mark: ClusterMark): ClusterMark => {
  const { count, changes } = mark;
  const end = changes.findLastIndex((id) => !id.startsWith(UPKEEP)) + 1;
  return { ...mark, count: count - (changes.length - end), changes: changes.slice(0, end) };
};

/** As far as the later one remembers. */
const goesOnFrom = (later: ClusterMark, mark: ClusterMark): boolean => {
  const known = later.changes[later.changes.length - 1 - (later.count - mark.count)];
  return mark.count <= later.count && (known === undefined || known === mark.changes.at(-1));
};

/**
 * What the log is to a copy, by their marks: `same` but for upkeep, `ahead` of it, `behind` (it lost changes that the copy has),
 * or `forked` (it lost some, and others were made).
 */
export type LogRelation = 'same' | 'ahead' | 'behind' | 'forked';

export const relationOf = (copy: ClusterMark, log: ClusterMark): LogRelation => {
  const [copyWork, logWork] = [withoutUpkeep(copy), withoutUpkeep(log)];
  if (goesOnFrom(log, copy) || goesOnFrom(log, copyWork)) {
    const isSame = copy.changes.at(-1) === log.changes.at(-1);
    const last = copyWork.changes.at(-1);
    return isSame || (last !== undefined && last === logWork.changes.at(-1)) ? 'same' : 'ahead';
  }
  return goesOnFrom(copy, log) || goesOnFrom(copy, logWork) ? 'behind' : 'forked';
};

/** Whether these records hold nothing that a person made: at most the first admin, with the password that was made for it. */
export const isUntouched = (records: ReadonlyMap<string, string>): boolean => {
  const epoch = records.get('fact/first_admin_epoch');
  for (const [key, text] of records) {
    if (key === 'fact/first_admin_epoch') continue;
    const isFirstAdmin = key === 'user/admin' && epoch !== undefined && epochOf(text) === textOf(epoch);
    if (!isFirstAdmin) return false;
  }
  return true;
};

const epochOf = (text: string): unknown => (JSON.parse(text) as { token_epoch?: unknown }).token_epoch;
const textOf = (text: string): unknown => (JSON.parse(text) as { value?: unknown }).value;
