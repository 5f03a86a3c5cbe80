import type { Clock, MonotonicMs } from '../base/clock.js';
import type { Box } from '../objects/seen-object.js';
import type { Detection } from './detections.js';
import type { TakenKeyframe } from './newest-keyframe.js';
import { GONE_AFTER_MS, REMEMBERED_MS, type Track, Tracker } from './tracker.js';

/** Where what was seen is kept. */
export type PassageLog = {
  begin(passage: {
    readonly cameraId: string;
    readonly label: string;
    readonly score: number;
    readonly fromMs: number;
    readonly zone: string;
  }): number;
  end(id: number, score: number, toMs: number): void;
  /** A picture in which it is seen best, until now. */
  picture(id: number, keyframe: TakenKeyframe, box: Box): void;
};

/** A track that lasted is a passage; until then it may be a leaf in the wind. */
const MIN_HITS = 2;
/** Of pictures that are held in case they are the best. */
const MAX_HELD_BYTES = 64_000_000;

type Best = { readonly keyframe: TakenKeyframe; readonly box: Box; readonly score: number };
type Followed = {
  id: number | null;
  best: Best | null;
  /** The best picture is shown; any is. */
  isShown: boolean;
  hasPicture: boolean;
};
type OfCamera = { tracker: Tracker; newestMs: number; heardMs: MonotonicMs };

/** Makes one event of an object for as long as it is seen, with the picture that shows it best. */
export class Passages {
  readonly #clock: Clock;
  readonly #log: PassageLog;
  readonly #cameras = new Map<string, OfCamera>();
  readonly #followed = new Map<Track, Followed>();
  #heldBytes = 0;
  #isStopped = false;

  constructor(deps: { readonly clock: Clock; readonly log: PassageLog }) {
    this.#clock = deps.clock;
    this.#log = deps.log;
  }

  /** Objects that are followed now: without those that stand. */
  get count(): number {
    return this.#followed.size;
  }

  onSeen(cameraId: string, { wallMs, objects }: Detection, keyframe: TakenKeyframe | null): void {
    if (this.#isStopped) return;
    const heardMs = this.#clock.monotonicMs();
    const camera = this.#cameras.get(cameraId) ?? { tracker: new Tracker(), newestMs: wallMs, heardMs };
    this.#cameras.set(cameraId, camera);
    // A clock that was set begins anew: else nothing would ever be gone, or all at once.
    if (wallMs < camera.newestMs - GONE_AFTER_MS) {
      this.#end(camera.tracker.end());
      camera.tracker = new Tracker();
    }
    camera.newestMs = wallMs;
    camera.heardMs = heardMs;
    this.#end(camera.tracker.expire(wallMs));
    const { begun, seen, stood } = camera.tracker.update(wallMs, objects);
    for (const track of begun)
      this.#followed.set(track, { ...{ id: null, best: null }, isShown: false, hasPicture: false });
    for (const track of [...begun, ...seen]) {
      const object = objects.find(({ box }) => box === track.box);
      const followed = this.#followed.get(track);
      if (followed === undefined || object === undefined) continue;
      if (keyframe !== null) this.#keepBest(followed, { keyframe, box: object.box, score: object.score });
      if (followed.id === null && track.hits >= MIN_HITS) this.#begin(cameraId, track, followed);
      // Of what cameras see by themselves there is a keyframe only now and then.
      else if (!followed.hasPicture) this.#show(followed);
    }
    this.#end(stood);
  }

  /** Ends what nobody has heard of: to be called about once a second. */
  tick(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [cameraId, { tracker, heardMs }] of this.#cameras) {
      if (nowMs - heardMs >= GONE_AFTER_MS) this.#end(tracker.end());
      // What stands there is not to begin anew when the camera is back.
      if (nowMs - heardMs >= REMEMBERED_MS) this.#cameras.delete(cameraId);
    }
  }

  /** Ends all of them. What cameras see until they are stopped, too, is seen by the next service: nobody is told of it by this one. */
  stop(): void {
    this.#isStopped = true;
    for (const { tracker } of this.#cameras.values()) this.#end(tracker.end());
    this.#cameras.clear();
  }

  #begin(cameraId: string, { label, bestScore, firstMs, zone }: Track, followed: Followed): void {
    followed.id = this.#log.begin({ cameraId, label, score: bestScore, fromMs: firstMs, zone });
    this.#show(followed);
  }

  #end(tracks: readonly Track[]): void {
    for (const track of tracks) {
      const followed = this.#followed.get(track);
      this.#followed.delete(track);
      if (followed === undefined) continue;
      if (followed.id !== null) {
        this.#log.end(followed.id, track.bestScore, track.lastMs);
        if (!followed.isShown) this.#show(followed);
      }
      this.#heldBytes -= followed.best?.keyframe.job.annexB.length ?? 0;
    }
  }

  #show(followed: Followed): void {
    const { id, best } = followed;
    if (id === null || best === null) return;
    followed.isShown = true;
    followed.hasPicture = true;
    this.#log.picture(id, best.keyframe, best.box);
  }

  #keepBest(followed: Followed, best: Best): void {
    const { best: before } = followed;
    if (before !== null && before.score >= best.score) return;
    const more = best.keyframe.job.annexB.length - (before?.keyframe.job.annexB.length ?? 0);
    if (this.#heldBytes + more > MAX_HELD_BYTES) return;
    this.#heldBytes += more;
    followed.best = best;
    followed.isShown = false;
  }
}
