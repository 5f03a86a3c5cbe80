import type { KeptEvent } from '../../events/kept/event.js';

/** Labels come from cameras and models: of one that calls things otherwise each time, these many are told. */
const MAX_LABELS = 32;

/** What goes on at a camera. */
class Ongoing {
  readonly motions = new Set<number>();
  readonly objects = new Map<string, Set<number>>();
}

/** Which motions and objects go on at which camera, and what was ever seen there: out of what began and ended. */
export class OpenEvents {
  readonly #byCamera = new Map<string, Ongoing>();

  /** Whether anything may be another by that. */
  put({ id, cameraId, type, label, toMs }: KeptEvent): boolean {
    if (type !== 'motion' && type !== 'detection') return false;
    if (type === 'detection') this.know(cameraId, label);
    const { motions, objects } = this.#of(cameraId);
    const ids = type === 'motion' ? motions : objects.get(label);
    if (toMs === null) ids?.add(id);
    else ids?.delete(id);
    return ids !== undefined;
  }

  /** Such things are seen there, if not now. */
  know(cameraId: string, label: string): void {
    const { objects } = this.#of(cameraId);
    if (label !== '' && !objects.has(label) && objects.size < MAX_LABELS) objects.set(label, new Set());
  }

  isMoving(cameraId: string): boolean {
    return (this.#byCamera.get(cameraId)?.motions.size ?? 0) > 0;
  }

  /** By label, how many go on. */
  *counts(cameraId: string): Iterable<readonly [label: string, count: number]> {
    for (const [label, ids] of this.#byCamera.get(cameraId)?.objects ?? []) yield [label, ids.size];
  }

  forget(cameraId: string): void {
    this.#byCamera.delete(cameraId);
  }

  #of(cameraId: string): Ongoing {
    let ongoing = this.#byCamera.get(cameraId);
    if (ongoing === undefined) {
      ongoing = new Ongoing();
      this.#byCamera.set(cameraId, ongoing);
    }
    return ongoing;
  }
}
