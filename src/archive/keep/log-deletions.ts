import type { Logger } from '../../base/log.js';
import type { Deletions } from './delete-files.js';

/** Logs what was deleted, for what reason, and what the disk keeps. */
export const logDeletions = (
  log: Logger,
  { deleted, failed }: Deletions,
  reason: 'retention' | 'space' | 'request',
): void => {
  for (const { cameraId, fileName } of deleted) {
    log.info('deleted a recording', { camera_id: cameraId, file: fileName, reason });
  }
  for (const { cameraId, fileName, reason: fault } of failed) {
    log.warn('could not delete a recording', { camera_id: cameraId, file: fileName, reason: fault });
  }
};
