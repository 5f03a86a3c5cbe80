import { overlapOf } from './box-overlap.js';
import type { Box } from './seen-object.js';

/** A box that a model proposes: the number of its class, and how sure it is. */
export type Proposal = { readonly classIndex: number; readonly score: number; readonly box: Box };

/** What is looked at of a picture in which a model sees things everywhere. */
const MAX_PROPOSALS = 1_000;
const MAX_OBJECTS = 100;

/** The best of those that mean the same object: of one class, and overlapping by more than `maxOverlap`. */
export const withoutDoubles = (proposals: readonly Proposal[], maxOverlap: number): Proposal[] => {
  const best = proposals.toSorted((a, b) => b.score - a.score).slice(0, MAX_PROPOSALS);
  const kept: Proposal[] = [];
  for (const one of best) {
    const isDouble = kept.some(
      ({ classIndex, box }) => classIndex === one.classIndex && overlapOf(box, one.box) > maxOverlap,
    );
    if (!isDouble) kept.push(one);
    if (kept.length >= MAX_OBJECTS) break;
  }
  return kept;
};
