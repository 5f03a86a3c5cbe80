import { signal } from '@preact/signals';
import { asProblem, type Problem } from '../../data/problem.js';
import { serviceNowMs } from '../../data/service-clock.js';
import { loadTimeline, type TimelineLane } from '../../data/timeline.js';
import { monotonicMs } from '../../player/monotonic.js';
import { type Buckets, joinLanes, type Lane, withAway } from './lane.js';

const HOUR_MS = 3_600_000;
/** Asked for at once. */
const CHUNK_MS = 6 * HOUR_MS;
const BUCKET_MS = 30_000;
/** Where it still grows, and where it may be deleted. */
const OPEN_STALE_MS = 5_000;
const PAST_STALE_MS = 120_000;
const MAX_IN_FLIGHT = 3;
/** A month of the most cameras. */
const MAX_CHUNKS = 160;
const RETRY_MS = 3_000;

type Chunk = {
  readonly tag: string | null;
  /** By the clock that nobody sets, as all that is waited for. */
  readonly loadedMs: number;
  readonly lanes: ReadonlyMap<string, Lane>;
};

const laneOf = ({ recorded, gaps, away = [], motion, labels }: TimelineLane, fromMs: number): Lane => {
  const buckets = (values: readonly number[]): Buckets => ({ fromMs, bucketMs: BUCKET_MS, values });
  return {
    ...withAway({ recorded, gaps }, away),
    motion: motion.length === 0 ? [] : [buckets(motion)],
    labels: new Map(Object.entries(labels).map(([label, values]) => [label, [buckets(values)]])),
  };
};

/** What cameras have, as far as it was looked at: asked for in pieces, kept, and looked at anew where it may change. */
export class TimelineStore {
  readonly lanes = signal<ReadonlyMap<string, Lane>>(new Map());
  readonly problem = signal<Problem | null>(null);
  #cameras: readonly string[] = [];
  readonly #chunks = new Map<number, Chunk>();
  readonly #loading = new Set<number>();
  #wanted: number[] = [];
  #retryAtMs = 0;
  #seen: readonly [fromMs: number, toMs: number] = [0, 0];

  /** Other cameras: what is known of the old ones is forgotten. */
  use(cameras: readonly string[]): void {
    if (cameras.join() === this.#cameras.join()) return;
    this.#cameras = cameras;
    this.#chunks.clear();
    this.#loading.clear();
    this.#wanted = [];
    this.#join();
  }

  /** Somebody wants to wait no longer after a fault. */
  again(): void {
    this.#retryAtMs = 0;
    this.look(...this.#seen);
  }

  /** A time is seen: what isn't known of it, or may be another by now, is asked for. */
  look(fromMs: number, toMs: number): void {
    this.#seen = [fromMs, toMs];
    const [nowMs, askedMs] = [serviceNowMs(), monotonicMs()];
    if (this.#cameras.length === 0 || askedMs < this.#retryAtMs) return;
    const wanted: number[] = [];
    const endMs = Math.min(toMs, nowMs);
    for (let at = Math.floor(fromMs / CHUNK_MS) * CHUNK_MS; at < endMs; at += CHUNK_MS) {
      const chunk = this.#chunks.get(at);
      const staleMs = at + CHUNK_MS > nowMs - 2 * OPEN_STALE_MS ? OPEN_STALE_MS : PAST_STALE_MS;
      if (this.#loading.has(at)) continue;
      if (chunk === undefined || askedMs - chunk.loadedMs > staleMs) wanted.push(at);
    }
    // What isn't known at all comes first, the newest before the others.
    const isKnown = (at: number): number => (this.#chunks.has(at) ? 1 : 0);
    this.#wanted = wanted.sort((a, b) => isKnown(a) - isKnown(b) || b - a);
    this.#next();
  }

  #next(): void {
    while (this.#loading.size < MAX_IN_FLIGHT) {
      const at = this.#wanted.shift();
      if (at === undefined) return;
      if (this.#loading.has(at)) continue;
      this.#loading.add(at);
      const cameras = this.#cameras;
      void this.#load(at, cameras).finally(() => {
        if (cameras !== this.#cameras) return;
        this.#loading.delete(at);
        this.#next();
      });
    }
  }

  async #load(at: number, cameras: readonly string[]): Promise<void> {
    const known = this.#chunks.get(at);
    const loadedMs = monotonicMs();
    try {
      const range = { fromMs: at, toMs: at + CHUNK_MS, bucketMs: BUCKET_MS };
      const told = await loadTimeline(cameras, range, known?.tag ?? null);
      if (cameras !== this.#cameras) return;
      this.problem.value = null;
      if (told === null) {
        if (known !== undefined) this.#chunks.set(at, { ...known, loadedMs });
        return;
      }
      const lanes = new Map(Object.entries(told.lanes).map(([id, lane]) => [id, laneOf(lane, at)]));
      this.#chunks.set(at, { tag: told.tag, loadedMs, lanes });
      this.#forgetFarthest(at);
      this.#join();
    } catch (fault) {
      if (cameras !== this.#cameras) return;
      this.problem.value = asProblem(fault);
      this.#retryAtMs = monotonicMs() + RETRY_MS;
      this.#wanted = [];
    }
  }

  #forgetFarthest(from: number): void {
    if (this.#chunks.size <= MAX_CHUNKS) return;
    const [farthest] = [...this.#chunks.keys()].sort((a, b) => Math.abs(b - from) - Math.abs(a - from));
    if (farthest !== undefined) this.#chunks.delete(farthest);
  }

  #join(): void {
    const chunks = [...this.#chunks].sort(([a], [b]) => a - b).map(([, chunk]) => chunk);
    const laneOfCamera = (id: string): Lane => joinLanes(chunks.flatMap(({ lanes }) => lanes.get(id) ?? []));
    this.lanes.value = new Map(this.#cameras.map((id) => [id, laneOfCamera(id)]));
  }
}
