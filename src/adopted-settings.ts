import type { Signal } from './base/signal.js';
import type { Media } from './media.js';
import type { Notices } from './notices.js';
import type { Storage } from './storage.js';
import type { SharedEffects } from './store/shared/shared-records.js';

/** Who holds something of the store in memory. */
export type Holders = {
  readonly storage: {
    readonly keys: Pick<Storage['keys'], 'reload'>;
    readonly sights: Pick<Storage['sights'], 'moved'>;
    readonly viewers: Pick<Storage['viewers'], 'endForCamera' | 'endForUser'>;
  };
  readonly media: { readonly registry: Pick<Media['registry'], 'reload' | 'reloadSome'> };
  readonly notices: { readonly webhooks: Pick<Notices['webhooks'], 'reload'> };
};

/** Lets everybody look anew: the store was changed past them. */
export const adoptStored = ({ storage, media, notices }: Holders): void => {
  // First: whatever fails after it, no key that is gone stays good.
  storage.keys.reload();
  media.registry.reload();
  notices.webhooks.reload();
  storage.sights.moved();
};

/**
 * What other boxes changed takes effect here as what is changed here does. Only who holds something of it looks anew: pages
 * keep how somebody likes them, and there may be ten thousand cameras.
 */
const adoptShared = (
  { storage, media, notices }: Holders,
  { kinds, cameraIds, ...ended }: SharedEffects,
): void => {
  const { keys, sights, viewers } = storage;
  for (const id of ended.removedCameraIds) viewers.endForCamera(id, 'camera_deleted');
  for (const id of ended.lockedCameraIds) viewers.endForCamera(id, 'access_withdrawn');
  for (const username of ended.revokedUsernames) viewers.endForUser(username);
  if (kinds.has('key')) keys.reload();
  // A folder or a tag that goes is taken from cameras.
  if (kinds.has('folder') || kinds.has('tag')) media.registry.reload();
  else if (cameraIds.length > 0) media.registry.reloadSome(cameraIds);
  if (kinds.has('hook')) notices.webhooks.reload();
  // What cameras are moved out of sight by, the registry tells itself.
  if (kinds.has('folder')) sights.moved();
};

/** From now on; and whoever read the store at the start has what was changed since. */
export const followShared = (changed: Signal<[effects: SharedEffects]>, holders: Holders): void => {
  changed.on((effects) => adoptShared(holders, effects));
  adoptStored(holders);
};
