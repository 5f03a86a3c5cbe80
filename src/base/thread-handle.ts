import { Worker } from 'node:worker_threads';

/** A running thread, as its main side sees it; in tests it may be something else than a thread. */
export interface ThreadHandle<To> {
  send(message: To): void;
  /** Asks the thread to end, and kills it if it doesn't. */
  stop(): Promise<void>;
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

/** Starts a thread that ends by itself when it is told `{ type: 'stop' }`. */
export const startThread = <To, From>(
  { entry, name, workerData, stopTimeoutMs }: ThreadOptions,
  events: ThreadEvents<From>,
): ThreadHandle<To> => {
  const thread = new Worker(entry, { name, stderr: false, workerData });
  let stopping: Promise<void> | null = null;
  let fault = '';
  const exited = new Promise<void>((resolve) => {
    thread.once('exit', (code) => {
      resolve();
      if (stopping === null) events.onLost(fault === '' ? `exit code ${code}` : fault);
    });
  });
  thread.on('message', (message: From) => events.onMessage(message));
  thread.on('error', (error) => {
    fault = String(error instanceof Error ? error.stack : error);
  });
  const stopOnce = async (): Promise<void> => {
    thread.postMessage({ type: 'stop' });
    const deadline = setTimeout(() => void thread.terminate(), stopTimeoutMs);
    await exited;
    clearTimeout(deadline);
  };
  return {
    send: (message) => thread.postMessage(message),
    stop: () => {
      stopping ??= stopOnce();
      return stopping;
    },
  };
};
