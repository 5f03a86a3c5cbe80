import type { Clock } from '../base/clock.js';
import type { Camera as StoredCamera } from '../store/cameras.js';
import { isAtRest } from './fleet/camera.js';
import type { Cameras } from './fleet/cameras.js';
import { FramePace, SILENT_AFTER_MS } from './frame-pace.js';
import type { CameraActivity } from './registry-faces.js';

export type WorkingDeps = {
  readonly clock: Clock;
  readonly cameras: Cameras;
  readonly activity: Pick<CameraActivity, 'writtenMs'>;
};

/** Whether cameras are what they are to be. */
export class WorkingCameras {
  readonly #deps: WorkingDeps;
  readonly #paces = new Map<string, FramePace>();

  constructor(deps: WorkingDeps) {
    this.#deps = deps;
  }

  /** To be asked some times a second; see `CameraRegistry.worksUntilMs`. */
  untilMs({ id, record }: StoredCamera): number | null {
    const { cameras, activity, clock } = this.#deps;
    const camera = cameras.get(id);
    if (camera === undefined) return null;
    const { state } = camera.status();
    const nowMs = clock.monotonicMs();
    if (isAtRest(state)) return nowMs + SILENT_AFTER_MS;
    const ring = state === 'streaming' ? cameras.ring(id) : null;
    if (ring === null) {
      this.#paces.get(id)?.interrupt();
      return null;
    }
    const writtenMs = record ? activity.writtenMs(id) : Number.POSITIVE_INFINITY;
    const worksUntilMs = this.#paceOf(id).worksUntilMs(ring, writtenMs ?? nowMs, nowMs);
    return writtenMs === null ? null : worksUntilMs;
  }

  forget(id: string): void {
    this.#paces.delete(id);
  }

  #paceOf(id: string): FramePace {
    const known = this.#paces.get(id);
    if (known !== undefined) return known;
    const pace = new FramePace();
    this.#paces.set(id, pace);
    return pace;
  }
}
