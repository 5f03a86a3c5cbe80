import type { Clock } from '../base/clock.js';
import { AppError } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import { Turns, type TurnsOptions } from '../base/turns.js';
import { cameraIdOf, sourceFields, sourceKeysOf } from '../ring/source-key.js';
import { type PictureErrorCode, pictureError, picturesBusy } from './errors.js';
import type { Keyframe } from './keyframe.js';
import { LiveKeyframes, type RingFeeds } from './live-keyframes.js';
import type { DecodeFault, DecodeJob, DecodeOutcome } from './messages.js';
import { type Picture, pictureOf } from './picture.js';
import { PictureCache } from './picture-cache.js';
import { type FrameArchive, recordedKeyframe } from './recorded-keyframe.js';
import { SharedWork } from './shared-work.js';

export type PicturesOptions = {
  /** Pictures that are decoded at the same time. */
  readonly atOnce: number;
};

/** A picture of a recording; `isSettled`: another will never be nearer to the moment that was asked for. */
export type ArchivedPicture = Picture & { readonly isSettled: boolean };

export type PicturesDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly feeds: RingFeeds;
  readonly archive: FrameArchive;
  readonly decoder: { decode(job: DecodeJob): Promise<DecodeOutcome> };
};

/** What was done since the start, and what waits now. */
export type PictureFigures = {
  readonly decoded: number;
  readonly failed: Readonly<Record<DecodeFault['fault'], number>>;
  readonly waiting: number;
};

type Wanted = {
  /** The camera's stream of which it is a picture; recordings are of the main one. */
  readonly source: string;
  readonly moment: string;
  readonly maxWidth: number | null;
  readonly goodForMs: number;
  readonly find: (signal: AbortSignal) => Promise<Keyframe>;
};

/** Cameras take turns, so that whoever asks for one of them in a thousand sizes holds up nobody else. */
const TURNS: Omit<TurnsOptions, 'atOnce'> = { maxWaiting: 256, maxInLane: 16, patienceMs: 10_000 };
/** Those who wait for a camera's picture, and those who wait for their turn. */
const MAX_WANTED = 1_024;
const MAX_CACHE_BYTES = 32 << 20;
/** No camera's picture is made more often in one size. */
const LIVE_FOR_MS = 1_000;
/** Recordings are looked at again after this long: they may be deleted. */
const ARCHIVED_FOR_MS = 60_000;
/** By then what was recorded at a moment is in the archive, and stays the last before it. */
const SETTLED_AFTER_MS = 300_000;

/** Pictures of cameras as JPEG: one decoding for all who ask for the same at about the same time. */
export class Pictures {
  readonly #deps: PicturesDeps;
  readonly #turns: Turns;
  readonly #live: LiveKeyframes;
  readonly #shared = new SharedWork<Picture>();
  readonly #cache = new PictureCache(MAX_CACHE_BYTES);
  readonly #failed = { missing: 0, unstartable: 0, too_slow: 0, undecodable: 0 };
  /** The streams whose last picture couldn't be made: the log tells of each once. */
  readonly #failing = new Set<string>();
  #decoded = 0;

  constructor({ atOnce }: PicturesOptions, deps: PicturesDeps) {
    this.#deps = deps;
    this.#turns = new Turns({ ...TURNS, atOnce }, { clock: deps.clock, busy: picturesBusy });
    this.#live = new LiveKeyframes(deps);
  }

  /** For metrics. */
  get figures(): PictureFigures {
    return { decoded: this.#decoded, failed: { ...this.#failed }, waiting: this.#turns.waiting };
  }

  /**
   * The newest keyframe of a camera's stream, `maxWidth` wide at most. Waits for it where there is none yet, 10 s at most, and no
   * longer than somebody wants it. Throws a PictureErrorCode, or the signal's reason.
   */
  live(source: string, maxWidth: number | null, signal: AbortSignal): Promise<Picture> {
    const find = (wanted: AbortSignal): Promise<Keyframe> => this.#live.newest(source, wanted);
    return this.#picture({ source, moment: 'live', goodForMs: LIVE_FOR_MS, maxWidth, find }, signal);
  }

  /** The recorded keyframe at this moment, or the last one before it. Throws what the archive throws, too. */
  async archived(
    cameraId: string,
    atMs: number,
    maxWidth: number | null,
    signal: AbortSignal,
  ): Promise<ArchivedPicture> {
    const isSettled = atMs < this.#deps.clock.wallMs() - SETTLED_AFTER_MS;
    const goodForMs = isSettled ? ARCHIVED_FOR_MS : LIVE_FOR_MS;
    const find = async (): Promise<Keyframe> => {
      const keyframe = await recordedKeyframe(this.#deps.archive, cameraId, atMs);
      if (keyframe === null) throw errorOf('undecodable');
      return keyframe;
    };
    const wanted = { source: cameraId, moment: String(atMs), goodForMs, maxWidth, find };
    return { ...(await this.#picture(wanted, signal)), isSettled };
  }

  /** The camera is deleted. */
  forget(cameraId: string): void {
    this.#cache.forget(cameraId);
    for (const source of sourceKeysOf(cameraId)) this.#failing.delete(source);
  }

  async #picture(wanted: Wanted, signal: AbortSignal): Promise<Picture> {
    const key = `${wanted.source} ${wanted.moment} ${wanted.maxWidth}`;
    const kept = this.#cache.get(key);
    if (kept !== null && this.#deps.clock.monotonicMs() < kept.goodUntilMs) return pictureIn(kept.outcome);
    if (this.#shared.count >= MAX_WANTED) throw picturesBusy();
    return this.#shared.run(key, signal, async (over) =>
      pictureIn(await this.#made(key, wanted, await wanted.find(over), over)),
    );
  }

  async #made(
    key: string,
    { source, maxWidth, goodForMs }: Wanted,
    keyframe: Keyframe,
    signal: AbortSignal,
  ): Promise<Picture | AppError> {
    const cameraId = cameraIdOf(source);
    const kept = this.#cache.get(key);
    const isSame = kept?.keyframe === keyframe.name && !(kept.outcome instanceof AppError);
    const outcome = isSame
      ? kept.outcome
      : await this.#turns.run(cameraId, () => this.#decode(source, keyframe, maxWidth), signal);
    const keptForMs = outcome instanceof AppError ? LIVE_FOR_MS : goodForMs;
    const goodUntilMs = this.#deps.clock.monotonicMs() + keptForMs;
    this.#cache.set(key, cameraId, { keyframe: keyframe.name, outcome, goodUntilMs });
    return outcome;
  }

  async #decode(
    source: string,
    { codec, annexB, takenMs }: Keyframe,
    maxWidth: number | null,
  ): Promise<Picture | AppError> {
    const outcome = await this.#deps.decoder.decode({ codec, maxWidth, annexB });
    if ('jpeg' in outcome) {
      this.#decoded += 1;
      this.#failing.delete(source);
      return pictureOf(outcome.jpeg, takenMs);
    }
    const { fault, detail } = outcome;
    this.#failed[fault] += 1;
    if (!this.#failing.has(source)) {
      this.#failing.add(source);
      this.#deps.log.warn('a picture could not be decoded', { ...sourceFields(source), fault, detail });
    }
    return errorOf(fault);
  }
}

const pictureIn = (outcome: Picture | AppError): Picture => {
  if (outcome instanceof AppError) throw outcome;
  return outcome;
};

/** What ffmpeg said of it is in the log. */
const errorOf = (fault: DecodeFault['fault']): AppError<PictureErrorCode> => {
  switch (fault) {
    case 'missing':
      return pictureError(
        'ffmpeg_missing',
        'pictures need ffmpeg, which is not there: install the package ffmpeg, or name the program in FFMPEG_PATH',
      );
    case 'unstartable':
      return pictureError('pictures_busy', 'no process could be started to decode the picture');
    case 'too_slow':
      return pictureError('picture_undecodable', 'ffmpeg took too long to decode what the camera sent');
    case 'undecodable':
      return pictureError('picture_undecodable', 'ffmpeg can make no picture of what the camera sent');
  }
};
