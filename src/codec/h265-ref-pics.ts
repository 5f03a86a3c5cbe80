import type { BitReader } from './bit-reader.js';

const MAX_SHORT_TERM_SETS = 64;
const MAX_LONG_TERM_PICS = 32;
const MAX_PICS_IN_SET = 16;

/** Picture order distances of one st_ref_pic_set: S0 (nearest first, negative), then S1. */
type PicSet = { readonly negative: readonly number[]; readonly positive: readonly number[] };

/** A set told as a shift of the one before it (H.265 §7.4.8, equations 7-61 and 7-62). */
const readPredictedSet = (bits: BitReader, from: PicSet): PicSet => {
  const isBackwards = bits.flag();
  const shift = (bits.ue() + 1) * (isBackwards ? -1 : 1);
  const isKept: boolean[] = [];
  const count = from.negative.length + from.positive.length;
  for (let index = 0; index <= count; index += 1) {
    const isUsed = bits.flag();
    isKept.push(isUsed || bits.flag());
  }
  // Each candidate with its flag; index `count` stands for the picture that the set is predicted from.
  const negatives = from.negative.map((delta, index) => ({ delta: delta + shift, isKept: isKept[index] }));
  const positives = from.positive.map((delta, index) => ({
    delta: delta + shift,
    isKept: isKept[from.negative.length + index],
  }));
  const base = { delta: shift, isKept: isKept[count] };
  const pick = (candidates: readonly { delta: number; isKept: boolean | undefined }[], sign: number) =>
    candidates
      .filter((pic) => pic.isKept && Math.sign(pic.delta) === sign)
      .map((pic) => pic.delta)
      .slice(0, MAX_PICS_IN_SET);
  return {
    negative: pick([...positives.toReversed(), base, ...negatives], -1),
    positive: pick([...negatives.toReversed(), base, ...positives], 1),
  };
};

const readExplicitSet = (bits: BitReader): PicSet | null => {
  const negativeCount = bits.ue();
  const positiveCount = bits.ue();
  if (negativeCount > MAX_PICS_IN_SET || positiveCount > MAX_PICS_IN_SET) return null;
  const distances = (count: number, sign: number): number[] => {
    const deltas: number[] = [];
    let delta = 0;
    for (let index = 0; index < count; index += 1) {
      delta += sign * (bits.ue() + 1);
      deltas.push(delta);
      bits.skip(1); // used_by_curr_pic_flag
    }
    return deltas;
  };
  return { negative: distances(negativeCount, -1), positive: distances(positiveCount, 1) };
};

/** Passes over the short-term sets of an SPS (H.265 §7.3.7); false: they can't be understood. */
const skipShortTermSets = (bits: BitReader): boolean => {
  const count = bits.ue();
  if (count > MAX_SHORT_TERM_SETS) return false;
  let last: PicSet = { negative: [], positive: [] };
  for (let index = 0; index < count; index += 1) {
    const isPredicted = index > 0 && bits.flag();
    const set: PicSet | null = isPredicted ? readPredictedSet(bits, last) : readExplicitSet(bits);
    if (set === null || bits.isPastEnd) return false;
    last = set;
  }
  return true;
};

/**
 * Passes over all reference pictures of an SPS, which stand between us and the VUI. Their length can only be
 * told by following them. False: the rest can't be read.
 */
export const skipH265RefPics = (bits: BitReader, orderCountLsbBits: number): boolean => {
  if (!skipShortTermSets(bits)) return false;
  if (bits.flag()) {
    const count = bits.ue();
    if (count > MAX_LONG_TERM_PICS) return false;
    bits.skip(count * (orderCountLsbBits + 1));
  }
  return !bits.isPastEnd;
};
