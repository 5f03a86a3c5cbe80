import { readdirSync, readFileSync } from 'node:fs';
import { ByteRelay } from '../support/byte-relay.js';
import { largest, quantile, type Row, spread } from './figures.js';
import type { Measure } from './measure.js';
import { type Draw, Stage, sleep, type WatchedPage } from './stage.js';
import { untilShown } from './walls.js';

const TILES = 4;
const ASLEEP_MS = 15_000;
const SETTLED_MS = 3_000;
/** So long it is looked whether pictures come again. */
const LOOK_MS = 9_000;
/** Pictures come each 67 ms; less than this is only late. */
const GAP_MS = 200;

/** What comes later than this after its time is no live picture. */
const STALE_MS = 1_000;

const medianDelay = (draws: readonly Draw[]): number =>
  quantile(
    draws.map(([, atMs, pictureMs]) => atMs - pictureMs),
    0.5,
  );

/** When live pictures were drawn: not those that are shown late, as one that was kept from before, nor those of another clock. */
const liveTimes = (draws: readonly Draw[], delayMs: number): number[] =>
  draws
    .filter(([, atMs, pictureMs]) => Math.abs(atMs - pictureMs - delayMs) < STALE_MS)
    .map(([, atMs]) => atMs);

/** When they came again: the end of the longest gap; `fromMs` where there is none worth its name, infinite where it never ended. */
const backAt = (times: readonly number[], fromMs: number, untilMs: number): number => {
  const sorted = [fromMs, ...times.filter((atMs) => atMs > fromMs).sort((a, b) => a - b)];
  if (untilMs - (sorted.at(-1) ?? 0) > GAP_MS * 4) return Number.POSITIVE_INFINITY;
  const gaps = sorted.slice(1).map((atMs, nth) => [atMs - (sorted[nth] ?? atMs), atMs] as const);
  const [longestMs, endMs] = gaps.sort(([a], [b]) => b - a)[0] ?? [0, fromMs];
  return longestMs > GAP_MS ? endMs : fromMs;
};

type Interruption = {
  readonly what: string;
  readonly budgetSec: number;
  /** With one tile, which may come back by another canvas or another way. */
  readonly isSingle?: boolean;
  /** Pictures go by another clock from then on. */
  readonly hasOtherClock?: boolean;
  /** Breaks it; gives the moment from which on it could be well again. */
  readonly happen: (watched: WatchedPage, stage: Stage, relay: ByteRelay) => Promise<number>;
};

/** All processes of the browser that this one started. */
const browserProcesses = (): number[] => {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // It has ended meanwhile.
    }
  }
  const isOurs = (pid: number): boolean => {
    const parent = parents.get(pid);
    return parent === process.pid || (parent !== undefined && parent > 1 && isOurs(parent));
  };
  const isChromium = (pid: number): boolean =>
    /chrom/.test(readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0')[0] ?? '');
  return [...parents.keys()].filter((pid) => {
    try {
      return isOurs(pid) && isChromium(pid);
    } catch {
      return false;
    }
  });
};

const signalBrowser = (signal: 'SIGSTOP' | 'SIGCONT'): void => {
  for (const pid of browserProcesses()) process.kill(pid, signal);
};

const interruptions: readonly Interruption[] = [
  {
    what: `the machine sleeps for ${ASLEEP_MS / 1_000} s`,
    budgetSec: 1,
    happen: async () => {
      signalBrowser('SIGSTOP');
      await sleep(ASLEEP_MS);
      signalBrowser('SIGCONT');
      return Date.now();
    },
  },
  {
    what: `the browser freezes the page for ${ASLEEP_MS / 1_000} s`,
    budgetSec: 1,
    happen: async ({ context, page }) => {
      const session = await context.newCDPSession(page);
      await session.send('Page.setWebLifecycleState', { state: 'frozen' });
      await sleep(ASLEEP_MS);
      await session.send('Page.setWebLifecycleState', { state: 'active' });
      const activeMs = Date.now();
      await session.detach();
      return activeMs;
    },
  },
  {
    what: 'the socket is cut',
    budgetSec: 3,
    happen: async (_watched, _stage, relay) => {
      relay.cut();
      return Date.now();
    },
  },
  {
    what: 'the service starts again (from when it listens)',
    budgetSec: 3,
    hasOtherClock: true,
    happen: async (_watched, stage) => stage.restart(),
  },
  {
    what: 'the decoder fails',
    budgetSec: 1,
    isSingle: true,
    happen: (watched) => watched.tellWorkers('failDecoders'),
  },
  {
    what: 'the browser takes the canvas away',
    budgetSec: 3,
    isSingle: true,
    happen: (watched) => watched.tellWorkers('loseCanvases'),
  },
];

/** Seconds until every tile has pictures again; a tile's canvas that was lost is no tile any more. */
const recover = async (
  stage: Stage,
  relay: ByteRelay,
  { happen, isSingle = false, hasOtherClock = false }: Interruption,
): Promise<number> => {
  const tiles = isSingle ? 1 : TILES;
  const origin = `http://127.0.0.1:${relay.port}`;
  const watched = await stage.open(isSingle ? '/camera/cam0' : '/wall/all?grid=2x2', { origin });
  await untilShown(watched, tiles);
  await sleep(SETTLED_MS);
  const before = (await watched.takeByCanvas()).map(medianDelay);
  const fromMs = await happen(watched, stage, relay);
  await sleep(LOOK_MS);
  const canvases = await watched.takeByCanvas();
  const untilMs = Date.now();
  const { videoDrawsMs } = await watched.facts();
  await watched.close();
  const times = canvases.map((draws, nth) => {
    const known = hasOtherClock ? undefined : before[nth];
    return liveTimes(draws, known ?? medianDelay(draws.filter(([, atMs]) => atMs > fromMs)));
  });
  const sources = isSingle ? [[...times.flat(), ...videoDrawsMs]] : times;
  return largest(sources.map((each) => (backAt(each, fromMs, untilMs) - fromMs) / 1_000));
};

export const recovery: Measure = {
  name: 'recovery',
  about: 'seconds until every tile has live pictures again',
  seconds: 3,
  run: async (times) => {
    const stage = await Stage.set({ cameras: TILES });
    const relay = await ByteRelay.start(Number(new URL(stage.service.url).port));
    try {
      const rows: Row[] = [];
      for (const interruption of interruptions) {
        const seconds: number[] = [];
        for (let turn = 0; turn < times; turn += 1) seconds.push(await recover(stage, relay, interruption));
        rows.push(spread(interruption.what, 's', seconds, { max: interruption.budgetSec }));
      }
      return rows;
    } finally {
      await relay[Symbol.asyncDispose]();
      await stage.clear();
    }
  },
};
