import type { Notice } from '../../analytics/metadata.js';
import type { Clock } from '../../base/clock.js';

/** So long what a new pull point tells may be what the old one told. */
const OVERLAP_MS = 10_000;
const MAX_KEYS = 512;

type Told = Pick<Notice, 'state' | 'utcMs'>;

const isEqual = (one: Told, other: Told): boolean => one.state === other.state && one.utcMs === other.utcMs;

/** By key. */
const byKey = (notices: readonly Notice[]): Map<string, Told[]> => {
  const found = new Map<string, Told[]>();
  for (const notice of notices) found.set(notice.key, [...(found.get(notice.key) ?? []), notice]);
  return found;
};

/**
 * Tells once what two pull points of a camera tell, of which one takes over from the other: the new one begins with how all
 * is, and both have what happened while there were two.
 */
export class ToldNotices {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** By key, what was told last, the oldest first. */
  readonly #last = new Map<string, Told>();
  /** What the old one had when the new one was there already. */
  #rest: Notice[] = [];
  /** Of that, what the new one didn't repeat yet. */
  #both = new Map<string, Told[]>();
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Of an answer, what is news. */
  hear(notices: readonly Notice[]): Notice[] {
    const isOverlap = this.#clock.monotonicMs() < this.#untilMs;
    return notices.filter((notice) => {
      if (isOverlap && this.#isOld(notice)) return false;
      this.#both.delete(notice.key);
      this.#note(notice);
      return true;
    });
  }

  /** Of an answer of the old pull point, now that there is a new one; from its last one on the new one tells. */
  hearRest(notices: readonly Notice[], isLast: boolean): Notice[] {
    const news = this.hear(notices);
    this.#rest.push(...notices);
    if (!isLast) return news;
    this.#both = byKey(this.#rest);
    this.#rest = [];
    this.#untilMs = this.#clock.monotonicMs() + OVERLAP_MS;
    return news;
  }

  #isOld(notice: Notice): boolean {
    const last = this.#last.get(notice.key);
    if (last === undefined) return false;
    const both = this.#both.get(notice.key) ?? [];
    const index = both.findIndex((one) => isEqual(one, notice));
    if (index >= 0) both.splice(index, 1);
    const isBefore = notice.utcMs !== null && last.utcMs !== null && notice.utcMs < last.utcMs;
    return index >= 0 || isBefore || (notice.state !== 'once' && notice.state === last.state);
  }

  #note({ key, state, utcMs }: Notice): void {
    this.#last.delete(key);
    this.#last.set(key, { state, utcMs });
    if (this.#last.size <= MAX_KEYS) return;
    const [oldest] = this.#last.keys();
    if (oldest !== undefined) this.#last.delete(oldest);
  }
}
