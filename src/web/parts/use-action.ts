import { useEffect, useRef, useState } from 'preact/hooks';
import { asProblem, isAborted, type Problem } from '../data/problem.js';

export type Action<Given extends readonly unknown[]> = {
  readonly isBusy: boolean;
  /** Of the last time; null once it is tried again. */
  readonly problem: Problem | null;
  readonly run: (...given: Given) => Promise<void>;
  readonly forget: () => void;
};

/** Something that takes a moment and may fail: one at a time. */
export const useAction = <Given extends readonly unknown[]>(
  does: (...given: Given) => Promise<void>,
): Action<Given> => {
  const [isBusy, setIsBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const isRunning = useRef(false);
  const run = async (...given: Given): Promise<void> => {
    if (isRunning.current) return;
    isRunning.current = true;
    setIsBusy(true);
    setProblem(null);
    try {
      await does(...given);
    } catch (fault) {
      if (!isAborted(fault)) setProblem(asProblem(fault));
    } finally {
      isRunning.current = false;
      setIsBusy(false);
    }
  };
  return { isBusy, problem, run, forget: () => setProblem(null) };
};

export type Loaded<Value> = {
  /** What was read last; it stays while it is read anew, and when that fails. */
  readonly value: Value | null;
  readonly problem: Problem | null;
  readonly reload: () => void;
};

/** What a page reads from the service when it is shown, and again when `key` is another one. */
export const useLoaded = <Value>(load: (signal: AbortSignal) => Promise<Value>, key = ''): Loaded<Value> => {
  const [value, setValue] = useState<Value | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    load(abort.signal).then(
      (loaded) => {
        if (abort.signal.aborted) return;
        setValue(() => loaded);
        setProblem(null);
      },
      (fault: unknown) => {
        if (!abort.signal.aborted && !isAborted(fault)) setProblem(asProblem(fault));
      },
    );
    return () => abort.abort();
  }, [key, tries]);
  return { value, problem, reload: () => setTries((before) => before + 1) };
};
