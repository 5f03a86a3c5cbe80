import { z } from 'zod';

/** Looks no deeper than the limit, however deep it goes. */
const isWithin = (value: unknown, depth: number): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (depth > 0 && Object.values(value).every((part) => isWithin(part, depth - 1)));

/** Any JSON object; no deeper than that, since whoever writes it out again goes down as deep. */
export const jsonObject = (maxDepth: number) =>
  z
    .record(z.string(), z.unknown())
    .refine((value) => isWithin(value, maxDepth), `must not be deeper than ${maxDepth} levels`);
