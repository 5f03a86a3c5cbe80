/** Sample flags of a fragment (ISO 14496-12 §8.8.3.1). */
export const SAMPLE_FLAGS = {
  /** sample_depends_on 2: on no other. */
  sync: 0x0200_0000,
  /** sample_depends_on 1: on others; sample_is_non_sync_sample. */
  dependent: 0x0101_0000,
  /** The bit that says: no place to start. */
  isNonSync: 0x0001_0000,
} as const;
