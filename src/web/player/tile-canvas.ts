import type { TileSize } from './decode-messages.js';

/** A tile's canvas: as large as it is seen, never larger than its pictures. */
export class TileCanvas {
  readonly #canvas: OffscreenCanvas;
  readonly #context: OffscreenCanvasRenderingContext2D | null;
  #size: TileSize = { width: 640, height: 360 };
  #isLost = false;

  /** `onLost`: the browser took the canvas away and did not give it back in time; the tile needs another one. */
  constructor(canvas: OffscreenCanvas, restoreWithinMs: number, onLost: () => void) {
    this.#canvas = canvas;
    this.#context = canvas.getContext('2d', { alpha: false });
    let waiting: ReturnType<typeof setTimeout> | undefined;
    canvas.addEventListener('contextlost', () => {
      this.#isLost = true;
      waiting = setTimeout(onLost, restoreWithinMs);
    });
    canvas.addEventListener('contextrestored', () => {
      clearTimeout(waiting);
      this.#isLost = false;
    });
    if (this.#context === null) setTimeout(onLost, 0);
  }

  resize(size: TileSize): void {
    this.#size = size;
  }

  /** False: there is nothing to draw on. */
  draw(frame: VideoFrame): boolean {
    if (this.#context === null || this.#isLost) return false;
    const { displayWidth, displayHeight } = frame;
    const scale = Math.min(1, this.#size.width / displayWidth, this.#size.height / displayHeight);
    const width = Math.max(1, Math.round(displayWidth * scale));
    const height = Math.max(1, Math.round(displayHeight * scale));
    if (this.#canvas.width !== width || this.#canvas.height !== height) {
      this.#canvas.width = width;
      this.#canvas.height = height;
    }
    this.#context.drawImage(frame, 0, 0, width, height);
    return true;
  }
}
