import { type Acceleration, accelerationFor } from './acceleration.js';
import { KeptFrames } from './kept-frames.js';
import { Rebuilds } from './ladder.js';
import { IntervalMeter, KeyDistance, LagMeter } from './lag.js';
import type { ConfigMessage, FrameMessage } from './messages.js';
import { type DecoderFault, type Picture, PictureDecoder } from './picture-decoder.js';

const BEHIND_MS = 1_000;
/** It may be behind once a while: a keyframe has to come before that can be mended again. */
const SKIP_AGAIN_AFTER_MS = 2_000;
const SILENT_MS = 1_500;
const SETTLING_MS = 3_000;
/** Decoders that hold back two pictures where nothing is reordered, seen so often in a row. */
const HELD_PICTURES = 2;
const HELD_LOOKS = 3;
/** For so long the graphics chip isn't asked again after it failed; twice as long each further time. */
const WITHOUT_CHIP_MS = 600_000;
const MAX_WITHOUT_CHIP_MS = 4 * 3_600_000;

export type StreamEvents = {
  onPicture(picture: Picture): void;
  onFault(kind: 'codec' | 'failed', message: string): void;
  /** How many more decoders of the graphics chip there may be here. */
  freeHardware(): number;
};

const U32 = 2 ** 32;

/** One stream: its decoder, and what is left out so that it stays live. */
export class StreamDecoder {
  readonly lag = new LagMeter();
  readonly arrivals = new IntervalMeter();
  readonly rebuilds = new Rebuilds();
  config: ConfigMessage | null = null;
  lost = 0;
  skipped = 0;
  bytes = 0;
  frames = 0;
  readonly #keys = new KeyDistance();
  readonly #kept = new KeptFrames();
  /** Of what is decoded once more, to go on from, nothing older than this is shown. */
  #shownFromUs = 0;
  /** The longest that a picture was in the decoder; whoever reads it begins anew. */
  slowestMs = 0;
  readonly #events: StreamEvents;
  #decoder: PictureDecoder | null = null;
  #acceleration: Acceleration = 'prefer-software';
  /** 0: it may be asked. */
  #withoutChipUntilMs = 0;
  #withoutChipMs = WITHOUT_CHIP_MS;
  #hasTriedBoth = false;
  #isFailed = false;
  #isSkipping = true;
  #resumedMs = 0;
  #lastIndex: number | null = null;
  #heldLooks = 0;
  #isNew = false;

  constructor(events: StreamEvents) {
    this.#events = events;
  }

  get isSoftware(): boolean {
    return this.#acceleration === 'prefer-software';
  }

  get hasHardware(): boolean {
    return this.#decoder !== null && !this.isSoftware;
  }

  get keyDistanceMs(): number {
    return this.#keys.distanceMs;
  }

  get queued(): number {
    return this.#decoder?.queued ?? 0;
  }

  /** What it began with came all at once: that it takes a moment says nothing of this machine. */
  get isSettling(): boolean {
    return performance.now() - this.#resumedMs < SETTLING_MS;
  }

  takeConfig(config: ConfigMessage): void {
    this.config = config;
    this.#isNew = true;
    this.#isFailed = false;
    this.lag.reset();
    this.arrivals.reset();
    this.#lastIndex = null;
    this.#kept.clear();
    this.#resumedMs = performance.now();
  }

  /** Somebody wants to see it again: what failed before may not now. */
  tryAnew(): void {
    if (!this.#isFailed) return;
    this.#isFailed = false;
    this.#isSkipping = true;
    this.rebuilds.forget();
  }

  /**
   * `isDecoded`: false where somebody else shows it, who wants it as it is; it is counted alone. `isKeysOnly`: nothing
   * but keyframes comes, each of which is to be seen at once.
   */
  takeFrame(frame: FrameMessage, isDecoded = true, isKeysOnly = false): void {
    this.bytes += frame.data.length;
    this.frames += 1;
    const nowMs = performance.now();
    this.arrivals.note(nowMs);
    const lateMs = this.lag.note(nowMs, frame.decodeUs / 1_000);
    this.#noteOrder(frame);
    if (!isDecoded) {
      // What comes next refers to pictures that this decoder doesn't get.
      this.close();
      this.#kept.clear();
      this.#isSkipping = true;
      return;
    }
    if (frame.isKey) this.#onKey(nowMs);
    else if (!this.#isSkipping && lateMs > BEHIND_MS && nowMs - this.#resumedMs > SKIP_AGAIN_AFTER_MS)
      this.#isSkipping = true;
    if (this.#isSkipping) this.#kept.clear();
    else this.#kept.add(frame);
    if (this.#isSkipping || !this.#decode(frame, isKeysOnly)) this.skipped += 1;
  }

  /** Called twice a second: decoders may fail without saying so. */
  look(): void {
    const decoder = this.#decoder;
    if (decoder === null) return;
    if (decoder.silentMs > SILENT_MS) {
      this.#rebuild('nothing came out of the decoder');
      return;
    }
    const holds = this.config?.reorderDepth === 0 && decoder.queued === 0 && decoder.held >= HELD_PICTURES;
    this.#heldLooks = holds ? this.#heldLooks + 1 : 0;
    if (this.#heldLooks >= HELD_LOOKS && !this.isSoftware) this.#rebuild('the decoder holds pictures back');
  }

  close(): void {
    this.#decoder?.close();
    this.#decoder = null;
  }

  /** False: there is no decoder that takes it. */
  #decode(frame: FrameMessage, isKeysOnly: boolean): boolean {
    if (this.#decoder?.decode(frame) !== true) return false;
    // Decoders of streams with B-frames wait for what comes behind it, which nobody sends.
    if (isKeysOnly && this.config?.reorderDepth !== 0) void this.#decoder?.flush();
    return true;
  }

  #noteOrder({ index, isKey, decodeUs, brokeOff }: FrameMessage): void {
    const missing = this.#lastIndex === null ? 0 : (index - this.#lastIndex - 1 + U32) % U32;
    this.#lastIndex = index;
    if (brokeOff) {
      this.lag.reset();
      this.#keys.reset();
    }
    if (isKey) this.#keys.note(decodeUs / 1_000);
    if (missing === 0) return;
    // A stream that begins anew goes back; only what goes on is counted.
    if (missing < U32 / 2) this.lost += isKey ? 0 : missing;
    if (!isKey) this.#isSkipping = true;
  }

  #onKey(nowMs: number): void {
    const isCatchingUp = this.#shownFromUs > 0;
    // A camera may begin to count anew with it.
    this.#shownFromUs = 0;
    if (this.#isFailed) return;
    if (this.#isSkipping) this.#resumedMs = nowMs;
    // What still waits to be decoded is older than this keyframe, and behind.
    const isBehind = (this.#isSkipping || isCatchingUp) && (this.#decoder?.queued ?? 0) > 0;
    this.#isSkipping = false;
    const mayHaveChip = this.#withoutChipUntilMs > 0 && nowMs > this.#withoutChipUntilMs;
    if (mayHaveChip) {
      this.#withoutChipUntilMs = 0;
      this.#isNew = true;
    }
    if (this.#decoder?.isOpen === true && !this.#isNew && !isBehind) return;
    this.#begin();
  }

  #begin(): void {
    const { config } = this;
    if (config === null) return;
    this.close();
    this.#isNew = false;
    this.#shownFromUs = 0;
    this.#acceleration = accelerationFor(config.width, config.height, {
      isSoftwareOnly: this.#withoutChipUntilMs > 0,
      freeHardware: this.#events.freeHardware(),
    });
    if (this.#hasTriedBoth) this.#acceleration = 'no-preference';
    this.#decoder = new PictureDecoder(config, {
      acceleration: this.#acceleration,
      onPicture: (picture) => {
        if (picture.frame.timestamp < this.#shownFromUs) {
          picture.frame.close();
          return;
        }
        this.#shownFromUs = 0;
        this.slowestMs = Math.max(this.slowestMs, picture.tookMs);
        this.#events.onPicture(picture);
      },
      onFault: (fault) => this.#onFault(fault),
    });
  }

  #onFault({ kind, message }: DecoderFault): void {
    this.#decoder = null;
    if (kind !== 'unsupported') {
      this.#rebuild(message, kind === 'reclaimed');
      return;
    }
    // Some codecs are decoded by the graphics chip alone.
    if (this.isSoftware && !this.#hasTriedBoth) {
      this.#hasTriedBoth = true;
      return;
    }
    this.#isFailed = true;
    this.#events.onFault('codec', message);
  }

  /** `isReclaimed`: the browser took it back, which says nothing of the chip. */
  #rebuild(why: string, isReclaimed = false): void {
    this.close();
    const wasWhole = !this.#isSkipping;
    // It failed again over the same frames: that says as much of them as of the decoder.
    const isSame = this.#kept.isTaken;
    this.#isSkipping = true;
    this.#heldLooks = 0;
    if (!isReclaimed && !this.isSoftware) {
      this.#withoutChipUntilMs = performance.now() + this.#withoutChipMs;
      this.#withoutChipMs = Math.min(2 * this.#withoutChipMs, MAX_WITHOUT_CHIP_MS);
    }
    if (isSame) return;
    if (this.rebuilds.mayRebuild(performance.now())) {
      if (wasWhole && !isReclaimed) this.#goOn();
      return;
    }
    this.#isFailed = true;
    this.#events.onFault('failed', why);
  }

  /** The next keyframe may be seconds away: the successor is given what came since the last one. */
  #goOn(): void {
    const kept = this.#kept.take();
    if (kept === null) return;
    this.#begin();
    const decoder = this.#decoder;
    this.#shownFromUs = kept.newestUs;
    this.#resumedMs = performance.now();
    this.#isSkipping = false;
    for (const frame of kept.frames) if (this.#decoder === decoder) decoder?.decode(frame);
  }
}
