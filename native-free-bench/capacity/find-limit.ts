/** How near the largest number that holds and the smallest that doesn't come, as a share of them. */
const PRECISION = 0.05;
const LEAST_STEP = 2;

export type Limit = {
  /** The largest number that held; 0: none did. */
  readonly held: number;
  /** The smallest one that didn't; null: all up to `most` held. */
  readonly failed: number | null;
};

const isNear = (held: number, failed: number): boolean =>
  failed - held <= Math.max(LEAST_STEP, Math.floor(held * PRECISION));

/** Doubles until something no longer holds, and then bisects; nothing is tried twice. */
export const findLimit = async (
  first: number,
  most: number,
  holds: (count: number) => Promise<boolean>,
): Promise<Limit> => {
  let held = 0;
  let failed: number | null = null;
  let next = Math.min(first, most);
  for (;;) {
    if (await holds(next)) held = next;
    else failed = next;
    if (failed === null) {
      if (held === most) return { held, failed };
      next = Math.min(most, held * 2);
    } else if (isNear(held, failed)) return { held, failed };
    else next = Math.round((held + failed) / 2);
  }
};
