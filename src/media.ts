import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Archive } from './archive/archive.js';
import type { RetentionRule } from './archive/keep/retention.js';
import { storeFolder } from './archive/offsite/store-folder.js';
import type { RecorderFileState } from './archive/write/recorder-files.js';
import { RecordingDesk } from './archive/write/recording-desk.js';
import type { Clock } from './base/clock.js';
import type { Logger } from './base/log.js';
import { machineMemoryBytes } from './base/machine-memory.js';
import { Signal } from './base/signal.js';
import { credentialsOf } from './camera/camera-url.js';
import { type AnalyticsListener, Cameras, type CamerasOptions } from './camera/fleet/cameras.js';
import type { SpawnCameraWorker } from './camera/fleet/worker-thread.js';
import type { AnalyticsNews } from './camera/messages.js';
import { allCameras } from './camera/owners.js';
import { CameraRegistry } from './camera/registry.js';
import type { CameraActivity, CameraEvents } from './camera/registry-faces.js';
import { Trials } from './camera/trial/trials.js';
import type { Config } from './config.js';
import { cueText } from './detect/cue.js';
import { Detections } from './detect/detections.js';
import { problemOf } from './http/problem.js';
import { LiveHls } from './live/hls/live-hls.js';
import type { LiveOutput } from './live/live-output.js';
import { RtspViews } from './live/rtsp/views.js';
import { Walls } from './live/wall/walls.js';
import { WebSocketViews } from './live/websocket/websocket-views.js';
import { ownAddresses } from './live/whep/door/own-addresses.js';
import { openUdpDoor } from './live/whep/door/udp-door.js';
import { WhepService } from './live/whep/service.js';
import { spawnWhepWorker } from './live/whep/worker-thread.js';
import { EventCameras } from './onvif/events/event-cameras.js';
import { answerPtz, FarPtz, type MovableCamera } from './onvif/ptz/far-ptz.js';
import { type OnvifCamera, PtzCameras } from './onvif/ptz/ptz-cameras.js';
import type { Threads } from './ops/threads.js';
import { clusterNow, othersOf } from './other-boxes.js';
import { DecoderProcess } from './pictures/decoder-process.js';
import { Pictures } from './pictures/pictures.js';
import type { Relay } from './relay/relay.js';
import { sourceKeysOf } from './ring/source-key.js';
import type { Stops } from './stops.js';
import type { Storage } from './storage.js';
import type { Store } from './store/store.js';

export type MediaDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly spawn: SpawnCameraWorker;
  readonly threads: Threads;
};

/** The cameras, and all who read their rings. */
export type Media = Recording & {
  readonly registry: CameraRegistry;
  readonly webSockets: WebSocketViews;
  readonly walls: Walls;
  readonly hls: LiveHls;
  readonly whep: WhepService;
  readonly rtsp: RtspViews;
  /** Sends pictures to other boxes; null: there are none. */
  readonly relay: Relay | null;
  readonly trials: Trials;
  /** Those that can be moved, by whichever box has them; throws `no_ptz`. */
  readonly ptz: { get(cameraId: string): MovableCamera };
  readonly eventCameras: EventCameras;
  /** Once a second, when the cameras were looked at. */
  readonly beat: Signal;
  readonly pictures: Pictures;
  /** Makes JPEG of keyframes. */
  readonly decoder: DecoderProcess;
  readonly cameras: Cameras;
  /** What is seen on them. */
  readonly detections: Detections;
  /** What cameras' own analytics tell, and whether they do. */
  readonly analytics: {
    readonly track: Signal<[cameraId: string, isThere: boolean]>;
    readonly news: Signal<[cameraId: string, news: AnalyticsNews]>;
  };
};

type Recording = {
  readonly archive: Archive;
  /** Why nothing can be recorded, or soon can't; "" where all is well. */
  readonly storageFault: () => string;
  readonly desk: RecordingDesk;
  /** A file was begun; or it is written no more. */
  readonly recordingFiles: Signal<[cameraId: string, fileName: string, state: RecorderFileState]>;
};

const rulesOf = (cameras: Store['cameras']): RetentionRule[] => [
  ...cameras.list().map(({ id, retention_days, event_retention_days, record_mode }) => ({
    cameraId: id,
    retentionDays: retention_days,
    eventRetentionDays: event_retention_days,
    areEventsWorthMore: event_retention_days > retention_days || record_mode === 'events',
    camera: 'here' as const,
  })),
  ...cameras.deleted.list().map(({ cameraId, retentionDays, isPurged }) => ({
    ...{ cameraId, retentionDays },
    camera: isPurged ? ('purged' as const) : ('deleted' as const),
  })),
];

/** The archive, and beside it the main thread's view of those who write to it. */
const openArchive = async (
  config: Config,
  { clock, log, threads }: MediaDeps,
  storage: Storage,
  detections: Detections,
  stops: Stops,
): Promise<Recording> => {
  const { store, root, viewers, events } = storage;
  const { archiveDir, recordFileSeconds: fileSeconds, storageMinFreePercent: minFreePercent } = config;
  const fileLeft = new Signal<[cameraId: string, fileName: string]>();
  const diskRefused = new Signal();
  const recordingFiles: Recording['recordingFiles'] = new Signal();
  const desk = new RecordingDesk(
    { archiveDir, fileSeconds, root: root.state.memory },
    { clock, log, recover: fileLeft.emit, onRefused: diskRefused.emit, onFile: recordingFiles.emit },
  );
  const storesDir = join(config.dataDir, 'archive-copies');
  const archive = new Archive(
    {
      ...{ archiveDir, factsDir: join(config.dataDir, 'archive-facts'), minFreePercent, storesDir },
      box: config.boxName,
      store: config.archiveS3 && {
        ...config.archiveS3,
        copiesDir: join(storesDir, storeFolder(config.archiveS3.address)),
      },
    },
    {
      clock,
      log,
      root,
      threads,
      live: desk,
      epochsOf: (cameraId) => store.holdings.epochsOf(cameraId),
      rules: () => rulesOf(store.cameras),
      spared: () => events.protectedSpans(),
      byEvents: {
        cameraIds: () =>
          store.cameras
            .list()
            .filter(({ record_mode }) => record_mode === 'events')
            .map(({ id }) => id),
        times: (cameraId, fromMs, toMs) => events.times(cameraId, fromMs, toMs),
        isLasting: () => events.isLasting,
        watched: (cameraId) => detections.watched(cameraId),
        memory: {
          decided: () => store.facts.text('archive_decided'),
          rememberDecided: (text) => store.facts.setText('archive_decided', text),
        },
      },
      onGone: (cameraId) => store.cameras.deleted.forget(cameraId),
      whyNot: (cameraId) => desk.whyNot(cameraId),
      cueText,
      others: await othersOf(config, { clock, log, threads }, storage),
      cluster: clusterNow(storage),
      hold: (username, cameraIds, onEnd) => viewers.takePlace(null, username, onEnd, { shows: cameraIds }),
      memory: {
        lastMs: () => store.facts.timeMs('archive_time_ms'),
        remember: (timeMs) => store.facts.setTimeMs('archive_time_ms', timeMs),
        eras: () => store.facts.text('archive_clock_eras'),
        rememberEras: (text) => store.facts.setText('archive_clock_eras', text),
      },
    },
  );
  recordingFiles.on((cameraId, fileName, state) => {
    const progress = state === 'made' ? desk.progressOf(cameraId, fileName) : null;
    if (state !== 'made') {
      archive.facts.learnSoon(cameraId);
      archive.offsite?.look();
    }
    if (progress === null) archive.detections.fileEnded(cameraId, fileName);
    else archive.detections.fileMade(cameraId, fileName, progress);
  });
  // Whatever is left while the folder is gone is found when it is back.
  fileLeft.on((cameraId, fileName) => {
    if (root.fault === null) void archive.recovery.repair(cameraId, fileName);
  });
  diskRefused.on(() => {
    if (root.fault === null) void archive.retention.makeRoom();
  });
  stops.push(() => archive.stop());
  await archive.start();
  const storageFault = (): string => root.fault ?? desk.recentFault ?? archive.retention.shortage ?? '';
  return { archive, desk, recordingFiles, storageFault };
};

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

/** What the readers of the rings report. */
const activityOf = (
  outputs: readonly LiveOutput[],
  desk: RecordingDesk,
  detections: Detections,
  ptz: PtzCameras,
): CameraActivity => {
  return {
    // Asked of each of thousands of cameras a few times a second: it makes nothing else than the answer.
    viewers: (sources) => {
      const viewers = { websocket: 0, wall: 0, hls: 0, whep: 0, rtsp: 0 };
      for (const output of outputs)
        for (const source of sources) viewers[output.kind] += output.viewers(source);
      return viewers;
    },
    isRecording: (cameraId) => desk.isRecording(cameraId),
    writtenMs: (cameraId) => desk.writtenMs(cameraId),
    recordError: (cameraId) => desk.errorOf(cameraId),
    detectError: (cameraId) => detections.errorOf(cameraId),
    hasPtz: (cameraId) => ptz.isOffered(cameraId),
    unrecordedFrames: (cameraId) => desk.lostFrames(cameraId),
    droppedFrames: (sources) => {
      let frames = 0;
      for (const output of outputs) for (const source of sources) frames += output.droppedFrames(source);
      return frames;
    },
  };
};

/** Where cameras are asked by ONVIF, and as whom: as by RTSP, unless they are told otherwise. */
function* onvifCamerasOf(registry: CameraRegistry): Iterable<OnvifCamera> {
  for (const { id, url, onvif, quirks, disabled } of registry.stored) {
    const { address = '', profile = '', username = '', password = '' } = onvif;
    if (address === '' || disabled || !registry.isHere(id)) continue;
    const credentials = username === '' ? credentialsOf(url) : { user: username, password };
    yield { cameraId: id, address, profile, credentials, certificate: quirks.certificate ?? 'any' };
  }
}

type AskedCameras = { readonly ptz: PtzCameras; readonly eventCameras: EventCameras };

/** Cameras that are asked by ONVIF what RTSP can't tell or do: to move, and what they notice. */
const askByOnvif = (
  { clock, log }: MediaDeps,
  { cameras, analytics, beat }: Pick<Media, 'cameras' | 'analytics' | 'beat'>,
  registry: () => CameraRegistry,
  stops: Stops,
): AskedCameras => {
  const stored = { clock, log, cameras: () => onvifCamerasOf(registry()) };
  const ptz = new PtzCameras({ ...stored, onChange: () => registry().touch() });
  const eventCameras = new EventCameras({
    ...stored,
    hasTrack: (cameraId) => cameras.hasMetadata(cameraId),
    onNotices: (cameraId, notices) => analytics.news.emit(cameraId, { scenes: [], notices }),
    onSilent: (cameraId) => {
      if (cameras.hasMetadata(cameraId) !== true) analytics.track.emit(cameraId, false);
    },
  });
  beat.on(() => {
    ptz.look();
    eventCameras.look();
  });
  stops.push(async () => {
    await Promise.all([ptz.stop(), eventCameras.stop()]);
  });
  return { ptz, eventCameras };
};

/** The box that has a camera moves it; any is asked. */
const movedByOwners = (
  ptz: PtzCameras,
  registry: CameraRegistry,
  { cluster }: Storage,
  clock: Clock,
): Media['ptz'] => {
  if (cluster === null) return ptz;
  const { questions, owners } = cluster;
  questions.answer('ptz', (content) => answerPtz(content, (id) => ptz.get(id)));
  const far = new FarPtz({ clock, ask: (box, question) => questions.ask(box, 'ptz', question) });
  return {
    get: (id) => {
      const box = registry.isHere(id) ? null : owners.boxOf(id);
      return box === null || !registry.get(id, false).ptz ? ptz.get(id) : far.camera(id, box);
    },
  };
};

/** Pictures of the cameras; ffmpeg is started when the first one is wanted. */
const buildPictures = (
  decoder: DecoderProcess,
  feeds: Cameras,
  archive: Archive,
  { clock, log }: MediaDeps,
): Pictures => {
  const atOnce = Math.min(Math.max(Math.floor(availableParallelism() / 2), 2), 4);
  return new Pictures({ atOnce }, { clock, log, feeds, archive: archive.requests, decoder });
};

const fleetOptionsOf = (
  { camerasPerWorker, ringMemoryMb, boxName }: Config,
  { relayKey: key }: Storage,
): CamerasOptions => ({
  ...{ camerasPerWorker, coreCount: availableParallelism(), ringMemoryBytes: ringMemoryMb * 1e6 },
  relay: key && { box: boxName, key },
});

/** Sends this box's pictures to the others; what a box alone never loads. */
const startRelay = async (
  { boxName, cluster }: Config,
  { clock, log, threads }: MediaDeps,
  { relayKey: key }: Storage,
  { cameras, detections }: Pick<Media, 'cameras' | 'detections'>,
  { others }: Archive,
): Promise<Relay | null> => {
  if (cluster === null || key === null || others === null) return null;
  const { relayHost: host, relayPort: port } = cluster;
  const [{ Relay }, { whyOutOfReach }] = await Promise.all([
    import('./relay/relay.js'),
    import('./relay/out-of-reach.js'),
  ]);
  const reason = whyOutOfReach(cluster);
  if (reason !== null) log.warn("other boxes can't show the cameras of this one", { reason });
  const relay = await Relay.start(
    { box: boxName, host, port, key },
    { clock, log, threads, feeds: cameras, answers: (box, question) => others.answer(box, question) },
  );
  detections.shown.on((cameraId, detection) => {
    for (const source of sourceKeysOf(cameraId)) relay.tell(source, detection);
  });
  return relay;
};

/** What cameras' own analytics tell; and what other boxes see at those that they have. */
const listenerOf = (analytics: Media['analytics'], detections: Detections): AnalyticsListener => ({
  onTrack: analytics.track.emit,
  onNews: analytics.news.emit,
  onSeenThere: (cameraId, { objects, ...seen }) =>
    detections.hear(cameraId, { ...seen, objects: objects.map((object) => ({ ...object, zone: '' })) }),
});

/** Ends what was allowed of a camera until now. */
const endingsOf = (
  outputs: readonly LiveOutput[],
  pictures: Pictures,
  { archive, desk }: Recording,
  { store, viewers, events, sights }: Storage,
  detections: Detections,
): CameraEvents => ({
  onRemoved: (id) => {
    for (const source of sourceKeysOf(id)) {
      for (const output of outputs) output.closeCamera(source);
      desk.forget(source);
    }
    pictures.forget(id);
    detections.forget(id);
    events.forgetCamera(id);
    archive.byEvents.forget(id);
    viewers.endForCamera(id, 'camera_deleted');
    sights.moved();
    if (store.cameras.deleted.find(id)?.isPurged === true) archive.retention.sweepSoon();
  },
  onLocked: (id) => viewers.endForCamera(id, 'access_withdrawn'),
  // Players that poll are told when they ask; their viewings are good for its recordings still.
  onDisabled: (id) => viewers.endPlaces(id, 'access_withdrawn'),
  onMoved: () => sights.moved(),
});

/** Opens the archive and starts the cameras; the outputs show them as soon as somebody asks. */
export const startMedia = async (
  config: Config,
  deps: MediaDeps,
  storage: Storage,
  stops: Stops,
): Promise<Media> => {
  const { clock, log, threads } = deps;
  const { store, cluster } = storage;
  const detections = new Detections();
  const recording = await openArchive(config, deps, storage, detections, stops);
  const { desk } = recording;
  const camerasChanged = new Signal();
  const analytics = { track: new Signal<[string, boolean]>(), news: new Signal<[string, AnalyticsNews]>() };
  const cameras = new Cameras(fleetOptionsOf(config, storage), {
    clock,
    log,
    spawn: counted(deps.spawn, threads),
    onChange: camerasChanged.emit,
    recordings: desk,
    analytics: listenerOf(analytics, detections),
    collectGarbage: () => threads.collectGarbage(),
  });
  const decoder = new DecoderProcess(config.ffmpegPath, { clock, log });
  stops.push(() => decoder.stop());
  const pictures = buildPictures(decoder, cameras, recording.archive, deps);
  /** Filled in before the registry starts. */
  const outputs: LiveOutput[] = [];
  detections.seen.on((cameraId, detection) => recording.archive.detections.add(cameraId, detection));
  const beat = new Signal();
  const media = { cameras, analytics, beat };
  const { ptz, eventCameras }: AskedCameras = askByOnvif(deps, media, () => registry, stops);
  const registry: CameraRegistry = new CameraRegistry({
    onSampled: beat.emit,
    ...{ clock, log, cameras, settings: store.cameras, change: store.change, traffic: store.traffic },
    owners: cluster?.owners ?? allCameras(config.boxName),
    activity: activityOf(outputs, desk, detections, ptz),
    events: endingsOf(outputs, pictures, recording, storage, detections),
  });
  const onChange = (): void => registry.touch();
  camerasChanged.on(onChange);
  const webSockets = new WebSocketViews({ feeds: cameras, clock, log, onChange });
  const walls = new Walls({
    ...{ feeds: cameras, clock, log, onChange },
    problemOf: (thrown) => problemOf(thrown).problem,
    sourceOf: (cameraId, stream) => registry.sourceOf(cameraId, stream),
  });
  detections.shown.on((cameraId, detection) => walls.seen(cameraId, detection));
  const hls = new LiveHls({
    ...{ clock, log, feeds: cameras, alwaysOn: () => registry.alwaysOnHls() },
    // As much as rings may take, unless somebody says otherwise of those.
    memoryBytes: machineMemoryBytes() / 4,
    remarks: (cameraId, fromMs, toMs) =>
      detections.between(cameraId, fromMs, toMs).map((detection) => ({
        ...{ wallMs: detection.wallMs, source: detection.source },
        text: cueText(detection),
      })),
  });
  const whep = new WhepService(
    {
      workerCount: availableParallelism(),
      udpPorts: config.webrtcUdpPorts,
      addresses: () => ownAddresses(config.host, config.webrtcPublicIps),
    },
    { feeds: cameras, clock, log, threads, onChange, spawn: spawnWhepWorker, openDoor: openUdpDoor },
  );
  const rtsp = new RtspViews({ feeds: cameras, documents: cameras.documents, clock, log, onChange });
  outputs.push(webSockets, walls, hls, whep, rtsp);
  stops.push(() => cameras.stop());
  stops.push(() => desk.hasten());
  stops.push(() => registry.stop());
  stops.push(() => whep.stop());
  const relay = await startRelay(config, deps, storage, { cameras, detections }, recording.archive);
  stops.push(() => relay?.stop());
  registry.start();
  const trials = new Trials({ clock, log, spawn: counted(deps.spawn, threads), office: desk });
  stops.push(() => trials.stop());
  return {
    ...{ registry, decoder },
    cameras,
    detections,
    analytics,
    beat,
    trials,
    ptz: movedByOwners(ptz, registry, storage, clock),
    eventCameras,
    webSockets,
    walls,
    hls,
    whep,
    rtsp,
    relay,
    pictures,
    ...recording,
  };
};
