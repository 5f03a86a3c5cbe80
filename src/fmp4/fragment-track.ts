/** A track of the fragments, in the order of `buildInitSegment`. */
export type FragmentTrackOptions = {
  readonly trackId: number;
  /** Video samples carry composition offsets and sync flags; each audio sample can be started at. */
  readonly kind: 'video' | 'audio';
  /** The track's time that is 0 in the file. */
  readonly originTicks: number;
  /** What a sample lasts when neither a next one nor one before it tells. */
  readonly usualDurationTicks: number;
};

/** Where a track stands: in the file, and in the open fragment. */
export class FragmentTrack {
  readonly trackId: number;
  readonly isVideo: boolean;
  readonly originTicks: number;
  /** Of the last sample in the file; -1: none yet. */
  lastDtsTicks = -1;
  lastDurationTicks: number;
  firstDtsTicks = 0;
  samples = 0;
  /** Stretches of samples without another track's between them: one trun each. */
  runs = 0;
  /** Index of the last sample in the open fragment; -1: none yet. */
  lastIndex = -1;

  constructor(options: FragmentTrackOptions) {
    this.trackId = options.trackId;
    this.isVideo = options.kind === 'video';
    this.originTicks = options.originTicks;
    this.lastDurationTicks = options.usualDurationTicks;
  }

  clear(): void {
    this.samples = 0;
    this.runs = 0;
    this.lastIndex = -1;
  }
}
