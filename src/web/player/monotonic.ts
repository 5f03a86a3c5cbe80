/**
 * Milliseconds since 1970 by the clock that nobody sets: the same one in the page and in its workers (High Resolution
 * Time §4). It may stand still while the machine sleeps.
 */
export const monotonicMs = (): number => performance.timeOrigin + performance.now();
