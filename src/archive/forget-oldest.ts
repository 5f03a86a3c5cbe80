/** Forgets what was put in first, until what is left weighs no more than `most`; never `kept`. */
export const forgetOldest = <Value>(
  known: Map<string, Value>,
  weightOf: (value: Value) => number,
  most: number,
  kept: string,
): void => {
  let total = 0;
  for (const value of known.values()) total += weightOf(value);
  for (const [key, value] of known) {
    if (total <= most || key === kept) return;
    known.delete(key);
    total -= weightOf(value);
  }
};
