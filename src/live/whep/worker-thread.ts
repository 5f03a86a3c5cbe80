import { Worker } from 'node:worker_threads';
import type { FromWhepWorker, ToWhepWorker, WhepWorkerOptions } from './messages.js';

/** A running WHEP worker, as `WhepService` sees it; in tests it may be something else than a thread. */
export interface WhepWorkerHandle {
  send(message: ToWhepWorker): void;
  /** Ends all of its sessions, then the thread; kills it if it doesn't answer. */
  stop(): Promise<void>;
}

export type WhepWorkerEvents = {
  onMessage(message: FromWhepWorker): void;
  /** Once, if the thread ends without being asked to. */
  onLost(reason: string): void;
};

export type SpawnWhepWorker = (
  name: string,
  options: WhepWorkerOptions,
  events: WhepWorkerEvents,
) => WhepWorkerHandle;

const STOP_TIMEOUT_MS = 2_000;

/** Starts workers/whep.ts in a thread of its own. */
export const spawnWhepWorker: SpawnWhepWorker = (name, options, events) => {
  const entry = new URL('../../../workers/whep.js', import.meta.url);
  const thread = new Worker(entry, { name, workerData: options, stderr: false });
  let stopping: Promise<void> | null = null;
  let fault = '';
  const exited = new Promise<void>((resolve) => {
    thread.once('exit', (code) => {
      resolve();
      if (stopping === null) events.onLost(fault === '' ? `exit code ${code}` : fault);
    });
  });
  thread.on('message', (message: FromWhepWorker) => events.onMessage(message));
  thread.on('error', (error) => {
    fault = String(error instanceof Error ? error.stack : error);
  });
  const stopOnce = async (): Promise<void> => {
    thread.postMessage({ type: 'stop' } satisfies ToWhepWorker);
    const deadline = setTimeout(() => void thread.terminate(), STOP_TIMEOUT_MS);
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
