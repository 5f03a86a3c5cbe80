/** Of what takes a moment: on a machine that is busy with something else, too. */
const DEFAULT_DEADLINE_MS = 60_000;
const POLL_MS = 2;

/**
 * Waits for a condition; `describe` is asked for what is there instead when the deadline passes. A value other
 * than false, null and undefined ends the wait and is returned.
 */
export const until = async <Value>(
  what: string,
  condition: () => Value | false | null | undefined | Promise<Value | false | null | undefined>,
  options: { readonly deadlineMs?: number; readonly describe?: () => string } = {},
): Promise<Value> => {
  const deadlineMs = options.deadlineMs ?? DEFAULT_DEADLINE_MS;
  const startMs = performance.now();
  for (;;) {
    const value = await condition();
    if (value !== false && value !== null && value !== undefined) return value;
    if (performance.now() - startMs > deadlineMs) {
      const seen = options.describe === undefined ? '' : `; there is: ${options.describe()}`;
      throw new Error(`waited ${deadlineMs} ms in vain until ${what}${seen}`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
};
