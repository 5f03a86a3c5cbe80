import type { EventTables } from './event-tables.js';
import type { Buckets } from './label-buckets.js';

/** What began longer before than this is left out, however long it lasted. */
const LOOK_BACK_MS = 3_600_000;
/** Of one camera and of each thing that it noticed; the newest. */
const MAX_EVENTS = 5_000;
const MAX_BUCKETS = 10_000;
/** All of a bucket. */
const FULL = 255;

/** Spans that follow each other or overlap, as one. */
const joined = (spans: readonly (readonly [beginMs: number, endMs: number])[]): [number, number][] => {
  const runs: [number, number][] = [];
  for (const [beginMs, endMs] of spans.toSorted(([a], [b]) => a - b)) {
    const last = runs.at(-1);
    if (last !== undefined && beginMs <= last[1]) last[1] = Math.max(last[1], endMs);
    else runs.push([beginMs, endMs]);
  }
  return runs;
};

/** For how much of each bucket a camera saw motion, from 0 to 255; nothing where it saw none at all. */
export const motionBuckets = (
  tables: EventTables,
  cameraId: string,
  { fromMs, toMs, bucketMs }: Buckets,
): number[] => {
  const count = Math.min(Math.ceil((toMs - fromMs) / bucketMs), MAX_BUCKETS);
  const filter = { cameraIds: new Set([cameraId]), types: new Set(['motion']), labels: null };
  const bounds = { fromMs: fromMs - LOOK_BACK_MS, toMs, count: MAX_EVENTS };
  const spans = [...tables.keys.lists(filter)].flatMap((list) => tables.spans(list, bounds));
  const movedMs = new Array<number>(count).fill(0);
  let isAny = false;
  for (const [beginMs, endMs] of joined(spans)) {
    if (endMs < fromMs) continue;
    const first = Math.max(Math.floor((beginMs - fromMs) / bucketMs), 0);
    const last = Math.min(Math.floor((endMs - fromMs) / bucketMs), count - 1);
    for (let bucket = first; bucket <= last; bucket += 1) {
      const bucketFromMs = fromMs + bucket * bucketMs;
      // However short it was, it is seen.
      movedMs[bucket]! += Math.max(
        Math.min(endMs, bucketFromMs + bucketMs) - Math.max(beginMs, bucketFromMs),
        1,
      );
      isAny = true;
    }
  }
  return isAny ? movedMs.map((ms) => Math.min(Math.ceil((ms / bucketMs) * FULL), FULL)) : [];
};
