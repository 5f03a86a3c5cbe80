import type { Media } from './media.js';
import type { Notices } from './notices.js';
import type { Storage } from './storage.js';
import type { SharedEffects } from './store/shared/shared-records.js';

type Parts = { readonly storage: Storage; readonly media: Media; readonly notices: Notices };

/** Lets everybody look anew who holds something of the store in memory: it was changed past them. */
export const adoptStored = ({ storage, media, notices }: Parts): void => {
  // First: whatever fails after it, no key that is gone stays good.
  storage.keys.reload();
  media.registry.reload();
  notices.webhooks.reload();
  storage.sights.moved();
};

/** What other boxes changed takes effect here as what is changed here does. */
export const adoptShared = (parts: Parts, effects: SharedEffects): void => {
  const { viewers } = parts.storage;
  for (const id of effects.removedCameraIds) viewers.endForCamera(id, 'camera_deleted');
  for (const id of effects.lockedCameraIds) viewers.endForCamera(id, 'access_withdrawn');
  for (const username of effects.revokedUsernames) viewers.endForUser(username);
  adoptStored(parts);
};
