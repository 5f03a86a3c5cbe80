import { adoptStored } from './adopted-settings.js';
import { faultsBetween } from './backup/check.js';
import { restoreSnapshot } from './backup/restore.js';
import { takeSnapshot } from './backup/snapshot.js';
import type { Clock } from './base/clock.js';
import { eventPictures } from './event-pictures.js';
import type { EventHub } from './events/event-hub.js';
import type { Route } from './http/route.js';
import { archiveRoutes } from './http/routes/archive.js';
import { type AuditRoutesDeps, auditRoutes } from './http/routes/audit.js';
import { backupRoutes } from './http/routes/backup.js';
import { cameraTestRoutes } from './http/routes/camera-tests.js';
import { cameraRoutes, type StoredPlaces } from './http/routes/cameras.js';
import { type ClusterRoutesDeps, clusterRoutes } from './http/routes/cluster.js';
import { eventRoutes, isInSight } from './http/routes/events.js';
import { exportRoutes } from './http/routes/exports.js';
import { folderRoutes } from './http/routes/folders.js';
import { healthRoutes } from './http/routes/health.js';
import { hlsRoutes } from './http/routes/hls.js';
import { keptEventRoutes } from './http/routes/kept-events.js';
import { keyRoutes } from './http/routes/keys.js';
import { layoutRoutes } from './http/routes/layouts.js';
import { loginRoutes } from './http/routes/login.js';
import { logRoutes } from './http/routes/logs.js';
import { meRoutes } from './http/routes/me.js';
import { metricsRoutes } from './http/routes/metrics.js';
import { modelRoutes } from './http/routes/models.js';
import { onvifRoutes } from './http/routes/onvif.js';
import { type OnvifDeviceDeps, onvifDeviceRoutes } from './http/routes/onvif-device.js';
import { withOpenApi } from './http/routes/openapi.js';
import { ptzRoutes } from './http/routes/ptz.js';
import { sessionRoutes } from './http/routes/session.js';
import { type ServiceFacts, settingRoutes } from './http/routes/settings.js';
import { snapshotRoutes } from './http/routes/snapshot.js';
import { statsRoutes } from './http/routes/stats.js';
import { tagRoutes } from './http/routes/tags.js';
import { userRoutes } from './http/routes/users.js';
import { wallRoutes } from './http/routes/wall.js';
import { webhookRoutes } from './http/routes/webhooks.js';
import { whepRoutes } from './http/routes/whep.js';
import type { ServerSentStreams } from './http/server-sent.js';
import type { StreamAccess } from './http/stream-access.js';
import { type StreamUpgrade, upgradeRoutes } from './http/upgrade.js';
import type { WallVisitor } from './http/wall-visitor.js';
import type { WallEvents, WallGuest } from './live/wall/guest.js';
import type { Walls } from './live/wall/walls.js';
import type { Media } from './media.js';
import type { Models } from './models/models.js';
import type { Notices } from './notices.js';
import { OnvifQuestions } from './onvif/onvif.js';
import type { Operations } from './operations.js';
import type { LogHub } from './ops/log-hub.js';
import { MetricsPage } from './ops/metrics-page.js';
import { machineTimeZone } from './service-facts.js';
import type { Storage } from './storage.js';

/** What the two listeners show. */
export type Routes = {
  readonly all: readonly Route[];
  /** For the monitoring port alone. */
  readonly probes: readonly Route[];
  readonly upgrades: readonly StreamUpgrade[];
};

/** What the service is as an ONVIF device. */
export type OnvifDeviceFacts = Pick<OnvifDeviceDeps, 'facts' | 'rtspPorts'>;

export type RoutesDeps = {
  readonly clock: Clock;
  readonly version: string;
  readonly storage: Storage;
  readonly media: Media;
  readonly operations: Operations;
  readonly models: Models;
  readonly log: LogHub;
  readonly events: EventHub;
  readonly notices: Notices;
  readonly serverSent: ServerSentStreams;
  readonly trail: AuditRoutesDeps['trail'];
  readonly cluster: ClusterRoutesDeps;
  readonly streams: StreamAccess;
  /** null: the service is no ONVIF device. */
  readonly onvifDevice: OnvifDeviceFacts | null;
  /** How it was started. */
  readonly service: () => Omit<ServiceFacts, 'time_zone'>;
};

const managementRoutes = (deps: RoutesDeps): Route[] => {
  const { clock, storage, media, operations, notices, service, onvifDevice, cluster } = deps;
  const { store, viewers, tokens, sessions, accounts, keys, sights } = storage;
  const { registry } = media;
  const { change } = store;
  const onCamerasChanged = () => registry.reload();
  const ownEndpoint = onvifDevice && `urn:uuid:${onvifDevice.facts.uuid}`;
  const box = storage.cluster === null ? null : deps.cluster.cluster().box;
  const timeZone = (): string => store.settings.all().time_zone || machineTimeZone();
  return [
    ...loginRoutes({ accounts, onLoginFailure: (reason) => operations.metrics.loginFailed(reason) }),
    ...sessionRoutes({ sessions }),
    ...meRoutes({ accounts, sessions, preferences: store.preferences, change, timeZone, box }),
    ...layoutRoutes({ layouts: store.layouts, change }),
    ...settingRoutes({
      settings: store.settings,
      change,
      service: () => ({ ...service(), time_zone: timeZone() }),
    }),
    ...cameraTestRoutes({ tests: media.trials, cameras: registry }),
    ...onvifRoutes({ onvif: new OnvifQuestions({ clock, ownEndpoint }), tests: media.trials }),
    ...ptzRoutes({ cameras: registry, ptz: media.ptz }),
    ...cameraRoutes({ registry, tokens, stored: storedPlaces(store) }),
    ...tagRoutes({ tags: store.tags, change, onCamerasChanged }),
    ...folderRoutes({ folders: store.folders, change, onCamerasChanged, onMoved: () => sights.moved() }),
    ...userRoutes({ accounts }),
    ...webhookRoutes(notices),
    ...keyRoutes({ keys, clock, onvifPasswords: onvifDevice && storage.onvifPasswords }),
    ...wallRoutes({ tokens }),
    ...backupRoutes({
      backup: {
        take: () => takeSnapshot(store, clock),
        faultsBetween,
        restore: async (records) => {
          await restoreSnapshot(records, { store, viewers });
          adoptStored(deps);
        },
      },
    }),
    ...statsRoutes(operations),
    ...clusterRoutes(cluster),
  ];
};

const storedPlaces = ({ cameras }: Storage['store']): StoredPlaces => ({
  folderOf: (id) => cameras.folderOf(id),
  isLeft: (id) => cameras.deleted.find(id) !== null,
});

/** Folders hold folders; a camera may name one that isn't there. */
const inFolder = ({ store }: Storage, folderId: string): ReadonlySet<string> => {
  const folders = store.folders.list();
  const wanted = new Set([folderId]);
  let count = 0;
  while (count < wanted.size) {
    count = wanted.size;
    for (const { id, parent_id } of folders) if (wanted.has(parent_id)) wanted.add(id);
  }
  const cameras = store.cameras.list().filter(({ folder_id }) => wanted.has(folder_id));
  return new Set(cameras.map(({ id }) => id));
};

const happenedRoutes = ({ clock, storage, media, events, serverSent }: RoutesDeps): Route[] => [
  ...eventRoutes({ hub: events, streams: serverSent, clock }),
  ...keptEventRoutes({
    events: storage.events,
    cameras: {
      get ids() {
        return media.registry.ids;
      },
      inFolder: (folderId) => inFolder(storage, folderId),
      withTag: (tagId) => {
        const cameras = storage.store.cameras.list().filter(({ tags }) => tags.includes(tagId));
        return new Set(cameras.map(({ id }) => id));
      },
    },
    pictures: eventPictures(media.pictures, storage.eventPictures),
  }),
];

const viewingRoutes = ({ clock, storage, media }: RoutesDeps): Route[] => {
  const { registry, archive, hls, whep, pictures } = media;
  const { deleted } = storage.store.cameras;
  const { requests } = archive;
  return [
    ...archiveRoutes({
      ...{ clock, cameras: registry },
      detected: (cameraId, buckets) => storage.events.labelBuckets(cameraId, buckets),
      moved: (cameraId, buckets) => storage.events.motionBuckets(cameraId, buckets),
      ...{ recordings: requests, timeline: requests, playback: requests },
      ...{ keyFrames: requests, frames: requests, exports: requests, deletions: requests },
      detections: requests,
      subtitles: requests,
      viewers: storage.viewers,
      deleted: { has: (id) => deleted.find(id) !== null },
    }),
    ...exportRoutes({ clock, cameras: registry, exports: archive.exports, viewers: storage.viewers }),
    ...hlsRoutes({ hls, sources: registry }),
    ...whepRoutes({ whep, sources: registry }),
    ...snapshotRoutes({ pictures, sources: registry }),
  ];
};

const webSocketUpgrade = ({ webSockets, registry }: Media): StreamUpgrade => ({
  kind: 'camera',
  path: '/stream/ws/:id',
  summary: 'The live picture over a WebSocket',
  permission: 'live.watch',
  handle: ({ cameraId, stream, request, socket, head, place }) =>
    webSockets.accept(registry.sourceOf(cameraId, stream), request, socket, head, place),
});

/** What happens, as far as whoever opened a wall may hear of it. */
const eventsFor = (hub: EventHub, visitor: WallVisitor): WallEvents => {
  const { sight } = visitor;
  let seenRevision = sight.revision;
  return {
    get position() {
      return hub.position;
    },
    listen: (listener) => hub.listen(listener),
    since: (position) => {
      const events = hub.since(position);
      const isElsewhere = sight.revision !== seenRevision;
      seenRevision = sight.revision;
      if (events === null || isElsewhere) return null;
      const heard = events.filter((event) => visitor.may(event.needs) && isInSight(event, sight));
      return { position: events.at(-1)?.position ?? position, texts: heard.map(({ json }) => json) };
    },
  };
};

const wallUpgrade = (walls: Walls, hub: EventHub): StreamUpgrade => ({
  kind: 'wall',
  path: '/stream/wall',
  summary: 'The live pictures of up to 64 tiles over one WebSocket, and what happens',
  handle: ({ visitor, request, socket, head }) => {
    const guest: WallGuest = {
      username: visitor.username,
      events: eventsFor(hub, visitor),
      watch: (cameraId) => visitor.watch(cameraId),
      onEnd: (listener) => visitor.onEnd(listener),
      release: () => visitor.release(),
    };
    walls.accept(request, socket, head, guest);
  },
});

/** Beside the API, whose document leaves them out. */
const deviceRoutes = ({ clock, storage, media, streams, onvifDevice }: RoutesDeps): Route[] => {
  if (onvifDevice === null) return [];
  const { onvifPasswords: passwords, onWrongKey: onWrong, sights, tokens } = storage;
  const { registry, pictures } = media;
  return onvifDeviceRoutes({
    ...{ clock, passwords, onWrong, sights, tokens, pictures, streams, ...onvifDevice },
    ...{ cameras: registry, sources: registry },
  });
};

/** All routes of the service, and the document that describes them. */
export const buildRoutes = (deps: RoutesDeps): Routes => {
  const { clock, version, operations } = deps;
  const upgrades = [webSocketUpgrade(deps.media), wallUpgrade(deps.media.walls, deps.events)];
  const page = new MetricsPage(operations.metrics, clock);
  const probes = [...healthRoutes(operations), ...metricsRoutes({ page })];
  const routes = [
    ...managementRoutes(deps),
    ...logRoutes({ hub: deps.log, streams: deps.serverSent, clock }),
    ...auditRoutes({ trail: deps.trail }),
    ...happenedRoutes(deps),
    ...modelRoutes({ models: deps.models }),
    ...viewingRoutes(deps),
    ...upgradeRoutes(upgrades),
    ...probes,
  ];
  return { all: [...withOpenApi(routes, version), ...deviceRoutes(deps)], probes, upgrades };
};
