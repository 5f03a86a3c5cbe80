import type { Clock } from '../base/clock.js';
import { readCounters } from '../ring/counters.js';
import { awaitsSoundOf } from '../ring/glance.js';
import type { CameraFeeds } from './feeds.js';

/** How long whoever wakes a source waits for its first picture. */
export const FIRST_PICTURE_WAIT_MS = 10_000;
const LOOK_EVERY_MS = 50;

type Wait = { readonly ended: Promise<void>; readonly end: () => void };

/** Waits for the first pictures of sources that are connected for whoever asks. */
export class FirstPictures {
  readonly #feeds: CameraFeeds;
  readonly #clock: Clock;
  /** One for all who wait for the same source. */
  readonly #waits = new Map<string, Wait>();
  #isStopped = false;

  constructor(feeds: CameraFeeds, clock: Clock) {
    this.#feeds = feeds;
    this.#clock = clock;
  }

  /**
   * Resolves when the source can be described, sound and all; at the latest after 10 s, and at once if it isn't on
   * demand. From then on it is wanted for a while.
   */
  async of(source: string): Promise<void> {
    if (this.#isStopped || !this.#feeds.isOnDemand(source)) return;
    const wait = this.#waits.get(source) ?? this.#begin(source);
    await wait.ended;
  }

  /** Nobody waits any more. */
  stop(): void {
    this.#isStopped = true;
    for (const { end } of this.#waits.values()) end();
  }

  #begin(source: string): Wait {
    let ring: SharedArrayBuffer | null = null;
    let isGone = false;
    let resolve = (): void => {};
    const ended = new Promise<void>((done) => {
      resolve = done;
    });
    const end = (): void => {
      looking.cancel();
      timer.cancel();
      unfollow();
      this.#waits.delete(source);
      resolve();
    };
    const look = (): void => {
      if (isGone || (ring !== null && readCounters(ring).keyFrames > 0 && !awaitsSoundOf(ring))) end();
    };
    const unfollow = this.#feeds.follow(source, (feed) => {
      ring = feed?.ring ?? null;
      isGone = feed === null;
    });
    const looking = this.#clock.every(LOOK_EVERY_MS, look);
    const timer = this.#clock.after(FIRST_PICTURE_WAIT_MS, end);
    const wait = { ended, end };
    this.#waits.set(source, wait);
    look();
    return wait;
  }
}
