import type { TestContext } from 'node:test';

const MAX_TRIES = 3;

/**
 * What is promised only while no process stands still, where another one than ours may, and nothing tells us of it:
 * `assertClean` must hold in one try of three. What an attempt asserts itself must hold in each. Each begins from nothing.
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
