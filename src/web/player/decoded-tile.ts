import type { TileSize } from './decode-messages.js';
import { IntervalMeter, quantile } from './lag.js';
import type { StreamDecoder } from './stream-decoder.js';
import { TileCanvas } from './tile-canvas.js';
import type { TileReport } from './tile-report.js';

const MAX_PACE_MS = 150;

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
  #next: { readonly frame: VideoFrame; readonly wallMs: number; readonly dueMs: number } | null = null;
  #drawn = 0;
  #drawnMs = 0;
  #wallMs = 0;
  #counted = { atMs: performance.now(), frames: 0, bytes: 0, of: null as StreamDecoder | null };
  #rates = { fps: 0, kbits: 0 };
  #bases: number[] = [];

  constructor(tile: number) {
    this.tile = tile;
  }

  get hasCanvas(): boolean {
    return this.#canvas !== null;
  }

  get isWaiting(): boolean {
    return this.#next !== null;
  }

  showOn(canvas: OffscreenCanvas, onLost: () => void): void {
    this.#canvas = new TileCanvas(canvas, onLost);
    // It is empty: what was shown on another one is not to be seen.
    this.#drawnMs = 0;
    this.isFirst = true;
    if (this.#size !== null) this.#canvas.resize(this.#size);
    this.wantsFragments = false;
  }

  showFragments(): void {
    this.#drop();
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
    this.#bases = [];
    this.#drop();
  }

  /** Takes the frame over: it is drawn, or closed, whichever comes first. */
  offer(frame: VideoFrame, wallMs: number): void {
    this.#drop();
    this.#next = { frame, wallMs, dueMs: this.isPaced ? this.#dueMs(frame.timestamp / 1_000) : 0 };
  }

  /** True: the screen shows another picture now. */
  paint(): boolean {
    const next = this.#next;
    if (next === null || performance.now() < next.dueMs) return false;
    this.#next = null;
    const isDrawn = this.#canvas?.draw(next.frame) === true;
    next.frame.close();
    if (isDrawn) this.note(next.wallMs);
    return isDrawn;
  }

  note(wallMs: number): void {
    this.#drawn += 1;
    this.#drawnMs = Date.now();
    this.#wallMs = wallMs;
    this.#interval.note(performance.now());
  }

  close(): void {
    this.#drop();
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
      lost: decoder.lost,
      skipped: decoder.skipped,
      keyDistanceMs: decoder.keyDistanceMs,
      rebuilds: decoder.rebuilds.count,
      isSoftware: decoder.isSoftware,
    };
  }

  /** Evenly: at the delay that all but the latest pictures of the last seconds had. */
  #dueMs(shownMs: number): number {
    const nowMs = performance.now();
    this.#bases.push(nowMs - shownMs);
    if (this.#bases.length > 64) this.#bases.shift();
    const least = Math.min(...this.#bases);
    const paceMs = Math.min(MAX_PACE_MS, quantile(this.#bases, 0.95) - least);
    return shownMs + least + paceMs;
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

  #drop(): void {
    this.#next?.frame.close();
    this.#next = null;
  }
}
