import { randomBytes } from 'node:crypto';

/** What each change ends with: which cluster it is, and which changes were made last. */
export type ClusterMark = {
  readonly cluster: string;
  /** Ids of changes, the newest last: whoever got no answer finds here whether theirs is one of them. */
  readonly changes: readonly string[];
};

/** The key that it is kept under; no record is called so. */
export const MARK_KEY = 'mark';
/** While nobody knows whether a change was made, others may make as many. */
const MAX_CHANGES = 32;

export const newId = (): string => randomBytes(9).toString('base64url');

const isText = (value: unknown): value is string => typeof value === 'string';

/** Null: it is none. */
export const markOf = (text: string | null): ClusterMark | null => {
  if (text === null) return null;
  const { cluster, changes } = JSON.parse(text) as Partial<Record<keyof ClusterMark, unknown>>;
  return isText(cluster) && Array.isArray(changes) ? { cluster, changes: changes.filter(isText) } : null;
};

/** The mark after one more change; of a new cluster where there is none. */
export const nextMark = (mark: ClusterMark | null, changeId: string): ClusterMark => ({
  cluster: mark?.cluster ?? newId(),
  changes: [...(mark?.changes ?? []), changeId].slice(-MAX_CHANGES),
});

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
