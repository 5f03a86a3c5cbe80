import { endOf, type View, xOf } from './axis.js';
import type { Buckets } from './lane.js';

/** A mark is seen, however short it was. */
const MARK_PX = 3;
/** Sums of fractions: what is this near touches. */
const NEARLY_PX = 1e-3;

/**
 * What there was of something, from left to right: of buckets that share a pixel the largest counts. It runs over
 * thousands for each frame, most of them empty.
 */
export const eachBar = (
  all: readonly Buckets[],
  view: View,
  widthPx: number,
  run: (value: number, x: number, width: number) => void,
): void => {
  for (const { fromMs, bucketMs, values } of all) {
    const bucketPx = (bucketMs / view.spanMs) * widthPx;
    const startX = xOf(view, fromMs, widthPx);
    const last = Math.min(values.length, Math.ceil((endOf(view) - fromMs) / bucketMs));
    for (let at = Math.max(0, Math.floor((view.fromMs - fromMs) / bucketMs)); at < last; at += 1) {
      let value = values[at]!;
      if (value === 0) continue;
      const x = startX + at * bucketPx;
      const nextPx = Math.floor(x) + 1;
      for (; at + 1 < last && startX + (at + 1) * bucketPx < nextPx; at += 1)
        value = Math.max(value, values[at + 1]!);
      run(value, x, Math.max(bucketPx, 1));
    }
  }
};

/** Where there was anything of it: marks that touch are one, as a path of thousands takes long to fill. */
export const eachMark = (
  all: readonly Buckets[],
  view: View,
  widthPx: number,
  run: (x: number, width: number) => void,
): void => {
  let fromPx = Number.NaN;
  let toPx = Number.NaN;
  const flush = (): void => {
    if (!Number.isNaN(fromPx)) run(fromPx, toPx - fromPx);
  };
  eachBar(all, view, widthPx, (_value, x, width) => {
    const endPx = x + Math.max(width, MARK_PX);
    if (x >= fromPx && x <= toPx + NEARLY_PX) toPx = Math.max(toPx, endPx);
    else {
      flush();
      [fromPx, toPx] = [x, endPx];
    }
  });
  flush();
};
