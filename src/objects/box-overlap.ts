import type { Box } from './seen-object.js';

/** How much of two boxes is both's: 1, they are the same; 0, they share nothing. */
export const overlapOf = (a: Box, b: Box): number => {
  const width = Math.min(a[0] + a[2], b[0] + b[2]) - Math.max(a[0], b[0]);
  const height = Math.min(a[1] + a[3], b[1] + b[3]) - Math.max(a[1], b[1]);
  if (width <= 0 || height <= 0) return 0;
  const both = width * height;
  return both / (a[2] * a[3] + b[2] * b[3] - both);
};
