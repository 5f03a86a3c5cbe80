import type { Clock, MonotonicMs } from '../../base/clock.js';
import type { Logger } from '../../base/log.js';
import { Turns } from '../../base/turns.js';
import { within } from '../../base/within.js';
import { parseDeviceAddress } from '../device-address.js';
import { isOnvifError, onvifError } from '../errors.js';
import type { OnvifCamera } from '../ptz/ptz-cameras.js';
import { MAX_AGE_MS, type PulledNotice } from './pulled-notices.js';
import { watchEvents } from './watch-events.js';

export type EventCamerasDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  /** All that are asked by ONVIF, as they are set now. */
  readonly cameras: () => Iterable<OnvifCamera>;
  /** Whether a camera tells what it notices beside its pictures; null: that isn't known now. */
  readonly hasTrack: (cameraId: string) => boolean | null;
  readonly onNotices: (cameraId: string, notices: readonly PulledNotice[]) => void;
  /** It tells nothing any more. */
  readonly onSilent: (cameraId: string) => void;
};

type Watch = {
  /** What was set when it was made. */
  readonly settings: string;
  readonly ending: AbortController;
  isTelling: boolean;
  /** It told, once. */
  hasTold: boolean;
  /** It said that it tells nothing, when it was asked last. */
  hasNone: boolean;
  failures: number;
  /** It was well until a moment ago. */
  isResumed: boolean;
  /** It was asked since it was opened last, and answered. */
  hasAnswered: boolean;
  /** The log's last word of it is that it tells nothing. */
  isSaidSilent: boolean;
  /** When the log had that one of a camera that told some. */
  warnedMs: number;
  openedMs: MonotonicMs | 0;
  /** Since then nothing was missed. */
  wholeSinceMs: MonotonicMs | 0;
  /** Whatever happened before was told. */
  heardMs: MonotonicMs | 0;
  /** Null: it is being asked. */
  nextMs: MonotonicMs | 0 | null;
};

const OPENED_AT_ONCE = 8;
/** Sooner than what is on counts as over: a pull point that is lost, of a camera that is well, makes one motion not two. */
const RESUME_MS = 1_000;
/** A pull point that answered, and lasted so long, was a good one, however often its camera ends them. */
const GOOD_MS = 10_000;
/** Of a camera that ends them again and again the log tells so rarely. */
const SAID_AGAIN_MS = 600_000;
const RETRY_FIRST_MS = 15_000;
const RETRY_LAST_MS = 600_000;
/** Cameras are told that we go; none holds up the end. */
const STOP_MS = 2_000;

/** Hears by ONVIF what those cameras notice that don't tell it beside their pictures. */
export class EventCameras {
  readonly #deps: EventCamerasDeps;
  readonly #watches = new Map<string, Watch>();
  /** Of those that are asked by ONVIF, whether they tell what they notice beside their pictures; null: nobody knows yet. */
  readonly #hasTrack = new Map<string, boolean | null>();
  readonly #running = new Set<Promise<void>>();
  /** Those that were well have places of their own: they wait for none that doesn't answer. */
  readonly #turns: { readonly first: Turns; readonly again: Turns };
  #isStopped = false;

  constructor(deps: EventCamerasDeps) {
    this.#deps = deps;
    const turns = (): Turns =>
      new Turns(
        {
          ...{ atOnce: OPENED_AT_ONCE, atOnceInLane: 1, maxWaiting: 10_000, maxInLane: 10_000 },
          patienceMs: RETRY_LAST_MS,
        },
        { clock: deps.clock, busy: () => onvifError('onvif_busy', 'too many cameras are being asked') },
      );
    this.#turns = { first: turns(), again: turns() };
  }

  /** How many tell what they notice, and how many of those that are to be heard don't. */
  get counts(): { readonly heard: number; readonly missed: number } {
    let [heard, missed] = [0, 0];
    for (const { isTelling, hasNone } of this.#watches.values()) {
      if (isTelling) heard += 1;
      else if (!hasNone) missed += 1;
    }
    return { heard, missed };
  }

  /**
   * Since when, and until when, by the wall clock, all was heard that the camera noticed: that nothing was told means nothing
   * else. `nothing`: it isn't heard now; `unknown`: nobody knows yet whether it is to be; null: it isn't heard here.
   */
  heard(cameraId: string): { readonly fromMs: number; readonly toMs: number } | 'nothing' | 'unknown' | null {
    const hasTrack = this.#hasTrack.get(cameraId);
    if (hasTrack === undefined || hasTrack === true) return null;
    if (hasTrack === null) return 'unknown';
    const watch = this.#watches.get(cameraId);
    if (watch?.isTelling !== true) return watch?.hasNone === true ? null : 'nothing';
    const aheadMs = this.#deps.clock.wallMs() - this.#deps.clock.monotonicMs();
    return { fromMs: watch.wholeSinceMs + aheadMs, toMs: watch.heardMs + aheadMs };
  }

  /** Takes over what is set now; called once a second. */
  look(): void {
    if (this.#isStopped) return;
    const gone = new Set(this.#hasTrack.keys());
    for (const camera of this.#deps.cameras()) {
      const { cameraId } = camera;
      gone.delete(cameraId);
      // One that connects anew is as it was before, until it says otherwise.
      const hasTrack = this.#deps.hasTrack(cameraId) ?? this.#hasTrack.get(cameraId) ?? null;
      this.#hasTrack.set(cameraId, hasTrack);
      if (hasTrack === false) this.#take(camera);
      else this.#forget(cameraId);
    }
    for (const cameraId of gone) {
      this.#hasTrack.delete(cameraId);
      this.#forget(cameraId);
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const cameraId of [...this.#watches.keys()]) this.#forget(cameraId);
    await within(this.#deps.clock, STOP_MS, Promise.all(this.#running));
  }

  #take(camera: OnvifCamera): void {
    const { cameraId } = camera;
    const settings = JSON.stringify(camera);
    let watch = this.#watches.get(cameraId);
    if (watch?.settings !== settings) {
      this.#forget(cameraId);
      watch = {
        ...{ settings, ending: new AbortController(), isTelling: false, hasTold: false },
        ...{
          hasNone: false,
          failures: 0,
          isResumed: false,
          hasAnswered: false,
          openedMs: 0,
          wholeSinceMs: 0,
          heardMs: 0,
          nextMs: 0,
        },
        ...{ isSaidSilent: false, warnedMs: Number.NEGATIVE_INFINITY },
      };
      this.#watches.set(cameraId, watch);
    }
    if (watch.nextMs === null || this.#deps.clock.monotonicMs() < watch.nextMs) return;
    watch.nextMs = null;
    const running = this.#watch(camera, watch).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async #watch(camera: OnvifCamera, watch: Watch): Promise<void> {
    const { clock, log, onNotices, onSilent } = this.#deps;
    const { cameraId, address, credentials, certificate, profile } = camera;
    const { signal } = watch.ending;
    const onMissed = (): void => {
      watch.wholeSinceMs = watch.heardMs = clock.monotonicMs();
    };
    try {
      const options = { address: parseDeviceAddress(address), credentials, certificate, profile };
      await this.#opened(
        this.#turns[watch.isResumed ? 'again' : 'first'],
        options.address.host,
        (onOpen) =>
          watchEvents(
            options,
            {
              clock,
              onOpen: () => {
                onOpen();
                const isSaid = watch.hasTold && !watch.isSaidSilent;
                watch.isTelling = true;
                watch.hasTold = true;
                watch.hasNone = false;
                watch.hasAnswered = false;
                watch.openedMs = watch.wholeSinceMs = watch.heardMs = clock.monotonicMs();
                watch.isSaidSilent = false;
                if (!isSaid) log.info('a camera tells its events by ONVIF', { camera_id: cameraId });
              },
              onMissed,
              onNotices: (notices, toldAgoMs) => {
                const nowMs = clock.monotonicMs();
                // Of what is told so late nobody knows when it was.
                if (nowMs - watch.heardMs > MAX_AGE_MS) onMissed();
                else if (toldAgoMs !== null)
                  watch.heardMs = Math.max(watch.heardMs, nowMs - toldAgoMs) as MonotonicMs;
                watch.hasAnswered = true;
                if (notices.length > 0 && !signal.aborted) onNotices(cameraId, notices);
              },
            },
            signal,
          ),
        signal,
      );
    } catch (fault) {
      if (signal.aborted) return;
      // One that told some may say so while it starts.
      watch.hasNone = !watch.hasTold && isOnvifError(fault) && fault.code === 'no_events';
      const lastedMs = clock.monotonicMs() - watch.openedMs;
      const wasGood = watch.isTelling && watch.hasAnswered && lastedMs >= GOOD_MS;
      watch.failures = wasGood ? 1 : watch.failures + 1;
      const laterMs = Math.min(RETRY_FIRST_MS * 2 ** (watch.failures - 1), RETRY_LAST_MS);
      watch.isResumed = watch.isTelling && watch.failures === 1;
      const waitMs = watch.isResumed ? RESUME_MS : laterMs;
      watch.nextMs = (clock.monotonicMs() + waitMs) as MonotonicMs;
      this.#saySilent(cameraId, watch, fault);
    } finally {
      if (watch.isTelling && !signal.aborted) onSilent(cameraId);
      watch.isTelling = false;
    }
  }

  /** Many have none; that one which told some falls silent is worth a look, now and then. */
  #saySilent(cameraId: string, watch: Watch, fault: unknown): void {
    const nowMs = this.#deps.clock.monotonicMs();
    if (watch.isSaidSilent || nowMs - watch.warnedMs < SAID_AGAIN_MS) return;
    watch.isSaidSilent = true;
    if (watch.hasTold) watch.warnedMs = nowMs;
    this.#deps.log[watch.hasTold ? 'warn' : 'info']('a camera tells no events by ONVIF', {
      camera_id: cameraId,
      reason: reasonOf(fault),
    });
  }

  /** A few are opened at a time, and one of each device; what is open holds up nobody. */
  async #opened(
    turns: Turns,
    host: string,
    watch: (onOpen: () => void) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    let watching = Promise.resolve();
    const open = (): Promise<void> =>
      new Promise((resolve, reject) => {
        watching = watch(resolve);
        watching.then(resolve, reject);
      });
    await turns.run(host, open, signal);
    await watching;
  }

  #forget(cameraId: string): void {
    const watch = this.#watches.get(cameraId);
    if (watch === undefined) return;
    this.#watches.delete(cameraId);
    watch.ending.abort();
    if (watch.isTelling) this.#deps.onSilent(cameraId);
  }
}

/** Of what isn't ours nothing is told: it may hold anything. */
const reasonOf = (fault: unknown): string => (isOnvifError(fault) ? fault.message : 'a fault of ours');
