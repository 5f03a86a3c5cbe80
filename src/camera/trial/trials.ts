import { randomBytes } from 'node:crypto';
import type { Clock, Timer } from '../../base/clock.js';
import { AppError } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { RingCeiling } from '../../ring/ceiling.js';
import type { CameraWorker, SpawnCameraWorker } from '../fleet/worker-thread.js';
import type { CameraSource, FromCameraWorker } from '../messages.js';
import { Trial, type TrialOutcome } from './trial.js';

/** What a test of a camera answers, spelled as in the JSON interface. */
export type TrialResult = {
  readonly ok: boolean;
  /** `ok`, or why not. */
  readonly code: string;
  /** What to do about it. */
  readonly detail: string;
  readonly codec: string;
  readonly width: number;
  readonly height: number;
  readonly fps: number;
  /** null: there was but one within the time of the test. */
  readonly keyframe_ms: number | null;
  /** Frames that may be held back for display order; null: the stream doesn't say. */
  readonly reorder: number | null;
  readonly audio_codec: string;
  /** Names the pictures that were seen; "": there are none. */
  readonly test_id: string;
};

/** Recorders have to be told something; none of these cameras is recorded. */
export type TrialOffice = {
  openWorker(workerName: string): Readonly<Record<string, unknown>>;
  closeWorker(workerName: string): void;
};

export type TrialsDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly spawn: SpawnCameraWorker;
  readonly office: TrialOffice;
};

/** What the web layer has a status for. */
export type TrialErrorCode = 'tests_busy' | 'not_found';

const MAX_AT_ONCE = 8;
const RETRY_AFTER_SEC = 2;
const KEPT_MS = 60_000;
const MAX_KEPT_BYTES = 64 << 20;
const MAX_RING_BYTES = 16 << 20;
/** Whoever tests one camera tests others: its thread waits a moment for them. */
const LINGER_MS = 10_000;
const ATTEMPT = 1;

type TrialWorker = { readonly name: string; readonly thread: CameraWorker };

type Kept = {
  readonly username: string;
  readonly messages: readonly Buffer[];
  readonly bytes: number;
  readonly end: Timer;
};

const nothing = { codec: '', width: 0, height: 0, fps: 0, keyframe_ms: null, reorder: null, audio_codec: '' };

/**
 * Tests of cameras that aren't configured: the same sessions as of those that are, in a thread of their own, which nobody's
 * picture comes through. It is there while something is tested.
 */
export class Trials {
  readonly #deps: TrialsDeps;
  readonly #running = new Map<string, Trial>();
  readonly #kept = new Map<string, Kept>();
  #worker: TrialWorker | null = null;
  #workersSoFar = 0;
  #idle: Timer | null = null;
  #keptBytes = 0;

  constructor(deps: TrialsDeps) {
    this.#deps = deps;
  }

  /** Connects and looks, for 10 s at most. Throws `tests_busy`. */
  async test(source: CameraSource, username: string): Promise<TrialResult> {
    if (this.#running.size >= MAX_AT_ONCE)
      throw new AppError<TrialErrorCode>(
        'tests_busy',
        `${MAX_AT_ONCE} cameras are being tested; try again soon`,
        {
          details: { retryAfterSec: RETRY_AFTER_SEC },
        },
      );
    const id = `t${randomBytes(24).toString('base64url')}`;
    const outcome = await new Promise<TrialOutcome>((resolve) => {
      this.#running.set(id, new Trial({ clock: this.#deps.clock, onOutcome: resolve }));
      this.#idle?.cancel();
      this.#worker ??= this.#spawn();
      this.#worker.thread.send({ type: 'open', cameraId: id, ring: null });
      this.#worker.thread.send({ type: 'connect', cameraId: id, attempt: ATTEMPT, source });
    });
    this.#running.delete(id);
    this.#worker?.thread.send({ type: 'release', cameraId: id, closeRing: true });
    if (this.#running.size === 0)
      this.#idle = this.#deps.clock.after(LINGER_MS, () => void this.#endWorker());
    if (!outcome.ok)
      return { ok: false, code: outcome.code, detail: outcome.detail, ...nothing, test_id: '' };
    this.#keep(id, username, outcome.messages);
    const { video, audio } = outcome.seen.info;
    return {
      ...{ ok: true, code: 'ok', detail: '', codec: video.codec, width: video.width, height: video.height },
      ...{ fps: outcome.seen.fps, keyframe_ms: outcome.seen.keyframeMs, reorder: video.reorderDepth },
      ...{ audio_codec: audio?.codec ?? '', test_id: id },
    };
  }

  /** What was seen in a test, once, within a minute, by whoever asked for it. Throws `not_found`. */
  take(id: string, username: string): readonly Buffer[] {
    const kept = this.#kept.get(id);
    if (kept?.username !== username)
      throw new AppError<TrialErrorCode>(
        'not_found',
        'there is no such test, or it was a minute ago, or shown',
      );
    this.#forget(id);
    return kept.messages;
  }

  async stop(): Promise<void> {
    for (const id of [...this.#kept.keys()]) this.#forget(id);
    for (const trial of this.#running.values()) trial.fail('aborted', 'the service stops');
    await this.#endWorker();
  }

  async #endWorker(): Promise<void> {
    this.#idle?.cancel();
    const worker = this.#worker;
    if (worker === null) return;
    this.#worker = null;
    await worker.thread.stop();
    this.#deps.office.closeWorker(worker.name);
  }

  #spawn(): TrialWorker {
    const { log, office, spawn } = this.#deps;
    const name = `camera-tests-${++this.#workersSoFar}`;
    const ceiling = new RingCeiling();
    ceiling.set(MAX_RING_BYTES);
    const setup = { ...office.openWorker(name), ringCeiling: ceiling.memory };
    const onLost = (reason: string): void => {
      this.#worker = null;
      office.closeWorker(name);
      log.error('the thread of camera tests died', { reason });
      for (const trial of this.#running.values()) trial.fail('internal_error', 'the test ended its thread');
    };
    const onMessage = (message: FromCameraWorker): void => this.#onMessage(message);
    return { name, thread: spawn(name, { onMessage, onLost }, setup) };
  }

  #onMessage(message: FromCameraWorker): void {
    if ('cameraId' in message) this.#running.get(message.cameraId)?.onMessage(message);
    // Whatever a session says of a camera that nobody configured is in the answer.
    else if (message.type === 'log') this.#deps.log.debug(message.message, message.fields);
  }

  #keep(id: string, username: string, messages: readonly Buffer[]): void {
    const bytes = messages.reduce((sum, { length }) => sum + length, 0);
    const end = this.#deps.clock.after(KEPT_MS, () => this.#forget(id));
    this.#kept.set(id, { username, messages, bytes, end });
    this.#keptBytes += bytes;
    for (const [oldest] of this.#kept) {
      if (this.#keptBytes <= MAX_KEPT_BYTES) break;
      this.#forget(oldest);
    }
  }

  #forget(id: string): void {
    const kept = this.#kept.get(id);
    if (kept === undefined) return;
    kept.end.cancel();
    this.#kept.delete(id);
    this.#keptBytes -= kept.bytes;
  }
}
