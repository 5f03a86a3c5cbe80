import { fullBox, u32, u32Table, writeU64 } from './box-bytes.js';

/** Decoding Time to Sample Box (ISO 14496-12 §8.6.1.2): runs of sample_count, sample_delta. */
export const stts = (runs: ArrayLike<number>, count = runs.length): Buffer =>
  fullBox('stts', 0, 0, u32(count / 2 /* entry_count */), u32Table(runs, count));

/** Composition Time to Sample Box (§8.6.1.3), version 1: signed offsets, in runs of sample_count, sample_offset. */
export const ctts = (runs: ArrayLike<number>, count = runs.length): Buffer =>
  fullBox('ctts', 1, 0, u32(count / 2 /* entry_count */), u32Table(runs, count));

/** Sync Sample Box (§8.6.2): sample_number of each keyframe, from 1. */
export const stss = (sampleNumbers: ArrayLike<number>, count = sampleNumbers.length): Buffer =>
  fullBox('stss', 0, 0, u32(count /* entry_count */), u32Table(sampleNumbers, count));

/** Sample To Chunk Box (§8.7.4): first_chunk, samples_per_chunk, sample_description_index in turn. */
export const stsc = (entries: ArrayLike<number>, count = entries.length): Buffer =>
  fullBox('stsc', 0, 0, u32(count / 3 /* entry_count */), u32Table(entries, count));

/** Sample Size Box (§8.7.3.2). */
export const stsz = (sizes: ArrayLike<number>, count = sizes.length): Buffer =>
  fullBox('stsz', 0, 0, u32(0 /* sample_size: they differ */), u32(count), u32Table(sizes, count));

/** Chunk Offset Box (§8.7.5), for files below 4 GB; `base` is added to each. */
export const stco = (offsets: ArrayLike<number>, count = offsets.length, base = 0): Buffer => {
  const words = new Uint32Array(count);
  for (let index = 0; index < count; index += 1) words[index] = offsets[index]! + base;
  return fullBox('stco', 0, 0, u32(count /* entry_count */), u32Table(words));
};

/** Chunk Offset Box (§8.7.5) of 64-bit offsets. */
export const co64 = (offsets: ArrayLike<number>, count = offsets.length, base = 0): Buffer => {
  const entries = Buffer.alloc(count * 8);
  for (let index = 0; index < count; index += 1) writeU64(entries, offsets[index]! + base, index * 8);
  return fullBox('co64', 0, 0, u32(count /* entry_count */), entries);
};
