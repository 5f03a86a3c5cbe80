import { startThread, type ThreadEvents, type ThreadHandle } from '../../base/thread-handle.js';
import type { FromWhepWorker, ToWhepWorker, WhepWorkerOptions } from './messages.js';

/** A running WHEP worker, as `WhepService` sees it. */
export type WhepWorkerHandle = ThreadHandle<ToWhepWorker>;

export type WhepWorkerEvents = ThreadEvents<FromWhepWorker>;

export type SpawnWhepWorker = (
  name: string,
  options: WhepWorkerOptions,
  events: WhepWorkerEvents,
) => WhepWorkerHandle;

const STOP_TIMEOUT_MS = 2_000;

/** Starts workers/whep.ts in a thread of its own. */
export const spawnWhepWorker: SpawnWhepWorker = (name, options, events) => {
  const entry = new URL('../../../workers/whep.js', import.meta.url);
  return startThread({ entry, name, workerData: options, stopTimeoutMs: STOP_TIMEOUT_MS }, events);
};
