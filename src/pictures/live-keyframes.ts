import type { Clock, MonotonicMs } from '../base/clock.js';
import { lastFramesOf } from '../ring/counters.js';
import { ringIdOf } from '../ring/glance.js';
import { RingReader } from '../ring/reader.js';
import { cameraIdOf } from '../ring/source-key.js';
import { pictureError } from './errors.js';
import { annexBOf, type Keyframe } from './keyframe.js';

/** Whoever owns the cameras: who follows one is told of its ring, now and whenever it is another; null: it is gone. */
export type RingFeeds = {
  follow(source: string, listener: (feed: { readonly ring: SharedArrayBuffer } | null) => void): () => void;
};

/** After this long without a frame a camera counts as lost: what its ring holds is no live picture any more. */
const LIVE_WITHIN_MS = 10_000;
const WAIT_MS = 10_000;
/** A bell would be rung for each frame, and we wait for one in many. */
const LOOK_EVERY_MS = 100;

/** The newest keyframe of a ring; null: there is none, or the camera has fallen silent since. */
export const newestKeyframe = (ring: SharedArrayBuffer, nowMs: MonotonicMs): Keyframe | null => {
  const last = lastFramesOf(ring);
  if (last === null || nowMs - last.arrivalMs > LIVE_WITHIN_MS) return null;
  const reader = new RingReader(ring, { start: 'latest-key' });
  if (!reader.next() || !reader.isKey) return null;
  const info = reader.streamInfo();
  if (info === null) return null;
  const annexB = annexBOf(info.video, reader.lengthBytes, (target, start) => reader.copyTo(target, start));
  if (annexB === null) return null;
  const name = `${ringIdOf(ring)} ${reader.sequence}`;
  return { name, codec: info.video.codec, takenMs: reader.wallMs, annexB };
};

/** The newest keyframe of a camera's stream, waiting for it where there is none yet. */
export class LiveKeyframes {
  readonly #feeds: RingFeeds;
  readonly #clock: Clock;

  constructor(deps: { readonly feeds: RingFeeds; readonly clock: Clock }) {
    this.#feeds = deps.feeds;
    this.#clock = deps.clock;
  }

  /** Throws `not_found`, `no_picture` after 10 s in vain, or the signal's reason. */
  newest(source: string, signal: AbortSignal): Promise<Keyframe> {
    const clock = this.#clock;
    return new Promise((resolve, reject) => {
      let ring: SharedArrayBuffer | null = null;
      let isOver = false;
      const undo: (() => void)[] = [];
      const end = (settle: () => void): void => {
        isOver = true;
        for (const step of undo.splice(0)) step();
        settle();
      };
      const fail = (fault: unknown): void => end(() => reject(fault));
      const look = (): void => {
        if (ring === null || isOver) return;
        try {
          const keyframe = newestKeyframe(ring, clock.monotonicMs());
          if (keyframe !== null) end(() => resolve(keyframe));
        } catch (fault) {
          fail(fault);
        }
      };
      const onLeave = (): void => fail(signal.reason);
      signal.addEventListener('abort', onLeave);
      const looking = clock.every(LOOK_EVERY_MS, look);
      const patience = clock.after(WAIT_MS, () =>
        fail(pictureError('no_picture', 'the camera has no picture yet')),
      );
      undo.push(
        () => signal.removeEventListener('abort', onLeave),
        () => looking.cancel(),
        () => patience.cancel(),
      );
      const unfollow = this.#feeds.follow(source, (feed) => {
        if (feed === null) fail(pictureError('not_found', `there is no camera ${cameraIdOf(source)}`));
        else ring = feed.ring;
      });
      if (isOver) unfollow();
      else undo.push(unfollow);
      look();
    });
  }
}
