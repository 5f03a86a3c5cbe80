import { noted, quantile, spread } from './figures.js';
import type { Measure } from './measure.js';
import { Stage, sleep } from './stage.js';
import { frameTimes } from './trace.js';

const LANES = 9;
const MARKS = 10_000;
const DAY_MS = 86_400_000;

/** What the service would tell of nine cameras of which something is seen all the time. */
const busyTimeline = (url: string): Record<string, unknown> => {
  const { searchParams } = new URL(url);
  const [from, to] = [Date.parse(searchParams.get('from') ?? ''), Date.parse(searchParams.get('to') ?? '')];
  const buckets = Math.ceil((to - from) / Number(searchParams.get('bucket_ms')));
  // As many as there are in a day, whatever of it is asked for.
  const share = Math.min(1, ((MARKS / LANES) * (to - from)) / DAY_MS / buckets);
  const marks = Array.from({ length: buckets }, (_, nth) =>
    Math.floor((nth + 1) * share) > Math.floor(nth * share) ? 1 : 0,
  );
  const hour = 3_600_000;
  const hours = Array.from({ length: Math.ceil((to - from) / hour) }, (_, nth) => from + nth * hour);
  const lane = {
    recorded: hours.map((at) => [at, Math.min(to, at + 0.8 * hour)]),
    gaps: hours
      .filter((at) => at + 0.8 * hour < to)
      .map((at) => [at + 0.8 * hour, Math.min(to, at + hour), 'camera_away']),
    motion: marks.map((_, nth) => (nth * 37) % 255),
    labels: { person: marks },
  };
  return Object.fromEntries(searchParams.getAll('camera').map((id) => [id, lane]));
};

export const tape: Measure = {
  name: 'tape',
  about: `${LANES} lanes with ${MARKS} marks, zoomed and moved`,
  seconds: 10,
  run: async (seconds) => {
    const stage = await Stage.set({});
    try {
      const ids = Array.from({ length: LANES }, (_, nth) => `cam${nth}`);
      for (const id of ids)
        await stage.ask('POST', '/api/cameras', { id, url: 'rtsp://127.0.0.1:1/none', disabled: true });
      const watched = await stage.prepare({ origin: stage.service.url });
      await watched.context.route(/\/api\/timeline/, (route) =>
        route.fulfill({ json: busyTimeline(route.request().url()) }),
      );
      await watched.page.goto(`${stage.service.url}/archive?cameras=${ids.join()}`);
      const slider = watched.page.getByRole('slider').first();
      await slider.waitFor();
      await sleep(3_000);
      const box = await slider.boundingBox();
      if (box === null) throw new Error('there is no tape');
      const { mouse } = watched.page;
      const frames = await frameTimes(watched, async () => {
        const endMs = performance.now() + seconds * 1_000;
        for (let turn = 0; performance.now() < endMs; turn += 1) {
          await mouse.move(box.x + 300, box.y + 5);
          for (let nth = 0; nth < 10; nth += 1) await mouse.wheel(0, turn % 2 === 0 ? -120 : 120);
          await mouse.down();
          for (let nth = 0; nth < 20; nth += 1) await mouse.move(box.x + 300 + nth * 12, box.y + 5);
          await mouse.up();
        }
      });
      return [
        spread('main thread for a frame', 'ms', frames.workMs, { p95: 8 }),
        noted(
          'and for handing it over, which draws it where there is no graphics chip',
          `p50 ${Math.round(quantile(frames.commitMs, 0.5))}, p95 ${Math.round(quantile(frames.commitMs, 0.95))} ms`,
        ),
      ];
    } finally {
      await stage.clear();
    }
  },
};

const CAMERAS = 500;

export const cameraTable: Measure = {
  name: 'cameras-500',
  about: `${CAMERAS} cameras that change once a second, under somebody's hands`,
  seconds: 20,
  run: async (seconds) => {
    const stage = await Stage.set({});
    try {
      const ids = Array.from({ length: CAMERAS }, (_, nth) => `cam-${nth}`);
      const url = 'rtsp://127.0.0.1:1/none';
      await stage.ask('POST', '/api/cameras/bulk', {
        create: ids.map((id) => ({ id, url, disabled: true })),
      });
      const watched = await stage.open('/cameras');
      const { page } = watched;
      const grid = page.getByRole('grid');
      await page.locator(`[role=grid][aria-rowcount="${CAMERAS + 1}"]`).waitFor();
      let isOver = false;
      let rounds = 0;
      const changing = (async () => {
        while (!isOver) {
          rounds += 1;
          const startMs = performance.now();
          await stage.ask('POST', '/api/cameras/bulk', {
            update: ids.map((id) => ({ id, comment: `${id} ${rounds}` })),
          });
          await sleep(Math.max(0, 1_000 - (performance.now() - startMs)));
        }
      })();
      const endMs = performance.now() + seconds * 1_000;
      for (let turn = 0; performance.now() < endMs; turn += 1) {
        await grid.hover();
        for (let step = 0; step < 4; step += 1) await page.mouse.wheel(0, turn % 2 === 0 ? 4_000 : -4_000);
        await page
          .getByRole('checkbox', { name: /^Select / })
          .nth(3)
          .click();
        await page.getByRole('searchbox').pressSequentially(`cam-4${turn % 10}`);
        await page.getByRole('searchbox').fill('');
        await grid.focus();
        for (const key of ['End', 'PageUp', 'Space', 'Home']) await page.keyboard.press(key);
      }
      isOver = true;
      await changing;
      const times = Object.values((await watched.facts()).interactionsMs);
      return [
        spread('interactions (INP: all but one in 50)', 'ms', [quantile(times, 0.98)], { max: 100 }),
        noted(
          'all that took 16 ms and more',
          `p50 ${quantile(times, 0.5)}, p95 ${quantile(times, 0.95)} ms of ${times.length}`,
        ),
        noted('times that all changed', String(rounds)),
      ];
    } finally {
      await stage.clear();
    }
  },
};
