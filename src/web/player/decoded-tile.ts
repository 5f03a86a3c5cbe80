import type { TileSize } from './decode-messages.js';
import { IntervalMeter } from './lag.js';
import { monotonicMs } from './monotonic.js';
import { Pacer, PictureQueue } from './pacing.js';
import type { StreamDecoder } from './stream-decoder.js';
import { TileCanvas } from './tile-canvas.js';
import type { TileReport } from './tile-report.js';

/** For so long a canvas that the browser took away may still come back. */
const RESTORE_WITHIN_MS = 500;
/** Of one that followed such a canvas: what draws them all is gone, and comes back when it does. */
const RESTORE_AGAIN_WITHIN_MS = 2_000;
const AGAIN_MS = 60_000;

type Waiting = { readonly frame: VideoFrame; readonly wallMs: number };

/** One tile of this worker: where its pictures go, and when the last one went there. */
export class DecodedTile {
  readonly tile: number;
  stream: number | null = null;
  isKeysOnly = false;
  /** Shown by its time, a little later and evenly, instead of at once. */
  isPaced = false;
  /** The next picture that is shown is the first one of its stream. */
  isFirst = true;
  wantsFragments = false;
  readonly #interval = new IntervalMeter();
  #canvas: TileCanvas | null = null;
  #size: TileSize | null = null;
  #canvasLostMs = Number.NEGATIVE_INFINITY;
  readonly #queue = new PictureQueue<Waiting>();
  readonly #pacer = new Pacer();
  #drawn = 0;
  #drawnMs = 0;
  #wallMs = 0;
  #counted = { atMs: performance.now(), frames: 0, bytes: 0, of: null as StreamDecoder | null };
  #rates = { fps: 0, kbits: 0 };

  constructor(tile: number) {
    this.tile = tile;
  }

  get hasCanvas(): boolean {
    return this.#canvas !== null;
  }

  get isWaiting(): boolean {
    return !this.#queue.isEmpty;
  }

  showOn(canvas: OffscreenCanvas, onLost: () => void): void {
    const isAgain = performance.now() - this.#canvasLostMs < AGAIN_MS;
    const restoreWithinMs = isAgain ? RESTORE_AGAIN_WITHIN_MS : RESTORE_WITHIN_MS;
    const made = new TileCanvas(canvas, restoreWithinMs, () => {
      // Of one that was replaced nobody needs to hear.
      if (this.#canvas !== made) return;
      this.#canvasLostMs = performance.now();
      onLost();
    });
    this.#canvas = made;
    // It is empty: what was shown on another one is not to be seen.
    this.#drawnMs = 0;
    this.isFirst = true;
    if (this.#size !== null) this.#canvas.resize(this.#size);
    this.wantsFragments = false;
  }

  showFragments(): void {
    this.#queue.clear();
    this.#canvas = null;
    this.wantsFragments = true;
  }

  resize(size: TileSize): void {
    this.#size = size;
    this.#canvas?.resize(size);
  }

  /** Another stream: what is on the screen stays until its first picture. */
  begin(stream: number | null): void {
    this.stream = stream;
    this.isFirst = true;
    this.#interval.reset();
    this.#pacer.reset();
    this.#queue.clear();
  }

  /**
   * Takes the frame over: it is drawn, or closed, whichever comes first. `isSettling`: it comes with others that were
   * taken before, and says nothing of how evenly they come.
   */
  offer(frame: VideoFrame, wallMs: number, isSettling: boolean): void {
    const nowMs = performance.now();
    const isEvenly = this.isPaced && !this.isKeysOnly && !isSettling;
    if (!isEvenly) this.#pacer.reset();
    const dueMs = isEvenly ? this.#pacer.dueMs(nowMs, frame.timestamp / 1_000) : nowMs;
    this.#queue.add({ frame, wallMs }, dueMs, nowMs);
  }

  /** True: the screen shows another picture now. */
  paint(): boolean {
    const next = this.#queue.take(performance.now());
    if (next === null) return false;
    const isDrawn = this.#canvas?.draw(next.frame) === true;
    next.frame.close();
    if (isDrawn) this.note(next.wallMs);
    return isDrawn;
  }

  note(wallMs: number): void {
    this.#drawn += 1;
    this.#drawnMs = monotonicMs();
    this.#wallMs = wallMs;
    this.#interval.note(performance.now());
  }

  close(): void {
    this.#queue.clear();
    this.#canvas = null;
    this.wantsFragments = false;
  }

  report(decoder: StreamDecoder): TileReport {
    this.#measure(decoder);
    const { config } = decoder;
    return {
      tile: this.tile,
      stream: this.stream ?? 0,
      drawn: this.#drawn,
      drawnMs: this.#drawnMs,
      wallMs: this.#wallMs,
      intervalMs: Math.max(this.#interval.intervalMs, this.isKeysOnly ? decoder.keyDistanceMs : 0),
      isKeysOnly: this.isKeysOnly,
      codec: config?.codec ?? '',
      width: config?.width ?? 0,
      height: config?.height ?? 0,
      ...this.#rates,
      lagP50Ms: decoder.lag.quantile(0.5),
      lagP95Ms: decoder.lag.quantile(0.95),
      queued: decoder.queued,
      pacedMs: this.isPaced && !this.isKeysOnly ? this.#pacer.delayMs : null,
      lost: decoder.lost,
      skipped: decoder.skipped,
      keyDistanceMs: decoder.keyDistanceMs,
      rebuilds: decoder.rebuilds.count,
      isSoftware: decoder.isSoftware,
    };
  }

  #measure(decoder: StreamDecoder): void {
    const atMs = performance.now();
    const { frames, bytes } = decoder;
    const last = this.#counted;
    if (last.of === decoder && atMs - last.atMs < 900) return;
    const seconds = (atMs - last.atMs) / 1_000;
    if (last.of === decoder)
      this.#rates = {
        fps: (frames - last.frames) / seconds,
        kbits: ((bytes - last.bytes) * 8) / 1_000 / seconds,
      };
    this.#counted = { atMs, frames, bytes, of: decoder };
  }
}
