/** A finished segment. Times are media time in ticks of 90 kHz, as the frames' were. */
export type SegmentFacts = {
  /** In the muxer's memory: valid until its next `begin`. */
  readonly bytes: Buffer;
  readonly lengthBytes: number;
  readonly videoFrames: number;
  readonly audioFrames: number;
  /** Of the first video frame, for `EXT-X-PROGRAM-DATE-TIME` and the next segment's bounds. */
  readonly firstPtsTicks: number;
  readonly firstDtsTicks: number;
  /** What `EXTINF` says: to the next segment's first picture; 0 without a picture. */
  readonly durationTicks: number;
};

/** What the muxer has to take back when a frame turns out to be torn. Fixed shape, copied in place. */
export class SegmentTimes {
  firstPtsTicks = 0;
  firstDtsTicks = 0;
  lastDtsTicks = 0;
  /** The latest time that is shown. */
  maxPtsTicks = 0;
  /** From the last frame but one to the last: a guess of how long the last one is shown. */
  intervalTicks = 0;
  videoFrames = 0;
  audioFrames = 0;
  /** The newest PCR, uncut; -Infinity: there was none that the next one has to follow. */
  clockTicks = Number.NEGATIVE_INFINITY;
  owesDiscontinuity = false;

  copyFrom(other: SegmentTimes): void {
    this.firstPtsTicks = other.firstPtsTicks;
    this.firstDtsTicks = other.firstDtsTicks;
    this.lastDtsTicks = other.lastDtsTicks;
    this.maxPtsTicks = other.maxPtsTicks;
    this.intervalTicks = other.intervalTicks;
    this.videoFrames = other.videoFrames;
    this.audioFrames = other.audioFrames;
    this.clockTicks = other.clockTicks;
    this.owesDiscontinuity = other.owesDiscontinuity;
  }

  /** A new segment; clock and interval go on. */
  begin(): void {
    this.videoFrames = 0;
    this.audioFrames = 0;
  }

  /** The segment has no neighbours that we know of. */
  forget(): void {
    this.clockTicks = Number.NEGATIVE_INFINITY;
    this.intervalTicks = 0;
  }

  addVideo(ptsTicks: number, dtsTicks: number): void {
    if (this.videoFrames === 0) {
      this.firstPtsTicks = ptsTicks;
      this.firstDtsTicks = dtsTicks;
      this.maxPtsTicks = ptsTicks;
    } else {
      this.intervalTicks = Math.max(dtsTicks - this.lastDtsTicks, 0);
      this.maxPtsTicks = Math.max(this.maxPtsTicks, ptsTicks);
    }
    this.lastDtsTicks = dtsTicks;
    this.videoFrames += 1;
  }

  /** `nextPtsTicks`: where the next segment begins, or null at the end of the stream. */
  durationTicks(nextPtsTicks: number | null): number {
    if (this.videoFrames === 0) return 0;
    return Math.max((nextPtsTicks ?? this.maxPtsTicks + this.intervalTicks) - this.firstPtsTicks, 0);
  }
}
