import { availableParallelism } from 'node:os';
import { Archive } from './archive/archive.js';
import { RecordingDesk } from './archive/recording-desk.js';
import type { RetentionRule } from './archive/retention.js';
import { restoreSnapshot } from './auth/restore.js';
import { ViewingGate } from './auth/viewing-gate.js';
import type { Clock } from './base/clock.js';
import type { Logger } from './base/log.js';
import { ThreadStats } from './base/thread-stats.js';
import { Cameras } from './camera/cameras.js';
import { type CameraActivity, CameraRegistry } from './camera/registry.js';
import type { SpawnCameraWorker } from './camera/worker-thread.js';
import type { Config } from './config.js';
import { Models } from './detect/models.js';
import { ForwardedNotice } from './http/forwarded-notice.js';
import type { RequestObserver } from './http/request-report.js';
import type { Route } from './http/route.js';
import { archiveRoutes } from './http/routes/archive.js';
import { backupRoutes } from './http/routes/backup.js';
import { cameraRoutes } from './http/routes/cameras.js';
import { folderRoutes } from './http/routes/folders.js';
import { healthRoutes } from './http/routes/health.js';
import { hlsRoutes } from './http/routes/hls.js';
import { loginRoutes } from './http/routes/login.js';
import { LogRoutes } from './http/routes/logs.js';
import { metricsRoutes } from './http/routes/metrics.js';
import { modelRoutes } from './http/routes/models.js';
import { withOpenApi } from './http/routes/openapi.js';
import { statsRoutes } from './http/routes/stats.js';
import { tagRoutes } from './http/routes/tags.js';
import { userRoutes } from './http/routes/users.js';
import { whepRoutes } from './http/routes/whep.js';
import { StreamAccess } from './http/stream-access.js';
import { type StreamUpgrade, upgradeRoutes } from './http/upgrade.js';
import { listen, type Urls } from './listeners.js';
import { LiveHls } from './live/hls/live-hls.js';
import { WebSocketViews } from './live/websocket/websocket-views.js';
import { ownAddresses } from './live/whep/own-addresses.js';
import { WhepService } from './live/whep/service.js';
import { openUdpDoor } from './live/whep/udp-door.js';
import { spawnWhepWorker } from './live/whep/worker-thread.js';
import { ArchiveProbe } from './ops/archive-probe.js';
import { warnOfExposure } from './ops/exposure.js';
import { Health } from './ops/health.js';
import type { LogHub } from './ops/log-hub.js';
import { Metrics } from './ops/metrics.js';
import { MetricsPage } from './ops/metrics-page.js';
import { Stats } from './ops/stats.js';
import { Threads } from './ops/threads.js';
import { openStorage, type Storage } from './storage.js';
import { snapshotFaults } from './store/snapshot.js';
import type { Store } from './store/store.js';

export type AppDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly audit: Logger;
  readonly hub: LogHub;
  readonly version: string;
  readonly spawn: SpawnCameraWorker;
  /** Shows the first admin's password to the person at the console. */
  readonly showAdmin: (account: { username: string; password: string }) => void;
};

/** What is built, in the order in which it is built; each step may push what undoes it. */
class Stops {
  readonly #stops: (() => void | Promise<void>)[] = [];

  push(stop: () => void | Promise<void>): void {
    this.#stops.push(stop);
  }

  /** Undoes everything, last first; a fault in one step doesn't keep the others from theirs. */
  async run(log: Logger): Promise<void> {
    for (const stop of this.#stops.splice(0).reverse()) {
      try {
        await stop();
      } catch (fault) {
        log.error('a part of the service did not stop', { fault: String(fault) });
      }
    }
  }
}

type LiveOutputs = { readonly webSockets: WebSocketViews; readonly hls: LiveHls; readonly whep: WhepService };

/** What the readers of the rings report. */
const activityOf = ({ webSockets, hls, whep }: LiveOutputs, desk: RecordingDesk): CameraActivity => ({
  viewers: (cameraId) => ({
    websocket: webSockets.viewers(cameraId),
    hls: hls.viewers(cameraId),
    whep: whep.viewers(cameraId),
  }),
  isRecording: (cameraId) => desk.isRecording(cameraId),
  unrecordedFrames: (cameraId) => desk.lostFrames(cameraId),
  droppedFrames: (cameraId) =>
    webSockets.droppedFrames(cameraId) + hls.droppedFrames(cameraId) + whep.droppedFrames(cameraId),
});

/** Worker threads are part of the statistics from their first figures to their end. */
const counted =
  (spawn: SpawnCameraWorker, threads: Threads): SpawnCameraWorker =>
  (name, events, setup) => {
    let forget = (): void => {};
    const worker = spawn(
      name,
      {
        onMessage: (message) => {
          if (message.type === 'thread') forget = threads.add(name, message.stats);
          events.onMessage(message);
        },
        onLost: (reason) => {
          forget();
          events.onLost(reason);
        },
      },
      setup,
    );
    return { ...worker, stop: () => worker.stop().finally(() => forget()) };
  };

/** The running service. */
export class App {
  readonly url: string;
  readonly metricsUrl: string;
  readonly #log: Logger;
  readonly #stops: Stops;
  #stopping: Promise<void> | null = null;

  private constructor(urls: Urls, log: Logger, stops: Stops) {
    this.url = urls.url;
    this.metricsUrl = urls.metricsUrl;
    this.#log = log;
    this.#stops = stops;
  }

  /** Builds and starts everything; if a step fails, those before it are undone, and it throws. */
  static async start(config: Config, deps: AppDeps): Promise<App> {
    const stops = new Stops();
    try {
      return new App(await build(config, deps, stops), deps.log, stops);
    } catch (fault) {
      await stops.run(deps.log);
      throw fault;
    }
  }

  /** Ends everything in reverse order; a second call waits for the first. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stops.run(this.#log);
    return this.#stopping;
  }
}

type Sources = LiveOutputs & Recording & { readonly registry: CameraRegistry };

type Recording = { readonly archive: Archive; readonly desk: RecordingDesk };

const rulesOf = (cameras: Store['cameras']): RetentionRule[] => [
  ...cameras.list().map(({ id, retention_days }) => ({
    cameraId: id,
    retentionDays: retention_days,
    camera: 'here' as const,
  })),
  ...cameras.deleted.list().map(({ cameraId, retentionDays, isPurged }) => ({
    ...{ cameraId, retentionDays },
    camera: isPurged ? ('purged' as const) : ('deleted' as const),
  })),
];

const openArchive = async (
  config: Config,
  deps: AppDeps,
  { store, root }: Storage,
  threads: Threads,
  stops: Stops,
): Promise<Recording> => {
  const { archiveDir, recordFileSeconds: fileSeconds, storageMinFreePercent: minFreePercent } = config;
  const { clock, log } = deps;
  const desk = new RecordingDesk(
    { archiveDir, fileSeconds, root: root.state.memory },
    {
      log,
      // Whatever is left while the folder is gone is found when it is back.
      recover: (cameraId, fileName) => {
        if (root.fault === null) void archive.recovery.repair(cameraId, fileName);
      },
      onRefused: () => {
        if (root.fault === null) void archive.retention.makeRoom();
      },
    },
  );
  const archive = new Archive(
    { archiveDir, minFreePercent },
    {
      clock,
      log,
      root,
      threads,
      live: desk,
      rules: () => rulesOf(store.cameras),
      onGone: (cameraId) => store.cameras.deleted.forget(cameraId),
      whyNot: (cameraId) => desk.whyNot(cameraId),
      memory: {
        lastMs: () => store.facts.timeMs('archive_time_ms'),
        remember: (timeMs) => store.facts.setTimeMs('archive_time_ms', timeMs),
        eras: () => store.facts.text('archive_clock_eras'),
        rememberEras: (text) => store.facts.setText('archive_clock_eras', text),
      },
    },
  );
  stops.push(() => archive.stop());
  await archive.start();
  return { archive, desk };
};

const startCameras = async (
  config: Config,
  deps: AppDeps,
  storage: Storage,
  threads: Threads,
  stops: Stops,
): Promise<Sources> => {
  const { clock, log } = deps;
  const { store, sessions } = storage;
  const { archive, desk } = await openArchive(config, deps, storage, threads, stops);
  const cameras = new Cameras(
    {
      camerasPerWorker: config.camerasPerWorker,
      coreCount: availableParallelism(),
      ringMemoryBytes: config.ringMemoryMb * 1e6,
    },
    {
      clock,
      log,
      spawn: counted(deps.spawn, threads),
      onChange: () => registry.touch(),
      recordings: desk,
      collectGarbage: () => threads.collectGarbage(),
    },
  );
  const onViewersChanged = (): void => registry.touch();
  const webSockets = new WebSocketViews({ feeds: cameras, clock, log, onChange: onViewersChanged });
  const hls = new LiveHls({ clock, log, feeds: cameras, alwaysOn: () => registry.alwaysOnHls() });
  const whep = new WhepService(
    {
      workerCount: availableParallelism(),
      udpPorts: config.webrtcUdpPorts,
      addresses: () => ownAddresses(config.host, config.webrtcPublicIps),
    },
    {
      ...{ feeds: cameras, clock, log, threads, onChange: onViewersChanged },
      ...{ spawn: spawnWhepWorker, openDoor: openUdpDoor },
    },
  );
  const registry = new CameraRegistry({
    clock,
    log,
    cameras,
    settings: store.cameras,
    traffic: store.traffic,
    activity: activityOf({ webSockets, hls, whep }, desk),
    events: {
      onRemoved: (id) => {
        webSockets.closeCamera(id);
        hls.closeCamera(id);
        desk.forget(id);
        sessions.endForCamera(id, 'camera_deleted');
        if (store.cameras.deleted.find(id)?.isPurged === true) archive.retention.sweepSoon();
      },
      onLocked: (id) => sessions.endForCamera(id, 'access_withdrawn'),
      // Players that poll are told when they ask; their sessions are good for its recordings still.
      onDisabled: (id) => sessions.endConnections(id, 'access_withdrawn'),
    },
  });
  stops.push(() => cameras.stop());
  stops.push(() => desk.hasten());
  stops.push(() => registry.stop());
  stops.push(() => whep.stop());
  registry.start();
  return { registry, webSockets, hls, whep, archive, desk };
};

type Ops = { readonly health: Health; readonly metrics: Metrics; readonly stats: Stats };

const buildOps = (
  config: Config,
  deps: AppDeps,
  { store, root }: Storage,
  registry: CameraRegistry,
  threads: Threads,
  { archive, desk }: Recording,
): Ops => {
  const { clock, version } = deps;
  const probe = new ArchiveProbe(config.archiveDir, { clock, root });
  // A disk that takes a small file may still have no room for a second of video.
  const archiveFault = async (): Promise<string> => {
    const seen = await probe.check();
    return seen === 'ok' ? (desk.fault ?? 'ok') : seen;
  };
  const health = new Health(
    {
      database: async () => store.writeFault() ?? 'ok',
      archive: archiveFault,
      router: async () => (registry.isRunning ? 'ok' : 'the cameras are not started'),
    },
    { clock },
  );
  const cameras = () => registry.figures();
  const metrics = new Metrics(version, {
    clock,
    source: {
      threads,
      cameras,
      fleet: () => registry.fleet(),
      components: () => health.components(),
      storage: () => probe.storage(),
      brokenRecordings: () => archive.retention.broken,
    },
  });
  const ringBytes = () => cameras().reduce((sum, camera) => sum + camera.ringBytes, 0);
  const stats = new Stats(version, { clock, source: { threads, cameras, ringBytes } });
  return { health, metrics, stats };
};

const managementRoutes = (deps: AppDeps, storage: Storage, registry: CameraRegistry, ops: Ops): Route[] => {
  const { store, sessions, tokens, accounts } = storage;
  const onCamerasChanged = () => registry.reload();
  return [
    ...loginRoutes({ accounts, onLoginFailure: (reason) => ops.metrics.loginFailed(reason) }),
    ...cameraRoutes({ registry, tokens }),
    ...tagRoutes({ tags: store.tags, onCamerasChanged }),
    ...folderRoutes({ folders: store.folders, onCamerasChanged }),
    ...userRoutes({ accounts }),
    ...backupRoutes({
      clock: deps.clock,
      backup: {
        export: () => store.exportAll(),
        faultsBetween: snapshotFaults,
        restore: (snapshot) => {
          restoreSnapshot(snapshot, { store, sessions });
          registry.reload();
        },
      },
    }),
    ...statsRoutes(ops),
  ];
};

const webSocketUpgrade = (webSockets: WebSocketViews): StreamUpgrade => ({
  path: '/stream/ws/:id',
  summary: 'The live picture over a WebSocket',
  permission: 'live.watch',
  handle: ({ cameraId, request, socket, head, hold }) =>
    webSockets.accept(cameraId, request, socket, head, hold),
});

const build = async (config: Config, deps: AppDeps, stops: Stops): Promise<Urls> => {
  const { audit, clock, hub, log, version } = deps;
  const storage = await openStorage(config, deps, stops);
  const threads = new Threads();
  const mainThread = new ThreadStats(clock);
  mainThread.start();
  stops.push(() => mainThread.stop());
  threads.add('main', mainThread.shared);
  const { registry, webSockets, hls, whep, archive, desk } = await startCameras(
    config,
    deps,
    storage,
    threads,
    stops,
  );
  const ops = buildOps(config, deps, storage, registry, threads, { archive, desk });
  const models = new Models({ directory: config.modelsDir, origin: config.modelsOrigin }, { clock, log });
  await models.start();
  stops.push(() => models.stop());
  const logRoutes = new LogRoutes({ hub, tokens: storage.tokens, sessions: storage.sessions, clock });

  const streams = new StreamAccess({ cameras: registry, gate: new ViewingGate(storage) });
  const upgrades = [webSocketUpgrade(webSockets)];

  const probes = [...healthRoutes(ops), ...metricsRoutes({ page: new MetricsPage(ops.metrics, clock) })];
  const management = managementRoutes(deps, storage, registry, ops);
  const routes = withOpenApi(
    [
      ...management,
      ...logRoutes.routes(),
      ...modelRoutes({ models }),
      ...archiveRoutes({
        clock,
        cameras: registry,
        recordings: archive.requests,
        timeline: archive.requests,
        playback: archive.requests,
        deletions: archive.requests,
        deleted: { has: (id) => storage.store.cameras.deleted.find(id) !== null },
      }),
      ...hlsRoutes({ hls }),
      ...whepRoutes({ whep }),
      ...upgradeRoutes(upgrades),
      ...probes,
    ],
    version,
  );
  const onRequest: RequestObserver = ({ route, method, status, durationSec }) =>
    ops.metrics.requestDone(route, method, status, durationSec);
  const forwarded = new ForwardedNotice(log);
  const webDeps = { clock, forwarded, log, audit, tokens: storage.tokens, streams, onRequest };
  const urls = await listen(config, { all: routes, probes, upgrades }, webDeps, stops);
  const publicCameras = storage.store.cameras.list().filter(({ token_auth }) => !token_auth).length;
  warnOfExposure(log, { host: config.host, publicCameras });
  stops.push(() => logRoutes.close());
  stops.push(() => webSockets.stop());
  stops.push(() => hls.stop());
  return urls;
};
