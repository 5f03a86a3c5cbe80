type Happened = { readonly from: string };

const FIRST_MS = 15 * 60_000;
const LEAST_MS = 1;
const GROWTH = 8;

/**
 * The first event behind a moment, of a service that tells the newest first, `most` at a time: looked for in pieces of time
 * that grow where nothing is, and shrink where there is more than is told at once. Null: there is none up to `nowMs`.
 */
export const firstAfter = async <Event extends Happened>(
  load: (fromMs: number, toMs: number) => Promise<readonly Event[]>,
  timeMs: number,
  nowMs: number,
  most: number,
): Promise<Event | null> => {
  let fromMs = timeMs + 1;
  let lengthMs = FIRST_MS;
  while (fromMs < nowMs) {
    const toMs = Math.min(fromMs + lengthMs, nowMs);
    const events = await load(fromMs, toMs);
    const isWhole = events.length < most || toMs - fromMs <= LEAST_MS;
    if (isWhole && events.length > 0) return events.at(-1) ?? null;
    if (isWhole) {
      fromMs = toMs;
      lengthMs *= GROWTH;
    } else lengthMs = Math.max(LEAST_MS, Math.floor((toMs - fromMs) / GROWTH));
  }
  return null;
};
