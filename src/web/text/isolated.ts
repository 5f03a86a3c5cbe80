/** Letters that are written from right to left, and marks that turn the direction (Unicode, UAX #9). */
const TURNING =
  /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const ISOLATE = '\u2068';
const END_OF_ISOLATE = '\u2069';

/** What people named turns nothing round but itself. */
export const isolated = (text: string): string =>
  TURNING.test(text) ? ISOLATE + text.replace(/[\u202a-\u202e\u2066-\u2069]/g, '') + END_OF_ISOLATE : text;
