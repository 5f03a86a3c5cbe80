import { until } from '../support/until.js';
import { spread } from './figures.js';
import type { Measure } from './measure.js';
import { startSlowLine } from './slow-line.js';
import { Stage, sleep, type WatchedPage } from './stage.js';

const LINE = { bitsPerSec: 10_000_000, roundTripMs: 40 };
const TILES = 4;

const seenAt = (watched: WatchedPage, name: string): Promise<number> =>
  until(`the page has ${name}`, async () => {
    const { startedMs, seenMs } = await watched.facts();
    await sleep(50);
    const at = seenMs[name];
    return at === undefined ? null : at - startedMs;
  });

/** From when the page was asked for to the first picture of any tile, and of all. */
const picturesAt = async (watched: WatchedPage): Promise<{ first: number; all: number }> => {
  const firsts = new Map<string, number>();
  await until('pictures come', async () => {
    for (const [worker, { draws }] of (await watched.take()).entries())
      for (const [canvas, atMs] of draws) {
        const key = `${worker} ${canvas}`;
        if (!firsts.has(key)) firsts.set(key, atMs);
      }
    await sleep(50);
    return firsts.size >= TILES;
  });
  const { startedMs } = await watched.facts();
  const times = [...firsts.values()].map((atMs) => atMs - startedMs).sort((a, b) => a - b);
  return { first: times[0] ?? Number.NaN, all: times.at(-1) ?? Number.NaN };
};

export const firstLoad: Measure = {
  name: 'first-load',
  about: 'with nothing cached, over a line of 10 Mbit/s and 40 ms',
  seconds: 5,
  run: async (times) => {
    const stage = await Stage.set({ cameras: TILES });
    const line = await startSlowLine(Number(new URL(stage.service.url).port), LINE);
    const origin = `http://127.0.0.1:${line.port}`;
    const form: number[] = [];
    const wall: number[] = [];
    const firstPicture: number[] = [];
    const allPictures: number[] = [];
    try {
      for (let turn = 0; turn < times; turn += 1) {
        const stranger = await stage.prepare();
        await stranger.page.goto(`${origin}/`, { waitUntil: 'commit' });
        form.push(await seenAt(stranger, 'form'));
        await stranger.close();
        const watched = await stage.open('/wall/all?grid=2x2', { origin });
        wall.push(await seenAt(watched, 'tiles'));
        const { first, all } = await picturesAt(watched);
        firstPicture.push(first);
        allPictures.push(all);
        await watched.close();
      }
      return [
        spread('sign-in can be used', 'ms', form, { p50: 1_000 }),
        spread('the wall can be used', 'ms', wall, { p50: 1_000 }),
        spread('first picture', 'ms', firstPicture, { p50: 1_500 }),
        spread(`pictures in all ${TILES} tiles`, 'ms', allPictures, { p50: 2_500 }),
      ];
    } finally {
      await line.close();
      await stage.clear();
    }
  },
};
