import type { Clock } from '../../base/clock.js';
import type { EventType, KeptEvent } from './event.js';
import type { EventLog } from './event-log.js';

/** What a camera is meant to do, and does. */
export type CameraCondition = {
  readonly cameraId: string;
  /** Frames come. */
  readonly isStreaming: boolean;
  /** It is not to be connected: it is disabled, on demand and not wanted, or over its limit. */
  readonly isAtRest: boolean;
  readonly isRecording: boolean;
  /** It is to be recorded. */
  readonly isRecorded: boolean;
  /** Why it isn't streaming; "" where nothing is known. */
  readonly fault: string;
};

export type CameraWatchDeps = {
  readonly clock: Clock;
  readonly log: Pick<EventLog, 'add' | 'change' | 'open'>;
  /** Why nothing can be recorded; "" where all is well. */
  readonly storageFault: () => string;
  /** Why a camera that streams isn't recorded. */
  readonly whyNotRecorded: (cameraId: string) => string;
};

/** What is over sooner never was; what is back must stay so long to be back. */
const HOLD_MS = 10_000;
/** Of the disk it is told at once: all that is recorded is at stake. */
const beginHoldMs = { camera_lost: HOLD_MS, recording_gap: HOLD_MS, storage: 0 } as const;

type Trouble = {
  /** Null: it has not lasted long enough. */
  event: KeptEvent | null;
  readonly sinceMs: number;
  readonly sinceWallMs: number;
  /** Since when all is well again. */
  wellMs: number | null;
  wellWallMs: number;
};

type WatchedType = Extract<EventType, 'camera_lost' | 'recording_gap' | 'storage'>;
const watchedTypes: readonly WatchedType[] = ['camera_lost', 'recording_gap', 'storage'];

/** Makes events of what is not as it should be, one for as long as that lasts: also over restarts of the service. */
export class CameraWatch {
  readonly #deps: CameraWatchDeps;
  /** By camera. */
  readonly #troubles = {
    camera_lost: new Map<string, Trouble>(),
    recording_gap: new Map<string, Trouble>(),
    storage: new Map<string, Trouble>(),
  } as const satisfies Record<WatchedType, Map<string, Trouble>>;
  #isStopped = false;

  constructor(deps: CameraWatchDeps) {
    this.#deps = deps;
    const since = { sinceMs: deps.clock.monotonicMs() - HOLD_MS, wellMs: null, wellWallMs: 0 };
    for (const event of deps.log.open()) {
      const type = watchedTypes.find((watched) => watched === event.type);
      if (type === undefined) continue;
      this.#troubles[type].set(event.cameraId, { ...since, event, sinceWallMs: event.fromMs });
    }
  }

  /** Looks at all cameras: to be called about once a second. */
  look(conditions: Iterable<CameraCondition>): void {
    if (this.#isStopped) return;
    const { storageFault, whyNotRecorded } = this.#deps;
    const { camera_lost: lost, recording_gap: gaps } = this.#troubles;
    const unseen = new Set([...lost.keys(), ...gaps.keys()]);
    const fault = storageFault();
    this.#see('storage', '', fault === '' ? 'well' : 'ill', () => fault);
    for (const { cameraId, isStreaming, isAtRest, isRecorded, isRecording, fault } of conditions) {
      unseen.delete(cameraId);
      const stream = isAtRest ? 'none' : isStreaming ? 'well' : 'ill';
      this.#see('camera_lost', cameraId, stream, () => fault);
      const recording = isAtRest || !isRecorded ? 'none' : isRecording ? 'well' : 'ill';
      const why = (): string => (isStreaming ? whyNotRecorded(cameraId) : 'camera_away');
      this.#see('recording_gap', cameraId, recording, why);
    }
    // Of cameras that are deleted, with their events.
    for (const cameraId of unseen) {
      lost.delete(cameraId);
      gaps.delete(cameraId);
    }
  }

  /** What breaks off while the service stops is no trouble, and nobody would be told of it. */
  stop(): void {
    this.#isStopped = true;
  }

  /** `none`: it is not asked of the camera, so that nothing can be missing. */
  #see(type: WatchedType, cameraId: string, how: 'well' | 'ill' | 'none', why: () => string): void {
    const troubles = this.#troubles[type];
    const trouble = troubles.get(cameraId);
    const { clock, log } = this.#deps;
    const nowMs = clock.monotonicMs();
    if (how === 'none') {
      if (trouble === undefined) return;
      troubles.delete(cameraId);
      if (trouble.event !== null) log.change(trouble.event.id, { toMs: clock.wallMs() });
    } else if (how === 'ill') {
      const since = { sinceMs: nowMs, sinceWallMs: clock.wallMs(), event: null, wellWallMs: 0 };
      const known: Trouble = trouble ?? { ...since, wellMs: null };
      troubles.set(cameraId, known);
      known.wellMs = null;
      if (known.event === null && nowMs - known.sinceMs >= beginHoldMs[type])
        known.event = log.add({ type, cameraId, fromMs: known.sinceWallMs, detail: why() });
      else if (known.event !== null && type === 'storage' && known.event.detail !== why()) {
        known.event = { ...known.event, detail: why() };
        log.change(known.event.id, { detail: why() });
      }
    } else if (trouble !== undefined) this.#recover(type, cameraId, trouble, nowMs);
  }

  #recover(type: WatchedType, cameraId: string, trouble: Trouble, nowMs: number): void {
    const { clock, log } = this.#deps;
    if (trouble.event === null) {
      this.#troubles[type].delete(cameraId);
      return;
    }
    if (trouble.wellMs === null) {
      trouble.wellMs = nowMs;
      trouble.wellWallMs = clock.wallMs();
    }
    if (nowMs - trouble.wellMs < HOLD_MS) return;
    this.#troubles[type].delete(cameraId);
    log.change(trouble.event.id, { toMs: trouble.wellWallMs });
  }
}
