import { folderOf } from '../files/archive-path.js';
import { sidecarOf } from '../files/sidecar-name.js';
import type { JobRunner } from '../jobs/jobs.js';
import { placeOf } from '../list/recording.js';
import type { Recordings } from '../list/recordings.js';
import { sidecarObject } from '../offsite/object-name.js';
import type { StoredPlace } from '../offsite/stored-bytes.js';
import type { KeptDetection } from './detection-record.js';
import type {
  DetectionPlace,
  DetectionsText,
  ReadDetections,
  ReadDetectionsInput,
} from './read-detections.js';

/** What of a camera's detections is asked for, in the order of time. */
export type DetectionsWanted = {
  readonly fromMs: number;
  readonly toMs: number;
  readonly labels: readonly string[] | null;
  readonly limit: number;
  readonly behind: DetectionPlace | null;
};

/** Names tell seconds, and a recording's end may be known late. */
const SLACK_MS = 2_000;

const MAX_BETWEEN = 4_000;

/** What was seen, and is kept with the recordings. */
export class KeptDetections {
  readonly #archiveDir: string;
  readonly #recordings: Pick<Recordings, 'list'>;
  readonly #runner: JobRunner;

  constructor(
    options: { readonly archiveDir: string },
    deps: { readonly recordings: Pick<Recordings, 'list'>; readonly runner: JobRunner },
  ) {
    this.#archiveDir = options.archiveDir;
    this.#recordings = deps.recordings;
    this.#runner = deps.runner;
  }

  /** A page of them as JSON, and where the next one begins. */
  async page(cameraId: string, wanted: DetectionsWanted): Promise<DetectionsText> {
    const folder = folderOf(this.#archiveDir, cameraId);
    const fromMs = Math.max(wanted.fromMs, (wanted.behind?.timeUs ?? 0) / 1_000);
    const sidecars = await this.#sidecars(cameraId, fromMs, wanted.toMs);
    return this.#runner.run('listDetections', { ...wanted, folder, sidecars });
  }

  /** A page of them. */
  async read(cameraId: string, wanted: DetectionsWanted): Promise<ReadDetections> {
    const folder = folderOf(this.#archiveDir, cameraId);
    const fromMs = Math.max(wanted.fromMs, (wanted.behind?.timeUs ?? 0) / 1_000);
    const sidecars = await this.#sidecars(cameraId, fromMs, wanted.toMs);
    return this.#runner.run('readDetections', { ...wanted, folder, sidecars });
  }

  /** What was seen in [fromMs, toMs), some thousand pictures of it at most. */
  async between(cameraId: string, fromMs: number, toMs: number): Promise<readonly KeptDetection[]> {
    const wanted = { fromMs, toMs, labels: null, limit: MAX_BETWEEN, behind: null };
    return (await this.read(cameraId, wanted)).detections;
  }

  /** Those of the recordings that overlap a time. */
  async #sidecars(cameraId: string, fromMs: number, toMs: number): Promise<ReadDetectionsInput['sidecars']> {
    const byName = new Map<string, ReadDetectionsInput['sidecars'][number]>();
    for (const { fileName, isAway, ...one } of await this.#recordings.list(cameraId)) {
      // What was seen elsewhere is shown without that.
      if (isAway === true) continue;
      const { startMs, endMs, isOpen, stored } = one;
      if (startMs - SLACK_MS >= toMs || endMs + SLACK_MS <= fromMs) continue;
      const name = sidecarOf(fileName);
      if (name === null) continue;
      if (stored?.isAlone === true) {
        const { inStore, sidecarBytes: bytes } = stored;
        const at = placeOf(stored);
        // What the store has may have been copied before it was all there.
        const same = inStore?.sidecarBytes === bytes ? inStore : undefined;
        const place: StoredPlace = {
          ...{ ...at, object: sidecarObject(at.object) },
          inStore: same && { object: sidecarObject(same.object), mailbox: same.mailbox },
        };
        const toMs = isOpen ? Number.POSITIVE_INFINITY : endMs;
        if (bytes > 0) byName.set(at.object, { name, startMs, endMs: toMs, stored: { place, bytes } });
        continue;
      }
      // Two recordings that begin in one second share it; of one that is open nobody knows when it ends.
      const known = byName.get(name) ?? { name, startMs, endMs };
      byName.set(name, { ...known, endMs: isOpen ? Number.POSITIVE_INFINITY : Math.max(known.endMs, endMs) });
    }
    return [...byName.values()];
  }
}
