import type { TileProblem } from '../socket/tile-answer.js';
import type { Step } from './governor.js';
import type { Rung, RungReason } from './ladder.js';
import { type Freshness, freshnessOf } from './lag.js';
import type { TileReport } from './tile-report.js';

/** What is to be said of a tile. */
export type TileView = {
  readonly rung: Rung;
  /** Why it isn't the best one; null: it is. */
  readonly reason: RungReason | null;
  readonly step: Step;
  readonly isKeysOnly: boolean;
  readonly stream: 'main' | 'sub';
  /** `waiting`: there was no picture yet. */
  readonly freshness: Freshness | 'waiting';
  /** Of what is on the screen; null: not known, or not live. */
  readonly lagMs: number | null;
  readonly ageMs: number;
  readonly problem: TileProblem | null;
  readonly report: TileReport | null;
};

export type TileFacts = {
  readonly rung: Rung;
  readonly reason: RungReason | null;
  readonly step: Step;
  readonly stream: 'main' | 'sub';
  readonly problem: TileProblem | null;
  readonly report: TileReport | null;
  /** When the last picture came to the screen, by the clock that nobody sets; 0: never. */
  readonly drawnMs: number;
  /** The service gets nothing from the camera. */
  readonly isCameraAway: boolean;
  /** The machine slept for so long since then. */
  readonly sleptMs: number;
  readonly intervalMs: number;
  /** The service's wall clock of that picture; 0: not known. */
  readonly wallMs: number;
  /** This page's clock less the service's. */
  readonly offsetMs: number | null;
};

/** Lags are shown in tenths of a second. */
const roundLag = (lagMs: number): number => Math.max(0, Math.round(lagMs / 100)) * 100;

const lagOf = ({ wallMs, drawnMs, offsetMs }: TileFacts): number | null =>
  wallMs === 0 || offsetMs === null ? null : roundLag(drawnMs - offsetMs - wallMs);

/** Less than this may be the way here, and the clocks. */
const OLD_PICTURE_MS = 5_000;

/** How old the picture is: what comes of a camera that is gone was old already when it was drawn. */
const ageOf = (facts: TileFacts, nowMs: number): number => {
  const { rung, drawnMs, sleptMs, wallMs, offsetMs } = facts;
  if (drawnMs === 0) return 0;
  const shownMs = Math.max(0, nowMs - drawnMs) + sleptMs;
  const isBySocket = rung === 'webcodecs' || rung === 'mse';
  if (!isBySocket || wallMs === 0 || offsetMs === null) return shownMs;
  const sinceMs = nowMs - offsetMs - wallMs;
  return sinceMs > OLD_PICTURE_MS ? Math.max(shownMs, sinceMs) : shownMs;
};

export const viewOf = (facts: TileFacts, nowMs: number): TileView => {
  const { rung, reason, step, stream, problem, report, drawnMs } = facts;
  const ageMs = ageOf(facts, nowMs);
  // Keyframes may be far apart: of a camera that is known to be away none is waited for.
  const intervalMs = facts.isCameraAway ? 0 : facts.intervalMs;
  const freshness = drawnMs === 0 ? 'waiting' : freshnessOf(ageMs, intervalMs);
  return {
    ...{ rung, reason, step, stream, problem, report, freshness },
    isKeysOnly: step === 'key' || report?.isKeysOnly === true,
    lagMs: freshness === 'live' ? lagOf(facts) : null,
    // Ages are shown in seconds: what is live has none.
    ageMs: freshness === 'live' ? 0 : Math.floor(ageMs / 1_000) * 1_000,
  };
};

/** Whether the same is to be said: a tile is drawn anew only if not. Figures are for those who read them by the second. */
export const saysTheSame = (a: TileView, b: TileView): boolean =>
  a.rung === b.rung &&
  a.reason === b.reason &&
  a.step === b.step &&
  a.isKeysOnly === b.isKeysOnly &&
  a.stream === b.stream &&
  a.freshness === b.freshness &&
  a.lagMs === b.lagMs &&
  a.ageMs === b.ageMs &&
  a.problem?.code === b.problem?.code &&
  a.problem?.detail === b.problem?.detail;
