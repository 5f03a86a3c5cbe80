import type { SceneObject } from '../analytics/metadata.js';
import type { Detections } from './detections.js';
import { type DetectionRules, whatCounts } from './what-counts.js';

/** What cameras see by themselves, among all that is seen of them. */
export class CameraAnalytics {
  readonly #detections: Detections;
  #rules: ReadonlyMap<string, DetectionRules> = new Map();

  constructor(detections: Detections) {
    this.#detections = detections;
  }

  /** Makes these the cameras that there are, and what counts at each. */
  setRules(
    cameras: Iterable<readonly [cameraId: string, settings: { readonly detection: DetectionRules }]>,
  ): void {
    this.#rules = new Map([...cameras].map(([cameraId, { detection }]) => [cameraId, detection]));
  }

  /** The camera saw this in the picture of that time; nothing, too. */
  onScene(cameraId: string, wallMs: number, objects: readonly SceneObject[]): void {
    const rules = this.#rules.get(cameraId);
    if (rules === undefined) return;
    this.#detections.add(cameraId, { wallMs, source: 'onvif', objects: whatCounts(objects, rules) });
  }
}
