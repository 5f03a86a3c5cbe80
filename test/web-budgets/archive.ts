import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { Zone } from '../../src/web/archive/tape/zone.js';
import { addDays } from '../../src/web/data/zones.js';
import { until } from '../support/until.js';
import { failed, type Row, spread } from './figures.js';
import type { Measure } from './measure.js';
import { FRAME_RATE_HZ, GOP_FRAMES } from './moving-picture.js';
import { type Span, writeRecordings } from './recordings.js';
import { Stage, scriptOf, sleep } from './stage.js';

const CAMERAS = ['cam0', 'cam1', 'cam2', 'cam3'];
const ZONE = 'Europe/Berlin';
const HOUR_MS = 3_600_000;
const FRAME_MS = 1_000 / FRAME_RATE_HZ;
const GOP_MS = GOP_FRAMES * FRAME_MS;
/** The recordings of one place fit into it. */
const VIEW_MS = 1_800_000;
const EDGE_MS = 5_000;
/** The day on which clocks went back is still to be there. */
const RETENTION_DAYS = 400;
const STEPS = 3;

type Place = { readonly name: string; readonly fromMs: number };

/** Half an hour of today, and of the last day on which clocks went back: there from before until after. */
const placesOf = (): Place[] => {
  const zone = new Zone(ZONE);
  let day = addDays(zone.dayOf(Date.now()), -1);
  while (zone.boundsOf(day).toMs - zone.boundsOf(day).fromMs !== 25 * HOUR_MS) day = addDays(day, -1);
  return [
    { name: 'today', fromMs: Date.now() - HOUR_MS },
    { name: `${day}, a day of 25 hours`, fromMs: zone.boundsOf(day).fromMs + 2.8 * HOUR_MS },
  ];
};

/** Different ones, the same at each run. */
const momentsIn = (spans: readonly Span[], count: number): number[] =>
  Array.from({ length: count }, (_, nth) => {
    const [from, to] = spans[nth % spans.length] ?? [0, 0];
    const share = (nth * 0.618_034) % 1;
    return from + EDGE_MS + share * (to - from - 2 * EDGE_MS);
  });

/** The tape of an open archive: a moment's place on it. */
class Tape {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  async pointOf(timeMs: number): Promise<{ x: number; y: number }> {
    const slider = this.#page.getByRole('slider').first();
    const box = await slider.boundingBox();
    if (box === null) throw new Error('there is no tape');
    const from = Number(await slider.getAttribute('aria-valuemin')) * 1_000;
    const to = Number(await slider.getAttribute('aria-valuemax')) * 1_000;
    return { x: box.x + ((timeMs - from) / (to - from)) * box.width, y: box.y + 44 };
  }

  /** A click there; how long it took until all show that moment. */
  async seek(timeMs: number): Promise<number | null> {
    const { x, y } = await this.pointOf(timeMs);
    await this.#page.evaluate(`archiveProbe.arm('seek', ${FRAME_MS + 2})`);
    await this.#page.mouse.click(x, y);
    return await this.#page.evaluate<number | null>('archiveProbe.taken');
  }

  /** Along the moments with the button held; how long each took until all show the keyframe before it. */
  async scrub(moments: readonly number[]): Promise<(number | null)[]> {
    const { mouse } = this.#page;
    const start = await this.pointOf(moments[0] ?? 0);
    await mouse.move(start.x, start.y);
    await mouse.down();
    const taken: (number | null)[] = [];
    for (const timeMs of moments.slice(1)) {
      const { x, y } = await this.pointOf(timeMs);
      await this.#page.evaluate(`archiveProbe.arm('scrub', ${GOP_MS + 2})`);
      await mouse.move(x, y);
      taken.push(await this.#page.evaluate<number | null>('archiveProbe.taken'));
    }
    await mouse.up();
    return taken;
  }
}

const toRow = (what: string, taken: readonly (number | null)[], limits: { p50: number; p95: number }): Row =>
  spread(
    what,
    'ms',
    taken.map((each) => each ?? Number.POSITIVE_INFINITY),
    limits,
  );

const measureAt = async (
  stage: Stage,
  { name, fromMs }: Place,
  spans: readonly Span[],
  turns: number,
): Promise<Row[]> => {
  const own = spans.filter(([from]) => from >= fromMs && from < fromMs + VIEW_MS);
  const watched = await stage.prepare({ origin: stage.service.url });
  const { page } = watched;
  try {
    await watched.context.addInitScript(scriptOf('archive-probe.js'));
    const t = new Date(fromMs + VIEW_MS / 2).toISOString();
    await page.goto(`${stage.service.url}/archive?cameras=${CAMERAS.join()}&t=${t}&span=${VIEW_MS / 1_000}`);
    await until(`the archive of ${name} is there`, async () => {
      await sleep(100);
      return await page.evaluate<boolean>(
        "archiveProbe.factsNow().phase === 'paused' && document.querySelectorAll('[data-camera]').length === 4",
      );
    });
    await sleep(2_000);
    const tape = new Tape(page);
    const seeks: (number | null)[] = [];
    for (const moment of momentsIn(own, turns)) seeks.push(await tape.seek(moment));
    // Gaps lie between them, and are passed.
    const scrubs = await tape.scrub(momentsIn(own, turns * STEPS).sort((a, b) => a - b));
    await tape.seek((own[0]?.[0] ?? 0) + EDGE_MS);
    await page.keyboard.press('Space');
    const skews = await page.evaluate<number[]>(`archiveProbe.skews(${turns * 1_000})`);
    return [
      toRow(`${name}: seek, ${CAMERAS.length} cameras`, seeks, { p50: 400, p95: 800 }),
      toRow(`${name}: scrub, ${CAMERAS.length} cameras`, scrubs, { p50: 150, p95: 300 }),
      spread(`${name}: ${CAMERAS.length} in step, skew`, 'ms', skews, { p95: 80 }),
    ];
  } finally {
    await watched.close();
  }
};

/** The tape shows 02:30 twice, with other offsets. */
const axisRow = async (stage: Stage, { name, fromMs }: Place): Promise<Row> => {
  const watched = await stage.open(`/archive?cameras=cam0&t=${new Date(fromMs).toISOString()}`);
  try {
    const slider = watched.page.getByRole('slider').first();
    await slider.waitFor();
    const bound = async (of: 'min' | 'max') => Number(await slider.getAttribute(`aria-value${of}`));
    const hours = await until('the tape shows a day', async () => {
      const seen = ((await bound('max')) - (await bound('min'))) / 3_600;
      await sleep(100);
      return seen > 20 && seen;
    });
    if (hours !== 25) return failed(`${name}: the tape`, `shows ${hours} hours`);
    return { what: `${name}: hours on the tape`, budget: '25', figure: String(hours), isHeld: true };
  } finally {
    await watched.close();
  }
};

export const archive: Measure = {
  name: 'archive',
  about: 'seek, scrub and four in step, over recordings with gaps, also where clocks go back',
  seconds: 30,
  run: async (turns) => {
    const stage = await Stage.set({});
    try {
      const places = placesOf();
      const spans = writeRecordings(
        join(stage.dataDir, 'recordings'),
        CAMERAS,
        places.map(({ fromMs }) => fromMs),
      );
      const settings = { url: 'rtsp://127.0.0.1:1/none', disabled: true, retention_days: RETENTION_DAYS };
      for (const id of CAMERAS) await stage.ask('POST', '/api/cameras', { id, ...settings });
      await stage.ask('PUT', '/api/settings', { time_zone: ZONE });
      // They came while it ran: it looks at folders when it starts.
      await stage.restart();
      const rows: Row[] = [];
      for (const place of places) rows.push(...(await measureAt(stage, place, spans, turns)));
      const [, dst] = places;
      return dst === undefined ? rows : [...rows, await axisRow(stage, dst)];
    } finally {
      await stage.clear();
    }
  },
};
