import { monotonicMs } from '../../player/monotonic.js';

const MAX_KEPT = 200;
const MAX_IN_FLIGHT = 2;
/** Why there is none isn't known: perhaps nobody answered, or it was recorded a moment ago. */
const NONE_FOR_MS = 5_000;

/** `untilMs`: asked for again from then on. */
type Kept = { readonly url: string | null; readonly untilMs: number };

export type LoadPicture = (camera: string, atMs: number, signal: AbortSignal) => Promise<Blob | null>;

type Wish = {
  readonly key: string;
  readonly camera: string;
  readonly atMs: number;
  readonly done: (url: string | null) => void;
};

/** Small pictures of moments: those that were looked at stay; of those that are wished for the newest wins. */
export class Thumbnails {
  readonly #load: LoadPicture;
  readonly #kept = new Map<string, Kept>();
  readonly #abort = new AbortController();
  #inFlight = 0;
  #wish: Wish | null = null;

  constructor(load: LoadPicture) {
    this.#load = load;
  }

  /** `everyMs`: moments as near as this show the same picture. */
  get(camera: string, timeMs: number, everyMs: number): Promise<string | null> {
    const atMs = Math.floor(timeMs / everyMs) * everyMs;
    const key = `${camera} ${atMs}`;
    const known = this.#kept.get(key);
    if (known !== undefined && monotonicMs() < known.untilMs) return Promise.resolve(known.url);
    return new Promise((resolve) => {
      this.#wish?.done(null);
      this.#wish = { key, camera, atMs, done: resolve };
      this.#next();
    });
  }

  close(): void {
    this.#abort.abort();
    for (const { url } of this.#kept.values()) if (url !== null) URL.revokeObjectURL(url);
    this.#kept.clear();
  }

  #next(): void {
    const wish = this.#wish;
    if (wish === null || this.#inFlight >= MAX_IN_FLIGHT) return;
    this.#wish = null;
    this.#inFlight += 1;
    void this.#load(wish.camera, wish.atMs, this.#abort.signal).then((blob) => {
      this.#inFlight -= 1;
      const url = blob === null ? null : URL.createObjectURL(blob);
      this.#keep(wish.key, url);
      wish.done(url);
      this.#next();
    });
  }

  #keep(key: string, url: string | null): void {
    this.#kept.set(key, {
      url,
      untilMs: url === null ? monotonicMs() + NONE_FOR_MS : Number.POSITIVE_INFINITY,
    });
    const [oldest] = this.#kept;
    if (this.#kept.size <= MAX_KEPT || oldest === undefined) return;
    this.#kept.delete(oldest[0]);
    if (oldest[1].url !== null) URL.revokeObjectURL(oldest[1].url);
  }
}
