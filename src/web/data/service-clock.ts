import { monotonicMs } from '../player/monotonic.js';
import { ClockEstimate } from './clock-estimate.js';

/** By so much this machine's clock goes on while the one that nobody sets stands still: it slept. */
const SLEPT_MS = 1_000;

const estimate = new ClockEstimate();
const listeners = new Set<() => void>();
let aheadMs: number | null = null;
/** When it was last seen that this machine had slept, by the clock that nobody sets. */
let foundSleepMs = Number.NEGATIVE_INFINITY;

/** Told whenever the service has told its time. */
export const onServiceTime = (listener: () => void): void => void listeners.add(listener);

/** One that is set back did not sleep. */
const noteSleep = (nowMs: number): void => {
  const isAheadMs = Date.now() - nowMs;
  const sleptMs = isAheadMs - (aheadMs ?? isAheadMs);
  aheadMs = isAheadMs;
  if (sleptMs <= SLEPT_MS) return;
  foundSleepMs = nowMs;
  estimate.stoodStill(sleptMs);
};

const tell = (): void => {
  for (const listener of listeners) listener();
};

/** As an answer's header has it; `sentMs`: when it was asked for, by the clock that nobody sets. */
export const noteServiceTime = (sentMs: number, header: string | null): void => {
  const serverMs = Date.parse(header ?? '');
  if (Number.isNaN(serverMs)) return;
  const nowMs = monotonicMs();
  noteSleep(nowMs);
  // Asked for before the sleep, it may have been told before it, too: it bounds nothing.
  if (sentMs > foundSleepMs) estimate.noteAnswer(sentMs, serverMs, nowMs);
  tell();
};

/** As a socket has it every few seconds. */
export const noteServiceTick = (serverMs: number, heardMs: number): void => {
  noteSleep(monotonicMs());
  estimate.noteTick(serverMs, heardMs);
  tell();
};

/** The service's clock less the one that nobody sets, and by how much that may be wrong; null: it has told nothing yet. */
export const serviceClock = (): { readonly offsetMs: number; readonly errorMs: number } | null => {
  const nowMs = monotonicMs();
  noteSleep(nowMs);
  return estimate.at(nowMs);
};

/**
 * Now by the service's clock, which recordings, events and all that is told of cameras go by, wherever the clock of the
 * machine before which the user sits stands. Pages and workers measure it each from what they are answered.
 */
export const serviceNowMs = (): number => {
  const known = serviceClock();
  return known === null ? Date.now() : monotonicMs() + known.offsetMs;
};
