import { all, at, attribute, type Element, textOf, utcMs } from '../../analytics/xml-tree.js';
import { MAX_AGE_MS } from './pulled-notices.js';

/** As many are asked for at once. */
export const MAX_MESSAGES = 32;

const messagesOf = (answer: Element): readonly Element[] => all(answer, 'NotificationMessage');

/** By the camera's clock; null: it doesn't say. */
export const currentUtcMs = (answer: Element): number | null => utcMs(textOf(at(answer, 'CurrentTime')));

/** When the newest of its messages happened, by the camera's clock; null: it doesn't say. */
const newestUtcMs = (answer: Element): number | null => {
  let newestMs: number | null = null;
  for (const message of messagesOf(answer)) {
    const inside = at(message, 'Message', 'Message') ?? at(message, 'Message');
    const thenMs = utcMs(attribute(inside, 'UtcTime'));
    if (thenMs !== null && thenMs > (newestMs ?? Number.NEGATIVE_INFINITY)) newestMs = thenMs;
  }
  return newestMs;
};

/**
 * How long ago that was before which all is told: messages come in their order, and some cameras tell fewer at once than they
 * have, and are asked for. Null: nobody knows.
 */
export const toldAgoMs = (answer: Element): number | null => {
  const { length } = messagesOf(answer);
  if (length === 0) return 0;
  const [nowMs, newestMs] = [currentUtcMs(answer), newestUtcMs(answer)];
  if (nowMs === null || newestMs === null) return length < MAX_MESSAGES ? 0 : null;
  // What is older tells of a state that is so since then.
  return nowMs - newestMs <= MAX_AGE_MS ? Math.max(nowMs - newestMs, 0) : null;
};

/** Whether all is told that happened up to then, by the camera's clock; null: nobody knows when that is. */
export const isToldUntil = (answer: Element, thenMs: number | null): boolean => {
  if (messagesOf(answer).length === 0) return true;
  const newestMs = newestUtcMs(answer);
  return thenMs !== null && newestMs !== null && newestMs > thenMs;
};
