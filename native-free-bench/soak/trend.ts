/** A straight line through figures, and how sure its slope is: with 95 %, it lies between `low` and `high`. */
export type Trend = {
  readonly mean: number;
  readonly slope: number;
  readonly low: number;
  readonly high: number;
};

export type Sample = { readonly x: number; readonly y: number };

const Z_95 = 1.959_964;

/** Student's t for 95 %, from the normal distribution's by the expansion of Cornish and Fisher. */
const studentT = (freedom: number): number =>
  Z_95 +
  (Z_95 ** 3 + Z_95) / (4 * freedom) +
  (5 * Z_95 ** 5 + 16 * Z_95 ** 3 + 3 * Z_95) / (96 * freedom ** 2);

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** How much a residual says of the next: memory goes up and down in waves, so that neighbours are no news. */
const autocorrelation = (residuals: readonly number[]): number => {
  const all = sum(residuals.map((each) => each ** 2));
  if (all === 0) return 0;
  const neighbours = sum(residuals.slice(1).map((each, index) => each * residuals[index]!));
  return Math.min(0.99, Math.max(0, neighbours / all));
};

/** Least squares; null: three samples at different times are the least. */
export const trendOf = (samples: readonly Sample[]): Trend | null => {
  const count = samples.length;
  if (count < 3) return null;
  const [meanX, meanY] = [sum(samples.map(({ x }) => x)) / count, sum(samples.map(({ y }) => y)) / count];
  const spread = sum(samples.map(({ x }) => (x - meanX) ** 2));
  if (spread === 0) return null;
  const slope = sum(samples.map(({ x, y }) => (x - meanX) * (y - meanY))) / spread;
  const residuals = samples.map(({ x, y }) => y - meanY - slope * (x - meanX));
  const memory = autocorrelation(residuals);
  const effective = Math.max(3, (count * (1 - memory)) / (1 + memory));
  const freedom = effective - 2;
  // The variance of the slope, with as many samples as there would be if each were news.
  const variance = (sum(residuals.map((each) => each ** 2)) / count / freedom / spread) * count;
  const margin = studentT(freedom) * Math.sqrt(variance);
  return { mean: meanY, slope, low: slope - margin, high: slope + margin };
};
