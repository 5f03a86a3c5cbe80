/** A tile that was enlarged stays so for a while, however much happens. */
const LEAST_MS = 5_000;
/** After its end there is something to see yet. */
const AFTER_END_MS = 5_000;
/** A car that is parked is no news after that. */
const MOST_MS = 60_000;
const MAX_KEPT = 200;

type Told = { readonly cameraId: string; readonly beganMs: number; endedMs: number | null };

/** Which camera of a wall is shown large, since something was detected there. */
export class Enlarging {
  readonly #events = new Map<string, Told>();
  #shown: string | null = null;
  #sinceMs = 0;

  begin(id: string, cameraId: string, nowMs: number): void {
    this.#events.set(id, { cameraId, beganMs: nowMs, endedMs: null });
    const [oldest] = this.#events.keys();
    if (this.#events.size > MAX_KEPT && oldest !== undefined) this.#events.delete(oldest);
  }

  end(id: string, nowMs: number): void {
    const event = this.#events.get(id);
    if (event !== undefined) event.endedMs ??= nowMs;
  }

  /** Nobody wants to see more of what happened so far. */
  dismiss(): void {
    this.#events.clear();
    this.#shown = null;
  }

  /** The camera to enlarge of those that are here; null: none. The newest event counts. */
  shown(nowMs: number, isHere: (cameraId: string) => boolean): string | null {
    const isNews = ({ cameraId, beganMs, endedMs }: Told): boolean =>
      isHere(cameraId) &&
      nowMs - beganMs < MOST_MS &&
      (endedMs === null || nowMs - Math.max(endedMs, beganMs + LEAST_MS - AFTER_END_MS) < AFTER_END_MS);
    const news = [...this.#events.values()].filter(isNews);
    const isKept =
      this.#shown !== null && nowMs - this.#sinceMs < LEAST_MS && isHere(this.#shown) && news.length > 0;
    if (isKept) return this.#shown;
    const next = news.at(-1)?.cameraId ?? null;
    if (next !== this.#shown) this.#sinceMs = nowMs;
    this.#shown = next;
    return next;
  }
}
