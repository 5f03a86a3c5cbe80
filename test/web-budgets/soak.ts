import { atMost, largest, noted, type Point, quantile, slopeOf } from './figures.js';
import { heapOf } from './heap.js';
import type { Measure } from './measure.js';
import { Stage, sleep } from './stage.js';
import { untilShown } from './walls.js';

const TILES = 9;
const LOOKS = 60;
const LEAST_EVERY_MS = 2_000;
/** What is loaded and compiled late has come by then. */
const WARM_UP_SHARE = 0.2;
const TEN_MINUTES_MS = 600_000;
/** A lag that grows by less in ten minutes is that of another load, not of pictures that pile up. */
const FLAT_MS = 20;

export const soak: Measure = {
  name: 'soak',
  about: '9 tiles for long: memory, open frames and lag stay as they are',
  seconds: 1_800,
  run: async (seconds) => {
    const stage = await Stage.set({ cameras: TILES });
    try {
      const watched = await stage.open('/wall/all?grid=3x3');
      await untilShown(watched, TILES);
      const heap = await heapOf(watched);
      const heaps: Point[] = [];
      const lags: Point[] = [];
      const opens: number[] = [];
      const startMs = Date.now();
      const everyMs = Math.max(LEAST_EVERY_MS, (seconds * 1_000) / LOOKS);
      const warmMs = startMs + seconds * 1_000 * WARM_UP_SHARE;
      while (Date.now() - startMs < seconds * 1_000) {
        await sleep(everyMs);
        const taken = await watched.take();
        const mostOpen = largest(taken.map((worker) => worker.mostOpen / Math.max(1, worker.canvases)));
        const usedBytes = await heap.usedBytes();
        if (Date.now() < warmMs) continue;
        opens.push(mostOpen);
        heaps.push([Date.now(), usedBytes / 1_048_576]);
        // By the camera's clock, which runs as this one does: what piles up shows, however slowly.
        const delays = taken.flatMap(({ draws }) => draws.map(([, atMs, pictureMs]) => atMs - pictureMs));
        lags.push([Date.now(), quantile(delays, 0.5)]);
      }
      const [first, last] = [heaps[0]?.[1] ?? Number.NaN, heaps.at(-1)?.[1] ?? Number.NaN];
      return [
        atMost('heap of page and workers, growth in 10 minutes', 'MB', slopeOf(heaps) * TEN_MINUTES_MS, 1),
        atMost('open frames a tile', 'frames', largest(opens), 2),
        atMost('lag (median), growth in 10 minutes', 'ms', slopeOf(lags) * TEN_MINUTES_MS, FLAT_MS),
        noted(
          'heap, first and last',
          `${first.toFixed(2)} and ${last.toFixed(2)} MB of ${heaps.length} looks`,
        ),
      ];
    } finally {
      await stage.clear();
    }
  },
};
