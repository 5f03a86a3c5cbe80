import { randomUUID } from 'node:crypto';
import { followShared } from './adopted-settings.js';
import { poolThreads } from './archive/write/disk-gate.js';
import { ViewingGate } from './auth/viewing-gate.js';
import type { Clock } from './base/clock.js';
import type { Logger } from './base/log.js';
import { ThreadStats } from './base/thread-stats.js';
import type { SpawnCameraWorker } from './camera/fleet/worker-thread.js';
import { clusterDoor, storeQueueOf } from './cluster-facts.js';
import type { Config } from './config.js';
import { buildDetection } from './detection.js';
import { buildHappenings } from './happenings.js';
import { AuditNote } from './http/audit.js';
import { ForwardedNotice } from './http/forwarded-notice.js';
import type { RequestObserver } from './http/request-report.js';
import { createRtspAccess } from './http/rtsp-access.js';
import { ServerSentStreams } from './http/server-sent.js';
import { StreamAccess } from './http/stream-access.js';
import { listen, type Urls } from './listeners.js';
import { startMedia } from './media.js';
import { Models } from './models/models.js';
import { buildNotices } from './notices.js';
import { Announcer } from './onvif/server/announcer.js';
import { buildOperations } from './operations.js';
import { AuditTrail } from './ops/audit-trail.js';
import { warnOfExposure } from './ops/exposure.js';
import type { LogHub } from './ops/log-hub.js';
import { warnOfFewThreads } from './ops/thread-pool.js';
import { Threads } from './ops/threads.js';
import { buildRoutes } from './routes.js';
import { openCertificate } from './served-tls.js';
import { onvifDeviceFacts, serviceFacts, urlAtAddress } from './service-facts.js';
import { Stops } from './stops.js';
import { openStorage } from './storage.js';

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

/** The running service. */
export class App {
  readonly url: string;
  readonly metricsUrl: string;
  readonly rtspUrl: string | null;
  readonly rtspsUrl: string | null;
  readonly #log: Logger;
  readonly #stops: Stops;
  #stopping: Promise<void> | null = null;

  private constructor(urls: Urls, log: Logger, stops: Stops) {
    this.url = urls.url;
    this.metricsUrl = urls.metricsUrl;
    this.rtspUrl = urls.rtspUrl;
    this.rtspsUrl = urls.rtspsUrl;
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

/** All threads, this one the first of them. */
const countThreads = (
  clock: Clock,
  stops: Stops,
): { readonly threads: Threads; readonly mainStats: SharedArrayBuffer } => {
  const threads = new Threads();
  const mainThread = new ThreadStats(clock);
  mainThread.start();
  stops.push(() => mainThread.stop());
  threads.add('main', mainThread.shared);
  return { threads, mainStats: mainThread.shared };
};

const build = async (config: Config, deps: AppDeps, stops: Stops): Promise<Urls> => {
  const { clock, hub, log, spawn, version } = deps;
  const storage = await openStorage(config, deps, stops);
  const { store, tokens, viewers } = storage;
  const trail = new AuditTrail({ clock, log, table: store.audit });
  stops.push(() => trail.stop());
  const audit = trail.copyOf(deps.audit);
  const { threads, mainStats } = countThreads(clock, stops);
  const media = await startMedia(config, { clock, log, spawn, threads }, storage, stops);
  const notices = buildNotices(config, { clock, log, version }, storage, media, stops);
  if (storage.cluster !== null) followShared(storage.cluster.changed, { storage, media, notices });
  const events = buildHappenings({ clock, log }, storage, media, stops);
  storage.cluster?.begin({
    ...{ version, mainStats, relayPort: media.relay?.port ?? null },
    store: () => storeQueueOf(media.archive, clock),
    cameras: {
      list: () => media.registry.stored,
      worksUntilMs: (id) => media.registry.worksUntilMs(id),
      hasAnswered: (id) => media.registry.hasAnswered(id),
      isUnauthorized: (id) => media.registry.isUnauthorized(id),
      suspicionOf: (id) => media.registry.suspicionOf(id),
      figures: (id) => media.registry.told(id),
    },
  });
  const models = new Models({ directory: config.modelsDir, origin: config.modelsOrigin }, { clock, log });
  await models.start();
  stops.push(() => models.stop());
  const detecting = buildDetection(config, { clock, log, models }, storage, media, stops);
  const operations = buildOperations(
    config,
    { clock, version, threads, events, detecting, notices },
    storage,
    media,
  );

  const serverSent = new ServerSentStreams({ tokens, viewers, clock });
  const certificate = openCertificate(config, { clock, log }, stops);
  const service = () => serviceFacts(config, version, certificate, notices.mqtt?.view ?? null);
  const streams = new StreamAccess({ cameras: media.registry, gate: new ViewingGate(storage) });
  let urls: Urls | null = null;
  const onvifDevice =
    config.onvifDevice === 'off' ? null : onvifDeviceFacts(version, store.facts, () => urls);
  const routes = buildRoutes({
    ...{ clock, version, storage, media, operations, models, streams, onvifDevice },
    ...{ log: hub, events, serverSent, service, trail, notices },
    cluster: clusterDoor(config.boxName, storage.cluster, media.archive, clock),
  });
  const onRequest: RequestObserver = ({ route, method, status, durationSec }) =>
    operations.metrics.requestDone(route, method, status, durationSec);
  const forwarded = new ForwardedNotice(log);
  storage.wrongKey.on((clientAddress) => {
    operations.metrics.loginFailed('credentials');
    const caller = { principal: null, clientAddress, requestId: randomUUID() };
    new AuditNote(audit, 'use_key', caller).failed('token_invalid');
  });
  const access = createRtspAccess({
    ...{ streams, tokens, audit, accounts: storage.accounts, sources: media.registry },
    onvifPasswords: onvifDevice && storage.onvifPasswords,
    onLoginFailure: (reason) => operations.metrics.loginFailed(reason),
  });
  const rtsp = { views: media.rtsp, access };
  urls = await listen(
    config,
    routes,
    { clock, forwarded, log, audit, tokens, streams, sights: storage.sights, onRequest, certificate, rtsp },
    stops,
  );
  if (onvifDevice !== null && config.onvifDevice === 'on') {
    const urlAt = urlAtAddress(urls.url);
    const options = { host: config.host, uuid: onvifDevice.facts.uuid, urlAt };
    const announcer = await Announcer.start(options, { clock, log });
    stops.push(() => announcer?.stop());
  }
  const publicCameras = store.cameras.list().filter(({ token_auth }) => !token_auth).length;
  warnOfExposure(log, { host: config.host, publicCameras });
  warnOfFewThreads(log, poolThreads(process.env));
  stops.push(() => serverSent.close());
  stops.push(() => media.walls.stop());
  stops.push(() => media.webSockets.stop());
  stops.push(() => media.hls.stop());
  stops.push(() => media.rtsp.stop());
  stops.push(() => storage.cluster?.handOver());
  return urls;
};
