import type { SceneObject } from '../analytics/metadata.js';
import { newestKeyframeMs } from '../ring/glance.js';
import type { Detections } from './detections.js';
import { type TakenKeyframe, takeNewestKeyframe } from './newest-keyframe.js';
import { type DetectionRules, whatCounts } from './what-counts.js';

/** A keyframe shows what a scene tells of if no more lies between them. */
const SAME_PICTURE_MS = 150;

/** What cameras see by themselves, among all that is seen of them. */
export class CameraAnalytics {
  readonly #detections: Detections;
  readonly #ringOf: (cameraId: string) => SharedArrayBuffer | null;
  readonly #rulesOf: (cameraId: string) => DetectionRules | null;
  /** Of each camera, when the keyframe was taken that was looked at last. */
  readonly #keyframeMs = new Map<string, number>();

  /** `rulesOf`: what counts at a camera; null: there is no such camera. */
  constructor(
    detections: Detections,
    ringOf: (cameraId: string) => SharedArrayBuffer | null,
    rulesOf: (cameraId: string) => DetectionRules | null,
  ) {
    this.#detections = detections;
    this.#ringOf = ringOf;
    this.#rulesOf = rulesOf;
  }

  /** Forgets cameras that are no more. */
  tick(): void {
    for (const cameraId of this.#keyframeMs.keys())
      if (this.#rulesOf(cameraId) === null) this.#keyframeMs.delete(cameraId);
  }

  /** The camera saw this in the picture of that time; nothing, too. */
  onScene(cameraId: string, wallMs: number, objects: readonly SceneObject[]): void {
    const rules = this.#rulesOf(cameraId);
    if (rules === null) return;
    const counted = whatCounts(objects, rules);
    const keyframe = counted.length === 0 ? null : this.#keyframeAt(cameraId, wallMs);
    this.#detections.add(cameraId, { wallMs, source: 'onvif', objects: counted }, keyframe);
  }

  /** The newest keyframe if it is of that time, once: it is copied out of the ring. */
  #keyframeAt(cameraId: string, wallMs: number): TakenKeyframe | null {
    const ring = this.#ringOf(cameraId);
    const keyframeMs = ring === null ? null : newestKeyframeMs(ring);
    if (ring === null || keyframeMs === null || Math.abs(keyframeMs - wallMs) > SAME_PICTURE_MS) return null;
    if (this.#keyframeMs.get(cameraId) === keyframeMs) return null;
    this.#keyframeMs.set(cameraId, keyframeMs);
    const taken = takeNewestKeyframe(ring);
    return typeof taken === 'string' ? null : taken;
  }
}
