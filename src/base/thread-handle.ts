import { Worker } from 'node:worker_threads';
import { messageOf } from './errors.js';

/** A running thread, as its main side sees it; in tests it may be something else than a thread. */
export interface ThreadHandle<To> {
  /** `memory` goes along instead of being copied. */
  send(message: To, memory?: readonly ArrayBuffer[]): void;
  /** Asks the thread to end, and kills it if it doesn't. */
  stop(): Promise<void>;
}

/** One that may be killed. */
export interface KillableThread<To> extends ThreadHandle<To> {
  /** For a thread that hangs: ends it without asking. `onLost` follows, a few seconds later at most. */
  kill(reason: string): void;
}

export type ThreadEvents<From> = {
  onMessage(message: From): void;
  /** Once, if the thread ends without being asked to. */
  onLost(reason: string): void;
};

export type ThreadOptions = {
  readonly entry: URL;
  readonly name: string;
  readonly workerData: unknown;
  readonly stopTimeoutMs: number;
};

/**
 * A thread that is killed runs no more JavaScript from that moment on, but is gone only when the system call that it
 * may be in returns: on a disk that is gone, never.
 */
const KILL_TIMEOUT_MS = 5_000;

const endsWithin = (exited: Promise<void>, timeoutMs: number): Promise<boolean> =>
  new Promise((resolve) => {
    const deadline = setTimeout(() => resolve(false), timeoutMs);
    void exited.then(() => {
      clearTimeout(deadline);
      resolve(true);
    });
  });

/** In the place of a thread for which the machine has no room: it is lost as soon as its owner knows it. */
const lostAtOnce = <To>(reason: string, onLost: (reason: string) => void): KillableThread<To> => {
  const told = setImmediate(() => onLost(reason));
  return {
    send: () => {},
    stop: () => {
      clearImmediate(told);
      return Promise.resolve();
    },
    kill: () => {},
  };
};

/** Starts a thread that ends by itself when it is told `{ type: 'stop' }`. Never throws. */
export const startThread = <To, From>(
  { entry, name, workerData, stopTimeoutMs }: ThreadOptions,
  events: ThreadEvents<From>,
): KillableThread<To> => {
  let thread: Worker;
  try {
    thread = new Worker(entry, { name, stderr: false, workerData });
  } catch (fault) {
    return lostAtOnce(`it could not be started: ${messageOf(fault)}`, (reason) => events.onLost(reason));
  }
  let stopping: Promise<void> | null = null;
  let fault = '';
  let isLost = false;
  const lose = (reason: string): void => {
    if (stopping !== null || isLost) return;
    isLost = true;
    events.onLost(reason);
  };
  const exited = new Promise<void>((resolve) => {
    thread.once('exit', (code) => {
      resolve();
      lose(fault === '' ? `exit code ${code}` : fault);
    });
  });
  thread.on('message', (message: From) => {
    if (!isLost) events.onMessage(message);
  });
  thread.on('error', (error) => {
    fault = String(error instanceof Error ? error.stack : error);
  });
  const killed = (): Promise<boolean> => {
    void thread.terminate();
    return endsWithin(exited, KILL_TIMEOUT_MS);
  };
  const stopOnce = async (): Promise<void> => {
    thread.postMessage({ type: 'stop' });
    if (!(await endsWithin(exited, stopTimeoutMs))) await killed();
  };
  return {
    send: (message, memory = []) => thread.postMessage(message, memory),
    stop: () => {
      stopping ??= stopOnce();
      return stopping;
    },
    kill: (reason) => {
      fault = reason;
      void killed().then((isGone) => isGone || lose(`${reason}, and does not end`));
    },
  };
};
