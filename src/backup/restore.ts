import type { Viewers } from '../auth/viewers.js';
import { AppError } from '../base/errors.js';
import type { ImportedConfiguration, Store } from '../store/store.js';
import { faultsBetween, hashFaults } from './check.js';

/** What this folder throws; the store adds its own where a camera can't come back yet. */
export type BackupErrorCode = 'bad_snapshot';

/**
 * Imports the records of a snapshot whose shape was checked, whole or not at all, and ends what anybody watches who
 * lost the right by it. Throws `bad_snapshot` with every fault in `details.errors`.
 */
export const restoreSnapshot = async (
  records: ImportedConfiguration,
  deps: { store: Store; viewers: Viewers },
): Promise<void> => {
  const errors = [...faultsBetween(records), ...hashFaults(records)];
  if (errors.length > 0)
    throw new AppError<BackupErrorCode>('bad_snapshot', "the snapshot can't be imported", {
      details: { errors },
    });
  const { store } = deps;
  const { removedCameraIds, lockedCameraIds, revokedUsernames } = await store.change(() =>
    store.importAll(records),
  );
  for (const id of removedCameraIds) deps.viewers.endForCamera(id, 'camera_deleted');
  for (const id of lockedCameraIds) deps.viewers.endForCamera(id, 'access_withdrawn');
  for (const username of revokedUsernames) deps.viewers.endForUser(username);
};
