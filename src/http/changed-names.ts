import { isDeepStrictEqual } from 'node:util';

/** Which of the fields that were sent are others now: many clients send back all that they got. */
export const changedNames = <Thing extends object>(
  sent: Partial<Thing>,
  before: Thing | undefined,
  after: Thing,
): string[] => {
  const names = Object.keys(sent) as (keyof Thing & string)[];
  return names.filter((name) => !isDeepStrictEqual(before?.[name], after[name])).sort();
};
