import type { EventTables } from './event-tables.js';

export type Buckets = { readonly fromMs: number; readonly toMs: number; readonly bucketMs: number };

/** What began longer before than this is left out, however long it lasted. */
const LOOK_BACK_MS = 3_600_000;
/** Of one camera and label; the newest. */
const MAX_EVENTS = 5_000;
const MAX_BUCKETS = 10_000;

/** By label, how many of a camera's detections there were in each bucket. */
export const labelBuckets = (
  tables: EventTables,
  cameraId: string,
  { fromMs, toMs, bucketMs }: Buckets,
): Record<string, number[]> => {
  const byLabel: Record<string, number[]> = {};
  const count = Math.min(Math.ceil((toMs - fromMs) / bucketMs), MAX_BUCKETS);
  const filter = { cameraIds: new Set([cameraId]), types: new Set(['detection']), labels: null };
  for (const list of tables.keys.lists(filter)) {
    const spans = tables.spans(list, { fromMs: fromMs - LOOK_BACK_MS, toMs, count: MAX_EVENTS });
    /** By how many more, or fewer, there are than in the bucket before: some events reach over all of them. */
    const steps = new Array<number>(count + 1).fill(0);
    let isAny = false;
    for (const [beginMs, endMs] of spans) {
      if (endMs < fromMs) continue;
      const first = Math.max(Math.floor((beginMs - fromMs) / bucketMs), 0);
      const last = Math.min(Math.floor((endMs - fromMs) / bucketMs), count - 1);
      if (first > last) continue;
      steps[first]! += 1;
      steps[last + 1]! -= 1;
      isAny = true;
    }
    for (let bucket = 1; bucket < count; bucket++) steps[bucket]! += steps[bucket - 1]!;
    if (isAny) byLabel[tables.keys.labelOf(list.kind)] = steps.slice(0, count);
  }
  return byLabel;
};
