import { serviceNowMs } from '../../data/service-clock.js';
import type { SeenObject } from '../../player/seen.js';

type Entry = { readonly atMs: number; readonly objects: readonly SeenObject[] };

export type LoadSeen = (
  camera: string,
  fromMs: number,
  toMs: number,
  signal: AbortSignal,
) => Promise<readonly Entry[]>;

/** What is drawn over a picture; `isOfIt`: it was seen in this very one, and not in one a little before. */
export type Seen = { readonly objects: readonly SeenObject[]; readonly isOfIt: boolean };

export const NOTHING_SEEN: Seen = { objects: [], isOfIt: true };

const PIECE_MS = 60_000;
/** As the service has it: it holds until something else is told, and no longer than this. */
const HOLDS_MS = 5_000;
/** Pictures are told apart by less than any camera's distance between two. */
const SAME_MS = 15;
/** What is recorded just now is looked at again, and what could not be read. */
const OPEN_MS = 30_000;
const AGAIN_MS = 4_000;
const MAX_PIECES = 64;
const MAX_IN_FLIGHT = 2;

type Piece = { readonly entries: readonly Entry[]; readonly againAtMs: number };
type Wish = { readonly key: string; readonly camera: string; readonly fromMs: number };

/** What was detected in recorded pictures, a minute at a time: those that were looked at last stay. */
export class RecordedSeen {
  readonly #load: LoadSeen;
  readonly #onChange: () => void;
  readonly #pieces = new Map<string, Piece>();
  readonly #wishes = new Map<string, Wish>();
  readonly #loading = new Set<string>();
  readonly #abort = new AbortController();

  constructor(load: LoadSeen, onChange: () => void) {
    this.#load = load;
    this.#onChange = onChange;
  }

  /** What was seen in the picture of a moment. */
  at(camera: string, shownMs: number): Seen {
    const piece = this.#pieces.get(keyOf(camera, startOf(shownMs)));
    const entry = piece?.entries.findLast(({ atMs }) => atMs <= shownMs + SAME_MS);
    if (entry === undefined || shownMs - entry.atMs > HOLDS_MS || entry.objects.length === 0)
      return NOTHING_SEEN;
    return { objects: entry.objects, isOfIt: shownMs - entry.atMs <= SAME_MS };
  }

  /** These are shown now: what isn't known of them is asked for. */
  want(shown: ReadonlyMap<string, number>): void {
    this.#wishes.clear();
    for (const [camera, shownMs] of shown) {
      const fromMs = startOf(shownMs);
      const key = keyOf(camera, fromMs);
      const known = this.#pieces.get(key);
      if (known !== undefined && serviceNowMs() < known.againAtMs) this.#touch(key, known);
      else if (!this.#loading.has(key)) this.#wishes.set(key, { key, camera, fromMs });
    }
    this.#next();
  }

  close(): void {
    this.#abort.abort();
    this.#wishes.clear();
  }

  #next(): void {
    for (const [key, wish] of this.#wishes) {
      if (this.#loading.size >= MAX_IN_FLIGHT) return;
      this.#wishes.delete(key);
      this.#loading.add(key);
      void this.#ask(wish).finally(() => {
        this.#loading.delete(key);
        this.#next();
      });
    }
  }

  async #ask({ key, camera, fromMs }: Wish): Promise<void> {
    const toMs = fromMs + PIECE_MS;
    try {
      const entries = await this.#load(camera, fromMs - HOLDS_MS, toMs, this.#abort.signal);
      const nowMs = serviceNowMs();
      const isSettled = toMs < nowMs - OPEN_MS;
      this.#touch(key, { entries, againAtMs: isSettled ? Number.POSITIVE_INFINITY : nowMs + AGAIN_MS });
    } catch {
      // What is known stays; pictures are shown without boxes.
      const entries = this.#pieces.get(key)?.entries ?? [];
      this.#touch(key, { entries, againAtMs: serviceNowMs() + AGAIN_MS });
    }
    if (!this.#abort.signal.aborted) this.#onChange();
  }

  #touch(key: string, piece: Piece): void {
    this.#pieces.delete(key);
    this.#pieces.set(key, piece);
    const [oldest] = this.#pieces.keys();
    if (this.#pieces.size > MAX_PIECES && oldest !== undefined) this.#pieces.delete(oldest);
  }
}

const startOf = (timeMs: number): number => Math.floor(timeMs / PIECE_MS) * PIECE_MS;
const keyOf = (camera: string, fromMs: number): string => `${fromMs} ${camera}`;
