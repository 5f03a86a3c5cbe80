import { BucketCounts } from '../base/bucket-counts.js';
import type { Clock, MonotonicMs, Timer } from '../base/clock.js';
import { messageOf } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import { readCounters } from '../ring/counters.js';
import { sourceKey } from '../ring/source-key.js';
import type { Detections } from './detections.js';
import type { DetectEngine } from './engine-process.js';
import type { DetectFault, DetectOutcome } from './messages.js';
import { type KeyframeFault, type TakenKeyframe, takeNewestKeyframe } from './newest-keyframe.js';
import { type DetectionRules, whatCounts } from './what-counts.js';

/** A camera on which objects are to be found. */
export type DetectedCamera = { readonly cameraId: string; readonly rules: DetectionRules };

export type DetectingDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  /** Who follows a source is told of its ring, now and whenever it is another; null: it is gone. */
  readonly feeds: {
    follow(source: string, listener: (feed: { readonly ring: SharedArrayBuffer } | null) => void): () => void;
  };
  readonly engine: DetectEngine;
  readonly detections: Detections;
  /** Where the model is, fetched if need be; null: none was named. */
  readonly modelPath: (() => Promise<string>) | null;
};

/** Figures since the start, but for `waiting`. */
export type DetectingFigures = {
  readonly cameras: number;
  /** Cameras of which a keyframe is to be looked at. */
  readonly waiting: number;
  /** Keyframes that a newer one of their camera took the place of before they were looked at. */
  readonly dropped: number;
  readonly looked: number;
  readonly failed: number;
  readonly decodeSec: number;
  readonly inferSec: number;
  readonly decoderRestarts: number;
  readonly byLabel: ReadonlyMap<string, number>;
  /** How old keyframes were, in seconds: when their turn came, and when it was known what is in them. */
  readonly ages: { readonly taken: BucketCounts; readonly known: BucketCounts };
};

type Watched = {
  rules: DetectionRules;
  readonly unfollow: () => void;
  ring: SharedArrayBuffer | null;
  /** Of the ring, when one was seen last. */
  keyFrames: number;
  seenMs: MonotonicMs;
  isWaiting: boolean;
  isBusy: boolean;
  /** After a picture that can't be decoded: others aren't to wait for the next one. */
  notBeforeMs: number;
  error: string;
};

const LOOK_EVERY_MS = 100;
/** One a second at most, of a camera that sends them each second but not quite. */
const PERIOD_MS = 900;
/** One is decoded while the other is looked at. */
const AT_ONCE = 2;
const AFTER_BAD_PICTURE_MS = 10_000;
const AFTER_FAULT_MS = 30_000;
const MAX_LABELS = 200;
/** Keyframes come each second from most cameras, and each 10 s from some. */
const AGE_BOUNDS_SEC = [0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 30];

const NO_MODEL = 'no model is named: set DETECT_MODEL';

const general: Readonly<Record<Exclude<DetectFault['fault'], 'undecodable'>, (detail: string) => string>> = {
  model: (detail) => `the model can't be used: ${detail}`,
  ffmpeg_missing: () => 'detection needs ffmpeg, which is not there: install it, or name it in FFMPEG_PATH',
  engine_lost: (detail) => `the process that detects objects ended: ${detail}`,
};

const untakable: Readonly<Record<KeyframeFault, string>> = {
  too_large: 'its keyframes are too large to be looked at',
  size_unknown: "the size of its pictures isn't known: its parameter sets are missing or can't be read",
};

/**
 * Looks for objects in keyframes of cameras. No picture waits: a camera does, once, and what is looked at when its turn
 * comes is its newest keyframe. So the queue is never longer than there are cameras, and nothing in it is old.
 */
export class Detecting {
  readonly #deps: DetectingDeps;
  readonly #cameras = new Map<string, Watched>();
  readonly #queue: string[] = [];
  readonly #byLabel = new Map<string, number>();
  readonly #counts = { dropped: 0, looked: 0, failed: 0, decodeMs: 0, inferMs: 0 };
  readonly #ages = { taken: new BucketCounts(AGE_BOUNDS_SEC), known: new BucketCounts(AGE_BOUNDS_SEC) };
  #ticker: Timer | null = null;
  #running = 0;
  /** What is wrong for all cameras, and until when nothing is tried. */
  #error = '';
  #notBeforeMs = 0;

  constructor(deps: DetectingDeps) {
    this.#deps = deps;
    this.#error = deps.modelPath === null ? NO_MODEL : '';
    deps.detections.errorOf = (cameraId) => this.#errorOf(cameraId);
  }

  get figures(): DetectingFigures {
    const { decodeMs, inferMs, ...counts } = this.#counts;
    return {
      ...counts,
      ...{ cameras: this.#cameras.size, waiting: this.#queue.length, byLabel: this.#byLabel },
      ages: this.#ages,
      ...{ decodeSec: decodeMs / 1_000, inferSec: inferMs / 1_000 },
      decoderRestarts: this.#deps.engine.decoderRestarts,
    };
  }

  /** Makes these the cameras on which objects are found. */
  set(cameras: Iterable<DetectedCamera>): void {
    const wanted = new Map([...cameras].map(({ cameraId, rules }) => [cameraId, rules]));
    for (const [cameraId, watched] of this.#cameras)
      if (!wanted.has(cameraId)) this.#leave(cameraId, watched);
    for (const [cameraId, rules] of wanted) {
      const known = this.#cameras.get(cameraId);
      if (known === undefined) this.#watch(cameraId, rules);
      else known.rules = rules;
    }
    if (this.#cameras.size === 0) this.#sleep();
    else if (this.#deps.modelPath !== null)
      this.#ticker ??= this.#deps.clock.every(LOOK_EVERY_MS, () => this.#look());
  }

  stop(): void {
    this.set([]);
  }

  #watch(cameraId: string, rules: DetectionRules): void {
    let watched: Watched | null = null;
    let ring: SharedArrayBuffer | null = null;
    // Without a model nobody is to be connected for nothing.
    const unfollow =
      this.#deps.modelPath === null
        ? () => {}
        : this.#deps.feeds.follow(sourceKey(cameraId, 'sub'), (feed) => {
            ring = feed?.ring ?? null;
            if (watched !== null) Object.assign(watched, { ring, keyFrames: 0 });
          });
    const idle = { isWaiting: false, isBusy: false, notBeforeMs: 0, error: '' };
    watched = { ...idle, rules, unfollow, ring, keyFrames: 0, seenMs: -PERIOD_MS as MonotonicMs };
    this.#cameras.set(cameraId, watched);
  }

  #leave(cameraId: string, { unfollow }: Watched): void {
    this.#cameras.delete(cameraId);
    unfollow();
    this.#deps.detections.forget(cameraId);
  }

  #sleep(): void {
    this.#ticker?.cancel();
    this.#ticker = null;
    this.#queue.length = 0;
  }

  #look(): void {
    const nowMs = this.#deps.clock.monotonicMs();
    if (nowMs < this.#notBeforeMs) return;
    for (const [cameraId, watched] of this.#cameras) this.#lookAt(cameraId, watched, nowMs);
    this.#pump();
  }

  #lookAt(cameraId: string, watched: Watched, nowMs: MonotonicMs): void {
    if (watched.ring === null || nowMs < watched.notBeforeMs || nowMs - watched.seenMs < PERIOD_MS) return;
    const { keyFrames } = readCounters(watched.ring);
    if (keyFrames === watched.keyFrames || keyFrames === 0) return;
    watched.keyFrames = keyFrames;
    watched.seenMs = nowMs;
    if (watched.isWaiting) {
      this.#counts.dropped += 1;
      return;
    }
    watched.isWaiting = true;
    this.#queue.push(cameraId);
  }

  #pump(): void {
    if (this.#deps.clock.monotonicMs() < this.#notBeforeMs) return;
    while (this.#running < AT_ONCE && this.#queue.length > 0) {
      // One at a time of each camera, so that what is seen of it comes in order.
      const next = this.#queue.findIndex((id) => this.#cameras.get(id)?.isBusy !== true);
      const [cameraId] = next < 0 ? [] : this.#queue.splice(next, 1);
      if (cameraId === undefined) return;
      const watched = this.#cameras.get(cameraId);
      if (watched === undefined) continue;
      watched.isWaiting = false;
      const taken = watched.ring === null ? null : takeNewestKeyframe(watched.ring);
      if (taken === null) continue;
      if (typeof taken === 'string') {
        watched.error = untakable[taken];
        continue;
      }
      this.#running += 1;
      this.#countAge('taken', taken);
      watched.isBusy = true;
      void this.#detect(cameraId, watched, taken)
        .catch((fault) => this.#deps.log.error('detection failed', { reason: messageOf(fault) }))
        .finally(() => {
          this.#running -= 1;
          watched.isBusy = false;
          this.#pump();
        });
    }
  }

  async #detect(cameraId: string, watched: Watched, taken: TakenKeyframe): Promise<void> {
    const outcome = await this.#outcomeOf(taken);
    // It may be gone meanwhile, or detect no more.
    if (this.#cameras.get(cameraId) !== watched) return;
    if ('fault' in outcome) {
      this.#onFault(cameraId, watched, outcome);
      return;
    }
    this.#tellError('');
    watched.error = '';
    this.#countAge('known', taken);
    this.#counts.looked += 1;
    this.#counts.decodeMs += outcome.decodeMs;
    this.#counts.inferMs += outcome.inferMs;
    const objects = whatCounts(outcome.objects, watched.rules);
    for (const { label } of objects) this.#count(label);
    this.#deps.detections.add(cameraId, { wallMs: taken.wallMs, source: 'model', objects }, taken);
  }

  async #outcomeOf({ job }: TakenKeyframe): Promise<DetectOutcome> {
    let path: string;
    try {
      path = (await this.#deps.modelPath?.()) ?? '';
    } catch (fault) {
      return { fault: 'model', detail: messageOf(fault) };
    }
    return this.#deps.engine.detect(job, path);
  }

  #onFault(cameraId: string, watched: Watched, { fault, detail }: DetectFault): void {
    this.#counts.failed += 1;
    const nowMs = this.#deps.clock.monotonicMs();
    if (fault !== 'undecodable') {
      this.#notBeforeMs = nowMs + AFTER_FAULT_MS;
      this.#tellError(general[fault](detail));
      return;
    }
    watched.notBeforeMs = nowMs + AFTER_BAD_PICTURE_MS;
    if (watched.error === '')
      this.#deps.log.warn('a keyframe could not be decoded to detect objects', {
        camera_id: cameraId,
        detail,
      });
    watched.error = "its keyframes can't be decoded";
  }

  /** The log tells of it once. */
  #tellError(error: string): void {
    if (error !== '' && error !== this.#error)
      this.#deps.log.error('objects can not be detected', { reason: error });
    this.#error = error;
  }

  /** After a clock was set back its age may seem to be below nothing. */
  #countAge(step: 'taken' | 'known', { wallMs }: TakenKeyframe): void {
    this.#ages[step].add(Math.max(0, this.#deps.clock.wallMs() - wallMs) / 1_000);
  }

  /** Of a model with names without end, the first ones alone are told apart. */
  #count(label: string): void {
    const known = this.#byLabel.has(label) || this.#byLabel.size < MAX_LABELS ? label : 'other';
    this.#byLabel.set(known, (this.#byLabel.get(known) ?? 0) + 1);
  }

  #errorOf(cameraId: string): string {
    const watched = this.#cameras.get(cameraId);
    return watched === undefined ? '' : this.#error || watched.error;
  }
}
