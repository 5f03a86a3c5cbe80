/** So many lines across a picture are enough. */
const MOST_TICKS = 5;

/** Round numbers from 0 to the first that is not below `highest`; at least two. */
export const linearTicks = (highest: number): number[] => {
  const rough = Math.max(highest, 1e-9) / MOST_TICKS;
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const step = magnitude * ([1, 2, 5, 10].find((factor) => factor * magnitude >= rough * 0.999_999) ?? 10);
  const count = Math.max(1, Math.ceil(highest / step - 1e-6));
  return Array.from({ length: count + 1 }, (_, index) => index * step);
};

/** Powers of ten around all that lies between two numbers; at least two. */
export const logTicks = (lowest: number, highest: number): number[] => {
  const first = Math.floor(Math.log10(lowest) + 1e-9);
  const last = Math.max(first + 1, Math.ceil(Math.log10(highest) - 1e-9));
  return Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index));
};

/** As short as it is exact enough for an axis. */
export const tickText = (value: number): string =>
  value === 0 ? '0' : Number(value.toPrecision(3)).toString();
