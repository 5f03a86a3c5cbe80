import { z } from 'zod';

/** What is known of a camera whose recordings are decided on. */
export type Decision = {
  /** Recordings that begin before are decided on. */
  readonly decidedMs: number;
  /** When recordings began that stay since their writer died. */
  readonly leftMs: readonly number[];
  /** From when until when nobody saw what happened. */
  readonly blindMs: readonly [from: number, to: number] | null;
};

/** A time; or it, and the beginnings of recordings whose writers died; or these, and when nothing was seen. */
const stored = z
  .union([
    z.number().transform((decidedMs) => ({ times: [decidedMs], blind: null })),
    z.array(z.number()).transform((times) => ({ times, blind: null })),
    z.object({ times: z.array(z.number()), blind: z.tuple([z.number(), z.number()]) }),
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
    const [decidedMs, ...leftMs] = data.times;
    result.set(cameraId, { decidedMs: decidedMs!, leftMs, blindMs: data.blind });
  }
  return result;
};

/** As short as it can be: it is written anew with each recording that is decided on. */
export const decisionsText = (decisions: ReadonlyMap<string, Decision>): string =>
  JSON.stringify(
    Object.fromEntries(
      [...decisions].map(([cameraId, { decidedMs, leftMs, blindMs }]) => {
        const times = [decidedMs, ...leftMs];
        if (blindMs !== null) return [cameraId, { times, blind: blindMs }];
        return [cameraId, leftMs.length === 0 ? decidedMs : times];
      }),
    ),
  );
