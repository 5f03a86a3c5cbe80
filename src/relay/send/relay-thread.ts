import { startThread, type ThreadEvents, type ThreadHandle } from '../../base/thread-handle.js';
import type { FromRelayThread, RelayThreadOptions, ToRelayThread } from '../messages.js';

const STOP_TIMEOUT_MS = 2_000;

/** Starts workers/relay.ts in a thread of its own. */
export const spawnRelayThread = (
  options: RelayThreadOptions,
  events: ThreadEvents<FromRelayThread>,
): ThreadHandle<ToRelayThread> => {
  const entry = new URL('../../../workers/relay.js', import.meta.url);
  return startThread({ entry, name: 'relay', workerData: options, stopTimeoutMs: STOP_TIMEOUT_MS }, events);
};
