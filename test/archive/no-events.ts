import type { ArchiveDeps } from '../../src/archive/archive.js';

/** All that is recorded is kept. */
export const noEvents: ArchiveDeps['byEvents'] = {
  cameraIds: () => [],
  times: () => null,
  isLasting: () => true,
  watched: () => 'unknown',
  memory: { decided: () => null, rememberDecided: () => {} },
};
