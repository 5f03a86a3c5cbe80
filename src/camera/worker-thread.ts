import { Worker } from 'node:worker_threads';
import type { FromCameraWorker, ToCameraWorker } from './messages.js';

/** A running camera worker, as `Cameras` sees it; in tests it may be something else than a thread. */
export interface CameraWorker {
  send(message: ToCameraWorker): void;
  /** Ends all of its sessions, then the thread; kills it if it doesn't answer. */
  stop(): Promise<void>;
}

export type CameraWorkerEvents = {
  onMessage(message: FromCameraWorker): void;
  /** Once, if the thread ends without being asked to. */
  onLost(reason: string): void;
};

/** `setup` is for the recorders in the worker. */
export type SpawnCameraWorker = (
  name: string,
  events: CameraWorkerEvents,
  setup: Readonly<Record<string, unknown>>,
) => CameraWorker;

/**
 * Sessions get 1 s for their TEARDOWN, and recordings are closed meanwhile; a thread that needs longer than this
 * hangs, or its disk does.
 */
const STOP_TIMEOUT_MS = 7_000;

/** Starts workers/camera.ts in a thread of its own. */
export const spawnCameraWorker: SpawnCameraWorker = (name, events, setup) => {
  const entry = new URL('../../workers/camera.js', import.meta.url);
  const thread = new Worker(entry, { name, stderr: false, workerData: setup });
  let stopping: Promise<void> | null = null;
  let fault = '';
  const exited = new Promise<void>((resolve) => {
    thread.once('exit', (code) => {
      resolve();
      if (stopping === null) events.onLost(fault === '' ? `exit code ${code}` : fault);
    });
  });
  thread.on('message', (message: FromCameraWorker) => events.onMessage(message));
  thread.on('error', (error) => {
    fault = String(error instanceof Error ? error.stack : error);
  });
  const stopOnce = async (): Promise<void> => {
    thread.postMessage({ type: 'stop' } satisfies ToCameraWorker);
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
