import { archiveError } from '../archive-error.js';
import type { Recording } from './recording.js';

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

/**
 * What is here, or in the store, and what other boxes have, each time once: what a box that is here has is read there, and of
 * one that is away in the store, if that has it.
 */
export const withOthers = (own: readonly Recording[], others: readonly Recording[]): readonly Recording[] => {
  if (others.length === 0) return own;
  const stored = new Set(own.filter((one) => one.stored?.isAlone === true).map(keyOf));
  const there = others.filter((one) => one.isAway !== true || !stored.has(keyOf(one)));
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
