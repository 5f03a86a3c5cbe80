import { parseRecordingName } from './archive/files/file-name.js';
import type { Clock } from './base/clock.js';
import type { Logger } from './base/log.js';
import { eventFieldNames } from './camera/runtime-fields.js';
import { ChangeFeed, type Watched } from './events/change-feed.js';
import { EventHub } from './events/event-hub.js';
import { CameraWatch } from './events/kept/camera-watch.js';
import { eventIdText, eventView } from './events/kept/event.js';
import { EventKeeper } from './events/kept/event-keeper.js';
import type { Media } from './media.js';
import type { Stops } from './stops.js';
import type { Storage } from './storage.js';

type Listed = { readonly id: string };

const byId = (things: readonly Listed[]): [string, Listed][] => things.map((thing) => [thing.id, thing]);

/** All that is looked at for changes. */
const watchedOf = ({ store, accounts }: Storage, { registry, storageFault }: Media): Watched[] => {
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
      things: () => [['archive', { fault: storageFault() }]],
    },
  ];
};

type Base = { readonly clock: Clock; readonly log: Logger };

const DAY_MS = 86_400_000;
/** What is about no camera. */
const OF_NO_CAMERA_DAYS = 30;

/** Events stay as long as the recordings that they belong to, by the time that those go by. */
const keepEvents = (
  { clock, log }: Base,
  { store, accounts, events, eventPictures: pictures }: Storage,
  { registry, desk, beat, storageFault }: Pick<Media, 'registry' | 'desk' | 'beat' | 'storageFault'>,
  stops: Stops,
): void => {
  const keeper = new EventKeeper({
    ...{ clock, log, events, pictures },
    rules: () => {
      const nowMs = store.facts.timeMs('archive_time_ms');
      const beforeMs = (days: number): number | null =>
        days === 0 || nowMs === null ? null : nowMs - days * DAY_MS;
      const cameras = store.cameras.list();
      return {
        beforeMs: new Map(
          cameras.map(({ id, retention_days: days, event_retention_days: eventDays }) => [
            id,
            beforeMs(days === 0 ? 0 : Math.max(days, eventDays)),
          ]),
        ),
        ofNoCameraMs: beforeMs(OF_NO_CAMERA_DAYS),
        usernames: new Set(accounts.list().map(({ username }) => username)),
      };
    },
  });
  stops.push(() => keeper.stop());
  keeper.start();
  const watch = new CameraWatch({
    ...{ clock, log: events },
    storageFault,
    whyNotRecorded: (cameraId) => desk.whyNot(cameraId) ?? 'unknown',
  });
  stops.push(() => watch.stop());
  beat.on(() => watch.look(registry.conditions()));
};

/** Kept events are told of like all else that changes; who has reviewed them is nobody else's business. */
const tellEvents = ({ events }: Storage, hub: EventHub): void =>
  events.changed.on((event, changes) => {
    const view = eventView(event);
    const { toMs, isProtected, score, detail } = { toMs: undefined, ...changes } as Record<string, unknown>;
    const set =
      changes === null
        ? { ...view, reviewed: false }
        : {
            ...(toMs === undefined ? {} : { to: view.to }),
            ...(isProtected === undefined ? {} : { protected: view.protected }),
            ...(score === undefined ? {} : { score: view.score }),
            ...(detail === undefined ? {} : { detail: view.detail }),
          };
    const cameraId = event.cameraId === '' ? null : event.cameraId;
    hub.publish({ topic: 'events', id: eventIdText(event.id), set, cameraId, needs: 'events.read' });
  });

/** What is told of as it happens, to whoever listens. */
export const buildHappenings = (
  { clock, log }: Base,
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
  tellEvents(storage, hub);
  keepEvents({ clock, log }, storage, media, stops);
  stops.push(() => hub.stop());
  return hub;
};
