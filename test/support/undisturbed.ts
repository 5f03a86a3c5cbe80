import type { TestContext } from 'node:test';
import { watchLateness } from './lateness.js';

const DISTURBED_MS = 250;
const MAX_TRIES = 3;

/**
 * What is promised only where nothing stands still meanwhile: tried again where it failed while this process was held
 * up, three times in all. What fails beside a process that ran on time fails at once. Each try begins from nothing.
 */
export const undisturbed = async <T>(t: TestContext, attempt: () => Promise<T>): Promise<T> => {
  const latenessMs = watchLateness(t);
  for (let tries = 1; ; tries += 1) {
    latenessMs();
    try {
      return await attempt();
    } catch (error) {
      const lateMs = latenessMs();
      if (tries === MAX_TRIES || lateMs < DISTURBED_MS) throw error;
      t.diagnostic(`tried again, for this process stood still for ${Math.round(lateMs)} ms: ${error}`);
    }
  }
};
