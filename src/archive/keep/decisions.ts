import { z } from 'zod';

/** What is known of a camera whose recordings are decided on. */
export type Decision = {
  /** Recordings that begin before are decided on. */
  readonly decidedMs: number;
  /** When recordings began that stay since their writer died. */
  readonly leftMs: readonly number[];
  /** From when until when nobody saw what happened. */
  readonly blindMs: readonly [from: number, to: number] | null;
  /** Until when all was seen that happened. */
  readonly seenMs: number;
};

type Stored = { times: number[]; blind?: [number, number] | undefined; seen?: number | undefined };

/**
 * A time, and the beginnings of recordings whose writers died; when nothing was seen, and until when all was. Earlier versions
 * wrote less: what they didn't decide on may not have been seen.
 */
const stored = z
  .union([
    z.number().transform((decidedMs): Stored => ({ times: [decidedMs] })),
    z.array(z.number()).transform((times): Stored => ({ times })),
    z.object({
      times: z.array(z.number()),
      blind: z.tuple([z.number(), z.number()]).optional(),
      seen: z.number().optional(),
    }),
  ])
  .refine(({ times }) => times.length > 0);

/** By camera; whatever can't be read is not known. */
export const parseDecisions = (text: string | null): Map<string, Decision> => {
  const result = new Map<string, Decision>();
  let value: unknown;
  try {
    value = JSON.parse(text ?? '{}');
  } catch {
    return result;
  }
  if (typeof value !== 'object' || value === null) return result;
  for (const [cameraId, of] of Object.entries(value)) {
    const { data } = stored.safeParse(of);
    if (data === undefined) continue;
    const { times, blind = null, seen } = data;
    const [decidedMs, ...leftMs] = times;
    result.set(cameraId, { decidedMs: decidedMs!, leftMs, blindMs: blind, seenMs: seen ?? decidedMs! });
  }
  return result;
};

/** It is written anew with each look. */
export const decisionsText = (decisions: ReadonlyMap<string, Decision>): string =>
  JSON.stringify(
    Object.fromEntries(
      [...decisions].map(([cameraId, { decidedMs, leftMs, blindMs, seenMs }]) => {
        const blind = blindMs === null ? {} : { blind: blindMs };
        return [cameraId, { times: [decidedMs, ...leftMs], ...blind, seen: seenMs }];
      }),
    ),
  );
