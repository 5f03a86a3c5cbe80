import type { PostOutcome } from './post.js';

/** What an attempt means for what is yet to be sent. */
export type Verdict =
  /** It has it. */
  | 'delivered'
  /** The receiver takes nothing now: all waits, in order. */
  | 'away'
  /** The receiver does not take this one: others go on without it. */
  | 'refused'
  /** It wants nothing any more (410). */
  | 'gone';

const SEC_MS = 1_000;
const MIN_MS = 60 * SEC_MS;
const HOUR_MS = 60 * MIN_MS;

/** A receiver that fails at one message each time must not keep all others for days. */
export const MAX_TRIES_IN_FRONT = 6;

/** After the n-th failure in a row of a receiver: it is asked again within 15 minutes, however long it was away. */
const awayMs = [5 * SEC_MS, 15 * SEC_MS, MIN_MS, 3 * MIN_MS, 8 * MIN_MS, 15 * MIN_MS] as const;
/** After the n-th time that a message was refused: about as Standard Webhooks proposes. */
const refusedMs = [
  MIN_MS,
  5 * MIN_MS,
  30 * MIN_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
] as const;
/** A receiver that asks for more is asked again all the same. */
export const MAX_WAIT_MS = 24 * HOUR_MS;

const JITTER = 0.2;

const busyStatuses: ReadonlySet<number> = new Set([408, 425, 429]);

/** `attempts`: of this message, this one included. */
export const verdictOf = ({ status }: Pick<PostOutcome, 'status'>, attempts: number): Verdict => {
  if (status === null || busyStatuses.has(status)) return 'away';
  if (status >= 200 && status < 300) return 'delivered';
  if (status === 410) return 'gone';
  if (status >= 500) return attempts < MAX_TRIES_IN_FRONT ? 'away' : 'refused';
  return 'refused';
};

/** RFC 9110, section 10.2.3: seconds, or a date. Null: it says nothing of use. */
export const retryAfterMs = (text: string, wallMs: number): number | null => {
  const trimmed = text.trim();
  const waitMs = /^\d{1,9}$/.test(trimmed) ? Number(trimmed) * SEC_MS : Date.parse(trimmed) - wallMs;
  return Number.isFinite(waitMs) && waitMs > 0 ? Math.min(waitMs, MAX_WAIT_MS) : null;
};

/** `random`: from 0 to 1; receivers that many services ask are not asked by all of them at once. */
const waitOf = (waits: readonly number[], count: number, random: number): number =>
  waits[Math.min(Math.max(count, 1), waits.length) - 1]! * (1 + JITTER * random);

/** How long a receiver is left alone after so many failures in a row. */
export const waitForReceiverMs = (failures: number, random: number, askedMs: number | null): number =>
  Math.max(waitOf(awayMs, failures, random), askedMs ?? 0);

/** How long a message waits that was refused so often. */
export const waitForMessageMs = (attempts: number, random: number, askedMs: number | null): number =>
  Math.max(waitOf(refusedMs, attempts, random), askedMs ?? 0);
