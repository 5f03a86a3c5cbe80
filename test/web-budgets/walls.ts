import { until } from '../support/until.js';
import { atMost, failed, largest, noted, quantile, type Row, spread } from './figures.js';
import type { Measure } from './measure.js';
import { FRAME_RATE_HZ } from './moving-picture.js';
import { type Draw, Stage, sleep, type WatchedPage } from './stage.js';

const SETTLED_MS = 10_000;
const LONG_TASK_MS = 50;
/** A tile of which less than this is shown was lowered, or doesn't keep up. */
const WHOLE = 0.9;

/** Every tile has shown something. */
export const untilShown = async (watched: WatchedPage, tiles: number): Promise<void> => {
  const seen = new Map<string, number>();
  await until(
    `${tiles} tiles show pictures`,
    async () => {
      for (const [worker, { draws }] of (await watched.take()).entries())
        for (const [canvas] of draws) seen.set(`${worker} ${canvas}`, 1);
      await sleep(100);
      return seen.size >= tiles;
    },
    { deadlineMs: 60_000, describe: () => `${seen.size}` },
  );
};

/** How much later than it might each picture came to the screen, by its own clock. */
export const addedLags = (draws: readonly Draw[]): number[] => {
  const delays = draws.map(([, atMs, pictureMs]) => atMs - pictureMs);
  const least = -largest(delays.map((delay) => -delay));
  return delays.map((delay) => delay - least);
};

type Badge = { readonly camera: string; readonly badges: readonly string[] };
const BADGES = `[...document.querySelectorAll('[data-camera]')].map((tile) => ({ camera: tile.dataset.camera,
  badges: [...tile.querySelectorAll('[data-badge]')].map(({ dataset }) => dataset.badge) }))`;
const SAYS_LESS = ['sub', 'keyframes', 'still', 'stalled', 'away'];

const look = async (stage: Stage, watched: WatchedPage, seconds: number) => {
  await watched.take();
  const sentBefore = await stage.cameras.sent();
  const startMs = Date.now();
  await sleep(seconds * 1_000);
  const sentAfter = await stage.cameras.sent();
  const endMs = Date.now();
  const badges = await watched.page.evaluate<Badge[]>(BADGES);
  const all = await watched.takeByCanvas();
  const drawn = all.map((draws) => draws.filter(([, atMs]) => atMs >= startMs && atMs < endMs));
  const facts = await watched.facts();
  const sent = sentAfter.map((count, nth) => count - (sentBefore[nth] ?? 0));
  const longMs = facts.longTasksMs.filter(([atMs]) => atMs >= startMs).map(([, duration]) => duration);
  return { sent, drawn, badges, longMs };
};

const onWall = async (
  tiles: number,
  grid: string,
  seconds: number,
  rowsOf: (seen: Awaited<ReturnType<typeof look>>) => readonly Row[],
): Promise<readonly Row[]> => {
  const stage = await Stage.set({ cameras: tiles });
  try {
    const watched = await stage.open(`/wall/all?grid=${grid}`);
    await untilShown(watched, tiles);
    await sleep(SETTLED_MS);
    return rowsOf(await look(stage, watched, seconds));
  } finally {
    await stage.clear();
  }
};

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

export const wall16: Measure = {
  name: 'wall-16',
  about: '16 tiles of 640x360 at 15 pictures a second',
  seconds: 60,
  run: (seconds) =>
    onWall(16, '4x4', seconds, ({ sent, drawn, longMs, badges }) => {
      // A picture may be on its way at each end.
      const missing = 1 - sum(drawn.map(({ length }) => length)) / sum(sent);
      const lowered = badges.filter((tile) => tile.badges.some((badge) => SAYS_LESS.includes(badge)));
      return [
        atMost(
          `pictures not shown, of ${sum(sent)} that the cameras sent`,
          '%',
          Math.max(0, missing * 100),
          1,
        ),
        spread('added lag', 'ms', drawn.flatMap(addedLags), { p95: 150 }),
        atMost('longest task of the main thread', 'ms', Math.max(0, ...longMs), LONG_TASK_MS),
        noted('tiles that show less, and say so', String(lowered.length)),
      ];
    }),
};

export const wall36: Measure = {
  name: 'wall-36',
  about: '36 tiles of 640x360 at 15 pictures a second',
  seconds: 60,
  run: (seconds) =>
    onWall(36, '6x6', seconds, ({ sent, drawn, longMs, badges }) => {
      const wholeFrames = quantile(sent, 0.5) * WHOLE;
      const less = drawn.filter(({ length }) => length < wholeFrames).length;
      const badged = badges.filter((tile) => tile.badges.some((badge) => SAYS_LESS.includes(badge))).length;
      const shown = (sum(drawn.map(({ length }) => length)) / sum(sent)) * 100;
      // A tile that was lowered to stills has no canvas, and draws nothing here.
      const unsaid = Math.max(0, less + (36 - drawn.length) - badged);
      return [
        spread('added lag', 'ms', drawn.flatMap(addedLags), { p95: 300 }),
        atMost('tiles that show less and do not say so', 'tiles', unsaid, 0),
        noted('tiles that say that they show less', `${badged} of ${badges.length}`),
        noted('pictures shown', `${shown.toFixed(1)} % at ${FRAME_RATE_HZ} a second`),
        noted('longest task of the main thread', `${Math.round(Math.max(0, ...longMs))} ms`),
        ...(badges.length === 36 ? [] : [failed('tiles', `${badges.length} of 36`)]),
      ];
    }),
};
