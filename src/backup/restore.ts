import { authError } from '../auth/auth-error.js';
import { isPasswordHash } from '../auth/passwords.js';
import type { Viewers } from '../auth/viewers.js';
import type { Configuration, Store } from '../store/store.js';
import { type SnapshotFault, snapshotFaults } from './check.js';

export type { Configuration } from '../store/store.js';

const hashFaults = (snapshot: Configuration): SnapshotFault[] =>
  snapshot.users.flatMap(({ password_hash }, index) =>
    isPasswordHash(password_hash)
      ? []
      : [{ path: `users[${index}].password_hash`, message: 'is not a password hash of this service' }],
  );

/**
 * Imports a backup whose records were checked for their shape, whole or not at all, and ends what
 * anybody watches who lost the right by it. Throws `bad_snapshot` with every fault in `details.errors`.
 */
export const restoreSnapshot = (snapshot: Configuration, deps: { store: Store; viewers: Viewers }): void => {
  const errors = [...snapshotFaults(snapshot), ...hashFaults(snapshot)];
  if (errors.length > 0) throw authError('bad_snapshot', "the snapshot can't be imported", { errors });
  const { removedCameraIds, lockedCameraIds, revokedUsernames } = deps.store.importAll(snapshot);
  for (const id of removedCameraIds) deps.viewers.endForCamera(id, 'camera_deleted');
  for (const id of lockedCameraIds) deps.viewers.endForCamera(id, 'access_withdrawn');
  for (const username of revokedUsernames) deps.viewers.endForUser(username);
};
