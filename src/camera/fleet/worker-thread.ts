import { type KillableThread, startThread, type ThreadEvents } from '../../base/thread-handle.js';
import type { FromCameraWorker, ToCameraWorker } from '../messages.js';

/** A running camera worker, as `Cameras` sees it. */
export type CameraWorker = KillableThread<ToCameraWorker>;

export type CameraWorkerEvents = ThreadEvents<FromCameraWorker>;

/** What each thread of cameras is told at its start, beside what its recorders are. */
export type CameraThreadSetup = {
  readonly ringCeiling: SharedArrayBuffer;
  /** How other boxes are asked for their cameras; null: there are none. */
  readonly relay: { readonly box: string; readonly key: Uint8Array } | null;
};

/** `setup` is for the recorders in the worker, and `CameraThreadSetup`. */
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
  const entry = new URL('../../../workers/camera.js', import.meta.url);
  return startThread({ entry, name, workerData: setup, stopTimeoutMs: STOP_TIMEOUT_MS }, events);
};
