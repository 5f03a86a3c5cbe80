import { AppError, messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { sourceFields } from '../../ring/source-key.js';
import type { CameraFeed, CameraFeeds } from '../feeds.js';
import type { FrameMessages } from './frame-messages.js';
import { Source, type StreamNumbers } from './source.js';

type Followed = { readonly source: Source; unfollow: () => void };

export type SourcesDeps = {
  readonly feeds: CameraFeeds;
  readonly frames: FrameMessages;
  readonly log: Logger;
  nowMs(): number;
  /** The source can't be shown any more, for this reason. */
  onEnd(source: Source, thrown: unknown): void;
};

/** The sources that some wall shows. */
export class Sources {
  readonly #deps: SourcesDeps;
  readonly #followed = new Map<string, Followed>();
  /** Of all that were ever shown, as long as their camera is known. */
  readonly #numbers = new Map<string, StreamNumbers>();
  #lastNumber = 0;

  constructor(deps: SourcesDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#followed.size;
  }

  find(key: string): Source | null {
    return this.#followed.get(key)?.source ?? null;
  }

  /** The source with this key, followed from now on until it is left. */
  get(key: string): Source {
    const known = this.find(key);
    if (known !== null) return known;
    const { feeds, frames } = this.#deps;
    const source = new Source(key, this.#numbersOf(key), frames);
    const followed: Followed = { source, unfollow: () => {} };
    this.#followed.set(key, followed);
    followed.unfollow = feeds.follow(key, (feed) => {
      if (feed !== null) this.#move(source, feed);
      // Of an unknown camera at once, before any tile shows it: then it merely has no picture.
      else this.#deps.onEnd(source, new AppError('not_found', 'the camera was deleted'));
    });
    return source;
  }

  /** Nobody may show it any more. */
  leaveIfUnused(source: Source): void {
    const followed = this.#followed.get(source.key);
    if (followed?.source !== source || source.streams.length > 0) return;
    this.#followed.delete(source.key);
    followed.unfollow();
    source.close();
  }

  /** Sends all that is new of all of them. */
  pump(nowMs: number): void {
    for (const { source } of this.#followed.values()) {
      try {
        source.pump(nowMs);
      } catch (fault) {
        this.#fail(source, fault);
      }
    }
  }

  /** The camera is deleted: another one of its name is another. */
  forget(key: string): void {
    this.#numbers.delete(key);
  }

  #numbersOf(key: string): StreamNumbers {
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const numbers = { picture: this.#lastNumber + 1, sound: this.#lastNumber + 2 };
    this.#lastNumber += 2;
    this.#numbers.set(key, numbers);
    return numbers;
  }

  #move(source: Source, feed: CameraFeed): void {
    try {
      source.moveTo(feed, this.#deps.nowMs());
    } catch (fault) {
      this.#fail(source, fault);
    }
  }

  /** A fault of our own ends what shows this source, and nothing else. */
  #fail(source: Source, fault: unknown): void {
    this.#deps.log.error('a source of walls failed', {
      ...sourceFields(source.key),
      reason: messageOf(fault),
    });
    this.#deps.onEnd(source, fault);
  }
}
