import { parseRecordingName } from './archive/files/file-name.js';
import type { Clock } from './base/clock.js';
import type { Logger } from './base/log.js';
import { eventFieldNames } from './camera/runtime-fields.js';
import { ChangeFeed, type Watched } from './events/change-feed.js';
import { EventHub } from './events/event-hub.js';
import type { Media } from './media.js';
import type { Stops } from './stops.js';
import type { Storage } from './storage.js';

type Listed = { readonly id: string };

const byId = (things: readonly Listed[]): [string, Listed][] => things.map((thing) => [thing.id, thing]);

/** All that is looked at for changes. */
const watchedOf = ({ store, root, accounts }: Storage, { registry, desk }: Media): Watched[] => {
  const storeRevision = (): number => store.revision;
  const camerasRevision = (): number => registry.revision;
  const config = { topic: 'config', fields: null } as const;
  const list = { ...config, areCameras: false, revision: storeRevision };
  const cameras = { needs: 'cameras.list', areCameras: true, revision: camerasRevision } as const;
  return [
    { ...config, ...cameras, prefix: 'cameras/', things: () => registry.maskedSettings() },
    { ...list, needs: 'tags.read', prefix: 'tags/', things: () => byId(store.tags.list()) },
    { ...list, needs: 'folders.read', prefix: 'folders/', things: () => byId(store.folders.list()) },
    {
      ...{ ...list, needs: 'users.manage', prefix: 'users/' },
      things: () => accounts.list().map((user) => [user.username, user] as const),
    },
    { ...cameras, topic: 'cameras', prefix: '', fields: eventFieldNames, things: () => registry.runtimes() },
    {
      ...{ topic: 'storage', needs: 'stats.read', prefix: '', areCameras: false },
      ...{ fields: null, revision: null },
      things: () => [['archive', { fault: root.fault ?? desk.fault ?? '' }]],
    },
  ];
};

/** What is told of as it happens, to whoever listens. */
export const buildHappenings = (
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  storage: Storage,
  media: Media,
  stops: Stops,
): EventHub => {
  const hub = new EventHub(clock);
  hub.add(new ChangeFeed(watchedOf(storage, media), { clock, log, hub }));
  media.recordingFiles.on((cameraId, fileName, state) => {
    const startMs = parseRecordingName(fileName)?.startMs;
    if (startMs === undefined) return;
    const from = new Date(startMs).toISOString();
    const set = {
      ...{ type: 'recording', camera_id: cameraId, from },
      state: state === 'made' ? 'begun' : 'closed',
    };
    hub.publish({ topic: 'events', id: `${cameraId}/${from}`, set, cameraId, needs: 'archive.read' });
  });
  stops.push(() => hub.stop());
  return hub;
};
