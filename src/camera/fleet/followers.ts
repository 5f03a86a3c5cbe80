import type { Clock, Timer } from '../../base/clock.js';
import { cameraIdOf, sourceKeysOf } from '../../ring/source-key.js';

/** Where a reader finds a source's frames: its ring, and the bell of the worker that fills it. */
export type CameraFeed = {
  readonly ring: SharedArrayBuffer;
  readonly bell: SharedArrayBuffer;
  /** The boxes that they come by before this one: none, where it connects the camera; null: that isn't known yet. */
  readonly path: readonly string[] | null;
};

/**
 * Called with the present feed, if there is one, and whenever the ring or its worker is replaced; null: the camera
 * is gone. One that only rests has its ring closed, and a new one when it goes on.
 */
export type FeedListener = (feed: CameraFeed | null) => void;

/** A source is wanted for so long after the last one has left: who reloads a page needs no new session. */
const LINGER_MS = 30_000;

type Following = { readonly listeners: Set<FeedListener>; lingering: Timer | null };

type FollowersDeps = {
  readonly clock: Clock;
  /** Whether there is a source of this key. */
  readonly has: (key: string) => boolean;
  readonly feed: (key: string) => CameraFeed | null;
  /** Whether a source is wanted, from now on. */
  readonly onWish: (key: string, isWanted: boolean) => void;
  /** A listener failed; the others were told all the same. */
  readonly onFault: (key: string, fault: unknown) => void;
};

/**
 * Who follows which key, and so whose frames somebody wants. While a camera has no sub-stream the key of that means
 * its main stream, also for those who have followed it before.
 */
export class Followers {
  readonly #deps: FollowersDeps;
  /** Keys that somebody follows, or did a moment ago. */
  readonly #byKey = new Map<string, Following>();
  #isStopped = false;

  constructor(deps: FollowersDeps) {
    this.#deps = deps;
  }

  /** The key of the source that a key means now. */
  sourceOf(key: string): string {
    return this.#deps.has(key) ? key : cameraIdOf(key);
  }

  isWanted(source: string): boolean {
    return this.#keysOf(source).some((key) => this.#byKey.has(key));
  }

  /** Returns what ends that. */
  follow(key: string, listener: FeedListener): () => void {
    const source = this.sourceOf(key);
    if (!this.#deps.has(source)) {
      listener(null);
      return () => {};
    }
    // Before the wish, which may bring another one.
    const feed = this.#deps.feed(source);
    const following = this.#byKey.get(key) ?? { listeners: new Set(), lingering: null };
    following.lingering?.cancel();
    following.lingering = null;
    following.listeners.add(listener);
    this.#byKey.set(key, following);
    this.#wish(source);
    if (feed !== null) listener(feed);
    return () => this.#leave(key, following, listener);
  }

  /** A source has another feed. */
  onFeed(source: string): void {
    const feed = this.#deps.feed(source);
    if (feed === null) return;
    for (const key of this.#keysOf(source)) this.#tell(key, feed);
  }

  /** There is another source: a main stream may be wanted less for that. */
  onAdded(source: string): void {
    if (source !== cameraIdOf(source)) this.#wish(cameraIdOf(source));
  }

  /** A source is gone; if that was a sub-stream alone, whoever follows it goes on with the main stream. */
  onRemoved(source: string): void {
    const main = this.sourceOf(source);
    if (this.#deps.has(main)) {
      this.#wish(main);
      const feed = this.#deps.feed(main);
      if (feed !== null) this.#tell(source, feed);
      return;
    }
    const following = this.#byKey.get(source);
    following?.lingering?.cancel();
    this.#byKey.delete(source);
    this.#tellAll(source, following?.listeners, null);
  }

  /** Nobody's wish outlasts this. */
  stop(): void {
    this.#isStopped = true;
    for (const { lingering } of this.#byKey.values()) lingering?.cancel();
  }

  /** All keys that mean this source, which may be about to be added. */
  #keysOf(source: string): readonly string[] {
    return sourceKeysOf(cameraIdOf(source)).filter((key) => key === source || this.sourceOf(key) === source);
  }

  #tell(key: string, feed: CameraFeed): void {
    this.#tellAll(key, this.#byKey.get(key)?.listeners, feed);
  }

  #tellAll(key: string, listeners: ReadonlySet<FeedListener> = new Set(), feed: CameraFeed | null): void {
    for (const listener of [...listeners]) {
      // One that was ended by another's news isn't told any more.
      if (!listeners.has(listener)) continue;
      try {
        listener(feed);
      } catch (fault) {
        this.#deps.onFault(key, fault);
      }
    }
  }

  #wish(source: string): void {
    this.#deps.onWish(source, this.isWanted(source));
  }

  #leave(key: string, following: Following, listener: FeedListener): void {
    if (!following.listeners.delete(listener) || following.listeners.size > 0) return;
    if (this.#byKey.get(key) !== following || this.#isStopped) return;
    following.lingering = this.#deps.clock.after(LINGER_MS, () => {
      this.#byKey.delete(key);
      this.#wish(this.sourceOf(key));
    });
  }
}
