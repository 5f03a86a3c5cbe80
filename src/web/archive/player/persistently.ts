import { Backoff } from '../../socket/backoff.js';
import { FramesFault } from './frames-fault.js';

/** Until it is time, or nobody wants it any more. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });

/**
 * Asks the service again, later each time, for as long as it doesn't answer; `tell` hears why, and null once it answered.
 * What fails otherwise is no matter of time, and is thrown.
 */
export const persistently = async <Answer>(
  ask: () => Promise<Answer>,
  tell: (why: string | null) => void,
  signal: AbortSignal,
): Promise<Answer> => {
  const backoff = new Backoff();
  for (;;) {
    try {
      const answer = await ask();
      tell(null);
      return answer;
    } catch (fault) {
      if (!(fault instanceof FramesFault) || signal.aborted) throw fault;
      tell(fault.message);
      await pause(backoff.next(), signal);
      if (signal.aborted) throw fault;
    }
  }
};
