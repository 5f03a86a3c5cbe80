import { fullBox, u32, u32Table } from './box-bytes.js';

/** Runs of equal values, as several tables hold them: count and value in turn. */
export const runsOf = (values: ArrayLike<number>): number[] => {
  const runs: number[] = [];
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index]!;
    if (runs.length > 0 && runs[runs.length - 1] === value) runs[runs.length - 2]! += 1;
    else runs.push(1, value);
  }
  return runs;
};

/** Decoding Time to Sample Box (ISO 14496-12 §8.6.1.2): runs of sample_count, sample_delta. */
export const stts = (runs: readonly number[]): Buffer =>
  fullBox('stts', 0, 0, u32(runs.length / 2 /* entry_count */), u32Table(runs));

/** Composition Time to Sample Box (§8.6.1.3), version 1: signed offsets, in runs of sample_count, sample_offset. */
export const ctts = (runs: readonly number[]): Buffer =>
  fullBox('ctts', 1, 0, u32(runs.length / 2 /* entry_count */), u32Table(runs));

/** Sync Sample Box (§8.6.2): sample_number of each keyframe, from 1. */
export const stss = (sampleNumbers: readonly number[]): Buffer =>
  fullBox('stss', 0, 0, u32(sampleNumbers.length /* entry_count */), u32Table(sampleNumbers));

/** Sample To Chunk Box (§8.7.4): first_chunk, samples_per_chunk, sample_description_index in turn. */
export const stsc = (entries: readonly number[]): Buffer =>
  fullBox('stsc', 0, 0, u32(entries.length / 3 /* entry_count */), u32Table(entries));

/** Sample Size Box (§8.7.3.2). */
export const stsz = (sizes: ArrayLike<number>): Buffer =>
  fullBox('stsz', 0, 0, u32(0 /* sample_size: they differ */), u32(sizes.length), u32Table(sizes));

/** Chunk Offset Box (§8.7.5), for files below 4 GB. */
export const stco = (offsets: readonly number[]): Buffer =>
  fullBox('stco', 0, 0, u32(offsets.length /* entry_count */), u32Table(offsets));

/** Chunk Offset Box (§8.7.5) of 64-bit offsets. */
export const co64 = (offsets: readonly number[]): Buffer =>
  fullBox(
    'co64',
    0,
    0,
    u32(offsets.length), // entry_count
    u32Table(offsets.flatMap((offset) => [Math.floor(offset / 0x1_0000_0000), offset % 0x1_0000_0000])),
  );
