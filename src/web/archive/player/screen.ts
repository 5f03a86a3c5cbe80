/** What is drawn: a decoded picture, or a copy of one. */
export type Drawable = VideoFrame | ImageBitmap;

export const sizeOf = (picture: Drawable): { readonly width: number; readonly height: number } =>
  'displayWidth' in picture ? { width: picture.displayWidth, height: picture.displayHeight } : picture;

/** A tile's canvas: as large as the tile, in the picture's own shape. */
export class Screen {
  readonly #canvas: OffscreenCanvas;
  readonly #context: OffscreenCanvasRenderingContext2D | null;
  #roomWidth: number;
  #roomHeight: number;

  constructor(canvas: OffscreenCanvas) {
    this.#canvas = canvas;
    this.#context = canvas.getContext('2d', { alpha: false, desynchronized: false });
    this.#roomWidth = canvas.width;
    this.#roomHeight = canvas.height;
  }

  resize(width: number, height: number): void {
    this.#roomWidth = Math.max(16, Math.round(width));
    this.#roomHeight = Math.max(16, Math.round(height));
  }

  draw(picture: Drawable): void {
    const { width, height } = sizeOf(picture);
    const scale = Math.min(this.#roomWidth / width, this.#roomHeight / height, 1);
    const [drawnWidth, drawnHeight] = [
      Math.max(1, Math.round(width * scale)),
      Math.max(1, Math.round(height * scale)),
    ];
    const canvas = this.#canvas;
    if (canvas.width !== drawnWidth || canvas.height !== drawnHeight) {
      canvas.width = drawnWidth;
      canvas.height = drawnHeight;
    }
    this.#context?.drawImage(picture, 0, 0, drawnWidth, drawnHeight);
  }

  clear(): void {
    this.#context?.clearRect(0, 0, this.#canvas.width, this.#canvas.height);
  }
}
