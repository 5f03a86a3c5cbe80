import type { ArchiveDeps } from '../../src/archive/archive.js';

/** All that is recorded is kept. */
export const noEvents: ArchiveDeps['byEvents'] = {
  cameraIds: () => [],
  times: () => null,
  isLasting: () => true,
  isBlind: () => false,
  memory: { decided: () => null, rememberDecided: () => {} },
};
