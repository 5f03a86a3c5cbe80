/** No H.264 or H.265 level allows more (H.264 §A.3.1, H.265 §A.4.2). */
const MAX_DEPTH = 16;

/** So many late frames are B-frames; fewer can be a camera's clock that was set back a little. */
const LATE_FRAMES_FOR_CERTAINTY = 8;

/** One frame at 25 frames a second on the 90 kHz clock. */
const DEFAULT_FRAME_TICKS = 3600;

/**
 * Gives frames their decode times. Cameras send only presentation times, in decode order; a muxer wants both.
 * With a reorder depth of d a frame's decode time is the presentation time d places before it in sorted order:
 * what leaves a sorted window of d + 1 times. That rises strictly, and never comes after the frame's own time
 * as long as the depth is right. The depth is a hint of the SPS that can be absent or wrong, so it grows when a
 * frame comes that more frames of the last ones should have waited for.
 */
export class DecodeOrder {
  #depth = 0;
  #frameTicks = DEFAULT_FRAME_TICKS;
  /** Sorted; the first `#held` are presentation times that no frame has got as decode time yet. */
  readonly #window = new Float64Array(MAX_DEPTH + 1);
  #held = 0;
  /** The presentation times of the last frames, in decode order, as a ring. */
  readonly #recent = new Float64Array(MAX_DEPTH);
  #frames = 0;
  #lateFrames = 0;
  #lastDts = Number.NEGATIVE_INFINITY;

  /** `depth`: what the SPS says, or what an earlier session learned. `frameTicks`: a guess of a frame's duration. */
  constructor(depth: number | null = null, frameTicks = DEFAULT_FRAME_TICKS) {
    this.reset(depth, frameTicks);
  }

  /** The depth so far: a new session of the same camera starts from it. */
  get depth(): number {
    return this.#depth;
  }

  /** Frames do come out of display order: the stream has B-frames, whatever its SPS says. */
  get hasReordering(): boolean {
    return this.#lateFrames >= LATE_FRAMES_FOR_CERTAINTY;
  }

  /** Starts over with this depth, where another stream begins: decode times may now begin anywhere. */
  reset(depth: number | null, frameTicks = this.#frameTicks): void {
    this.#depth = 0;
    this.expect(depth);
    this.#frameTicks = Math.max(Math.floor(frameTicks), 1);
    this.#lateFrames = 0;
    this.restart();
  }

  /** Time has jumped: decode times may begin anywhere, while all that was learned of the stream stays. */
  restart(): void {
    this.#held = 0;
    this.#frames = 0;
    this.#lastDts = Number.NEGATIVE_INFINITY;
  }

  /** Takes the word of an SPS, also in mid-stream: the depth grows to it, yet never falls below what was learned. */
  expect(depth: number | null): void {
    this.#depth = Math.min(Math.max(depth ?? 0, this.#depth), MAX_DEPTH);
  }

  /** The decode time of the next frame in decode order, over that of the one before. */
  place(ptsTicks: number): number {
    this.#learn(ptsTicks);
    this.#insert(ptsTicks);
    const isFirst = this.#frames === 1;
    let dts = this.#lastDts + 1;
    if (this.#held > this.#depth) dts = Math.max(this.#takeSmallest(), dts);
    else if (isFirst) dts = ptsTicks - this.#depth * this.#frameTicks;
    else if (this.#frames <= this.#depth) {
      // Still filling: one frame's time a step, yet not past the time that leaves the window first.
      dts = Math.max(Math.min(this.#lastDts + this.#frameTicks, this.#window[0]! - 1), dts);
    }
    this.#lastDts = dts;
    return dts;
  }

  /** Counts the frames before this one that come after it on the screen, and deepens the window to that. */
  #learn(ptsTicks: number): void {
    const known = Math.min(this.#frames, MAX_DEPTH);
    let later = 0;
    for (let index = 0; index < known; index += 1) {
      if (this.#recent[index]! > ptsTicks) later += 1;
    }
    this.#recent[this.#frames % MAX_DEPTH] = ptsTicks;
    this.#frames += 1;
    if (later === 0) return;
    this.#lateFrames += 1;
    // All of a full history being later is a clock set back, not a reordering: what was held is of another time.
    if (later === MAX_DEPTH) this.#held = 0;
    else if (later > this.#depth) this.#depth = later;
  }

  #insert(ptsTicks: number): void {
    let at = this.#held;
    while (at > 0 && this.#window[at - 1]! > ptsTicks) {
      this.#window[at] = this.#window[at - 1]!;
      at -= 1;
    }
    this.#window[at] = ptsTicks;
    this.#held += 1;
  }

  #takeSmallest(): number {
    const smallest = this.#window[0]!;
    this.#window.copyWithin(0, 1, this.#held);
    this.#held -= 1;
    return smallest;
  }
}
