import type { Cluster } from '../../data/types.js';

/** What somebody should know of, the worst first. */
export type Wrong =
  | { readonly kind: 'fault'; readonly why: string }
  | { readonly kind: 'majority' }
  /** `isTaken`: others have its cameras. */
  | {
      readonly kind: 'lost';
      readonly name: string;
      readonly sinceSec: number;
      readonly isTaken: boolean;
    }
  | { readonly kind: 'unowned' | 'doubled'; readonly count: number }
  | { readonly kind: 'deaf'; readonly name: string; readonly others: readonly string[] }
  | { readonly kind: 'store' | 'queue'; readonly name: string; readonly count: number; readonly sec: number }
  | { readonly kind: 'versions'; readonly versions: readonly string[] }
  | { readonly kind: 'awaited'; readonly name: string };

/** A recording is copied when it is closed, and those of a box that ended wait meanwhile. */
const QUEUE_OLD_SEC = 2 * 3_600;
/** Who has just come is heard by all within a moment. */
const NEW_SEC = 10;

export const wrongsOf = (cluster: Cluster): Wrong[] => {
  const { boxes, fault, has_majority, cameras_unowned, cameras_doubled, awaited } = cluster;
  const here = boxes.filter(({ state }) => state !== 'lost');
  const wrongs: Wrong[] = [];
  if (fault !== '') wrongs.push({ kind: 'fault', why: fault });
  if (!has_majority) wrongs.push({ kind: 'majority' });
  const isTaken = has_majority && cameras_unowned === 0;
  for (const { name, state, since_sec } of boxes)
    if (state === 'lost') wrongs.push({ kind: 'lost', name, sinceSec: since_sec, isTaken });
  if (cameras_unowned > 0) wrongs.push({ kind: 'unowned', count: cameras_unowned });
  if (cameras_doubled > 0) wrongs.push({ kind: 'doubled', count: cameras_doubled });
  for (const { name, hears } of here) {
    const others = here
      .filter((other) => other.name !== name && other.since_sec >= NEW_SEC && !hears.includes(other.name))
      .map((other) => other.name);
    if (others.length > 0) wrongs.push({ kind: 'deaf', name, others });
  }
  for (const { name, s3 } of here) {
    if (s3 === null || s3.waiting === 0) continue;
    const facts = { name, count: s3.waiting, sec: s3.oldest_sec };
    if (!s3.up) wrongs.push({ kind: 'store', ...facts });
    else if (s3.oldest_sec >= QUEUE_OLD_SEC) wrongs.push({ kind: 'queue', ...facts });
  }
  const versions = [...new Set(here.map(({ version }) => version))].sort();
  if (versions.length > 1) wrongs.push({ kind: 'versions', versions });
  for (const name of awaited) wrongs.push({ kind: 'awaited', name });
  return wrongs;
};
