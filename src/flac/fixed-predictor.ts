export const MAX_ORDER = 4;

/** The fixed predictor that leaves least of `samples[0, count)` (RFC 9639 §9.2.5). */
export const bestOrder = (samples: Int32Array, count: number): number => {
  if (count <= MAX_ORDER) return 0;
  let sum0 = 0;
  let sum1 = 0;
  let sum2 = 0;
  let sum3 = 0;
  let sum4 = 0;
  let last0 = samples[3]!;
  let last1 = last0 - samples[2]!;
  let last2 = last1 - (samples[2]! - samples[1]!);
  let last3 = last2 - (samples[2]! - 2 * samples[1]! + samples[0]!);
  for (let at = MAX_ORDER; at < count; at += 1) {
    const error0 = samples[at]!;
    const error1 = error0 - last0;
    const error2 = error1 - last1;
    const error3 = error2 - last2;
    const error4 = error3 - last3;
    sum0 += Math.abs(error0);
    sum1 += Math.abs(error1);
    sum2 += Math.abs(error2);
    sum3 += Math.abs(error3);
    sum4 += Math.abs(error4);
    last0 = error0;
    last1 = error1;
    last2 = error2;
    last3 = error3;
  }
  let order = 0;
  let least = sum0;
  if (sum1 < least) [order, least] = [1, sum1];
  if (sum2 < least) [order, least] = [2, sum2];
  if (sum3 < least) [order, least] = [3, sum3];
  if (sum4 < least) order = 4;
  return order;
};

/** What the predictor of this order leaves, into `residual[order, count)`. */
export const predict = (samples: Int32Array, count: number, order: number, residual: Int32Array): void => {
  for (let at = 0; at < count; at += 1) residual[at] = samples[at]!;
  // Each order is the difference of the one below.
  for (let pass = 1; pass <= order; pass += 1)
    for (let at = count - 1; at >= pass; at -= 1) residual[at] = residual[at]! - residual[at - 1]!;
};
