import { Signal } from '../base/signal.js';
import type { TakenKeyframe } from './newest-keyframe.js';
import type { CountedObject } from './what-counts.js';

/** What was seen in one picture of a camera; nothing, too. */
export type Detection = {
  /** When the picture was taken. */
  readonly wallMs: number;
  readonly source: 'model' | 'onvif';
  readonly objects: readonly CountedObject[];
};

/** Without a break since then, and until then, by the wall clock; `nothing`: not now; `unknown`: nobody knows yet how. */
export type Heard = { readonly fromMs: number; readonly toMs: number } | 'nothing' | 'unknown';

export const HEARD_ALWAYS: Heard = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY };

/** So far back somebody may ask: further than live playlists reach. */
const KEPT_MS = 120_000;
/** Cameras tell five times a second what they see. */
const MAX_KEPT = 1_024;

/** What is seen at each camera, from wherever it comes: the last two minutes, in order of time. */
export class Detections {
  /** Something was seen, or nothing was. */
  readonly seen = new Signal<[cameraId: string, detection: Detection, keyframe: TakenKeyframe | null]>();
  /** The same, and what other boxes see at their cameras, of which this one has pictures. */
  readonly shown = new Signal<[cameraId: string, detection: Detection]>();
  /** Whether what is seen at a camera counts now; else it is as if nobody had looked. */
  counts: (cameraId: string) => boolean = () => true;
  /** Why nothing is found at a camera; "" where all is well. */
  errorOf: (cameraId: string) => string = () => '';
  /** Whether all is heard that a camera sees by itself. */
  heard: (cameraId: string) => Heard = () => HEARD_ALWAYS;
  readonly #byCamera = new Map<string, Detection[]>();

  /** `keyframe`: where it was seen, in case somebody wants a picture of it. */
  add(cameraId: string, detection: Detection, keyframe: TakenKeyframe | null = null): void {
    if (!this.counts(cameraId)) return;
    this.#keep(cameraId, detection);
    this.seen.emit(cameraId, detection, keyframe);
    this.shown.emit(cameraId, detection);
  }

  /** What another box says that it sees at a camera that it has: for whoever shows it, and nothing else comes of it. */
  hear(cameraId: string, detection: Detection): void {
    const isKnown = (this.#byCamera.get(cameraId) ?? []).some(
      ({ wallMs, source }) => wallMs === detection.wallMs && source === detection.source,
    );
    if (isKnown) return;
    this.#keep(cameraId, detection);
    this.shown.emit(cameraId, detection);
  }

  #keep(cameraId: string, detection: Detection): void {
    const kept = this.#byCamera.get(cameraId) ?? [];
    this.#byCamera.set(cameraId, kept);
    // The host's clock was set back: what was seen by it before would keep out all that comes.
    if (detection.wallMs < (kept.at(-1)?.wallMs ?? 0) - KEPT_MS) kept.length = 0;
    let at = kept.length;
    // A camera's clock may be set back: what is in order stays in order.
    while (at > 0 && kept[at - 1]!.wallMs > detection.wallMs) at -= 1;
    kept.splice(at, 0, detection);
    const newestMs = kept.at(-1)!.wallMs;
    while (kept.length > MAX_KEPT || kept[0]!.wallMs < newestMs - KEPT_MS) kept.shift();
  }

  /** Whether all that there is at a camera is seen: where it isn't, that nothing is seen means nothing. */
  watched(cameraId: string): Heard {
    return this.errorOf(cameraId) === '' ? this.heard(cameraId) : 'nothing';
  }

  /** Of pictures that were taken in [fromMs, toMs), oldest first. */
  between(cameraId: string, fromMs: number, toMs: number): readonly Detection[] {
    return (this.#byCamera.get(cameraId) ?? []).filter(({ wallMs }) => wallMs >= fromMs && wallMs < toMs);
  }

  /** The camera is deleted, or detects no more. */
  forget(cameraId: string): void {
    this.#byCamera.delete(cameraId);
  }
}
