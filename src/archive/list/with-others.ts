import { archiveError } from '../archive-error.js';
import { placeOf, type Recording } from './recording.js';

export type OtherBoxes = {
  /** What other boxes have; `isFresh`: those are asked that write one now, how far it is. */
  of(cameraId: string, isFresh: boolean): Promise<readonly Recording[]>;
  /** Boxes that live and don't tell now what they have of a camera, or can't be asked: there may be more. */
  unheard(cameraId: string): readonly string[];
};

/** That a box may have recorded some of a time. */
export const boxUnheard = (box: string): Error =>
  archiveError('box_unavailable', `what the box ${box} has recorded of this time is not known now`, {
    box,
    retryAfterSec: 5,
  });

const keyOf = ({ fileName, box }: Recording): string => `${fileName} ${box}`;

export const byStart = (a: Recording, b: Recording): number => {
  if (a.startMs !== b.startMs) return a.startMs - b.startMs;
  if (a.fileName !== b.fileName) return a.fileName < b.fileName ? -1 : 1;
  return a.box < b.box ? -1 : 1;
};

/** Lists are asked for again and again, and each would be copied anew. */
const joined = new WeakMap<Recording, { readonly of: Recording; readonly both: Recording }>();

/** One that a box has, and where a store has the same. */
const withStore = (there: Recording, inStore: Recording | undefined): Recording => {
  if (there.stored === undefined || inStore?.stored === undefined) return there;
  if (there.sizeBytes !== inStore.sizeBytes) return there;
  const known = joined.get(there);
  if (known?.of === inStore) return known.both;
  const { object, mailbox, sidecarBytes } = inStore.stored;
  const stored = {
    ...placeOf(there.stored),
    sidecarBytes: there.stored.sidecarBytes,
    inStore: { object, mailbox, sidecarBytes },
  };
  const both = { ...there, stored };
  joined.set(there, { of: inStore, both });
  return both;
};

/**
 * What is here, or in the store, and what other boxes have, each time once: what a box that is here has is read there, and of
 * one that is away, or can't give it, in the store, if that has it.
 */
export const withOthers = (own: readonly Recording[], others: readonly Recording[]): readonly Recording[] => {
  if (others.length === 0) return own;
  const stored = new Map(
    own.flatMap((one): [string, Recording][] => (one.stored?.isAlone === true ? [[keyOf(one), one]] : [])),
  );
  const there = others
    .filter((one) => one.isAway !== true || !stored.has(keyOf(one)))
    .map((one) => (stored.size === 0 ? one : withStore(one, stored.get(keyOf(one)))));
  const read = new Set(there.map(keyOf));
  const here = own.filter((one) => one.stored?.isAlone !== true || !read.has(keyOf(one)));
  return [...here, ...there].sort(byStart);
};

/** Of those of one name the one that is meant: of that box or, unless one is said, by the latest claim of its camera. */
export const meantOf = (candidates: readonly Recording[], box: string | null): Recording | null => {
  let meant: Recording | null = null;
  for (const one of candidates) {
    if (box !== null && one.box !== box) continue;
    const isRather =
      meant === null || one.epoch > meant.epoch || (one.epoch === meant.epoch && one.box < meant.box);
    if (isRather) meant = one;
  }
  return meant;
};
