import type { TestContext } from 'node:test';

const MAX_TRIES = 3;

/**
 * What is promised only where no process stands still, not another one either, of which nothing tells: one clean try of
 * three will do. What an attempt asserts itself holds in each of them. Each try begins from nothing.
 */
export const cleanTry = async <T>(
  t: TestContext,
  attempt: () => Promise<T>,
  assertClean: (result: T) => void,
): Promise<T> => {
  for (let tries = 1; ; tries += 1) {
    const result = await attempt();
    try {
      assertClean(result);
      return result;
    } catch (error) {
      if (tries === MAX_TRIES) throw error;
      t.diagnostic(`tried again: ${error}`);
    }
  }
};
