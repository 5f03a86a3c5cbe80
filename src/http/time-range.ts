import { z } from 'zod';
import { invalidInput } from './problem.js';

const DAY_MS = 86_400_000;

export type TimeRange = { readonly fromMs: number; readonly toMs: number };

/** A zone that isn't named is UTC; a `+` that wasn't encoded came as a space. */
const instantPattern =
  /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(?::(\d\d)(\.\d{1,9})?)?(?:Z|([+\- ]\d\d:\d\d))?)?$/i;

/** The moment that a text in ISO 8601 names, in ms since 1970, or null. */
export const parseInstant = (text: string): number | null => {
  const match = instantPattern.exec(text);
  if (match === null) return null;
  const [, date = '', time = '00:00', seconds = '00', fraction = '', zone = 'Z'] = match;
  // A date that is in no calendar would be taken for one of the next month.
  const day = Date.parse(`${date}T00:00:00Z`);
  if (Number.isNaN(day) || !new Date(day).toISOString().startsWith(date)) return null;
  const timeMs = Date.parse(
    `${date}T${time}:${seconds}${fraction.slice(0, 4)}${zone.replace(' ', '+').toUpperCase()}`,
  );
  return Number.isNaN(timeMs) ? null : timeMs;
};

/** A moment in a query. */
export const instantSchema = z
  .string()
  .max(40)
  .transform((text, context) => {
    const timeMs = parseInstant(text);
    if (timeMs !== null) return timeMs;
    context.addIssue({ code: 'custom', message: 'must be a time in ISO 8601, such as 2026-11-21T08:30:00Z' });
    return z.NEVER;
  })
  .meta({ description: 'ISO 8601; UTC if no zone is named' });

/** The range, if it is one and no longer than asked; a missing end is `nowMs`, a missing start a day before the end. */
export const rangeOf = (
  query: { readonly from?: number | undefined; readonly to?: number | undefined },
  nowMs: number,
  maxDays: number,
): TimeRange => {
  const toMs = query.to ?? nowMs;
  const fromMs = query.from ?? toMs - DAY_MS;
  if (fromMs >= toMs) throw invalidInput([{ path: 'from', message: 'must be before "to"' }]);
  if (toMs - fromMs > maxDays * DAY_MS)
    throw invalidInput([{ path: 'from', message: `must be at most ${maxDays} days before "to"` }]);
  return { fromMs, toMs };
};
