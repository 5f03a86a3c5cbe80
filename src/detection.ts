import type { Clock } from './base/clock.js';
import type { Logger } from './base/log.js';
import type { Config } from './config.js';
import { CameraAnalytics } from './detect/camera-analytics.js';
import { Detecting } from './detect/detecting.js';
import { HEARD_ALWAYS } from './detect/detections.js';
import { EngineProcess } from './detect/engine-process.js';
import { PassagePictures } from './detect/passage-pictures.js';
import { Passages } from './detect/passages.js';
import { isScheduled, SiteClock } from './detect/schedule.js';
import { CameraNotices } from './events/kept/camera-notices.js';
import type { Media } from './media.js';
import type { Models } from './models/models.js';
import type { Stops } from './stops.js';
import type { Storage } from './storage.js';

type Base = { readonly clock: Clock; readonly log: Logger; readonly models: Models };

const PICTURE_WIDTH = 480;

/** What is seen for a while becomes an event, with a picture. */
const followObjects = ({ clock }: Base, storage: Storage, media: Media, stops: Stops): void => {
  const { events, eventPictures } = storage;
  // Of a service that did not end in order: they were there until then, as far as anybody knows.
  const { aliveMs } = events;
  for (const { id, type, fromMs } of events.open())
    if (type === 'detection') events.change(id, { toMs: Math.max(fromMs, aliveMs) });
  const pictures = new PassagePictures({
    draw: async ({ codec, annexB }, box) => {
      const outcome = await media.decoder.decode({ codec, annexB, maxWidth: PICTURE_WIDTH, box });
      return 'jpeg' in outcome ? outcome.jpeg : null;
    },
    keep: (id, jpeg) => eventPictures.put(id, jpeg),
  });
  const passages = new Passages({
    clock,
    log: {
      begin: ({ zone, ...passage }) => events.add({ ...passage, type: 'detection', detail: zone }).id,
      end: (id, score, toMs) => events.change(id, { score, toMs }),
      picture: pictures.add,
    },
  });
  media.detections.seen.on((cameraId, detection, keyframe) => passages.onSeen(cameraId, detection, keyframe));
  media.beat.on(() => passages.tick());
  stops.push(() => passages.stop());
};

/** What cameras see by themselves is among what is seen; what they notice becomes events. */
const hearCameras = ({ clock }: Base, { events }: Storage, media: Media, stops: Stops): void => {
  const { registry, cameras, eventCameras, analytics, detections, beat } = media;
  const seen = new CameraAnalytics(
    detections,
    (cameraId) => cameras.ring(cameraId),
    (cameraId) => registry.detectionOf(cameraId),
  );
  const notices = new CameraNotices({ clock, log: events });
  detections.heard = (cameraId) =>
    cameras.isMetadataHeldOff(cameraId) ? 'nothing' : (eventCameras.heard(cameraId) ?? HEARD_ALWAYS);
  analytics.news.on((cameraId, { scenes, notices: noticed }) => {
    for (const { wallMs, objects } of scenes) seen.onScene(cameraId, wallMs, objects);
    for (const notice of noticed) notices.onNotice(cameraId, notice);
  });
  analytics.track.on((cameraId, isThere) => {
    if (!isThere) notices.onSilent(cameraId);
  });
  beat.on(() => {
    seen.tick();
    notices.tick();
  });
  stops.push(() => notices.stop());
};

/** Finds objects on the cameras that are to be looked at; nothing is started before there is one. */
export const buildDetection = (
  { ffmpegPath, detectModel }: Config,
  base: Base,
  storage: Storage,
  media: Media,
  stops: Stops,
): Detecting => {
  const { clock, log, models } = base;
  const { registry, cameras, detections, beat } = media;
  const engine = new EngineProcess(ffmpegPath, { clock, log });
  stops.push(() => engine.stop());
  followObjects(base, storage, media, stops);
  hearCameras(base, storage, media, stops);
  const detecting = new Detecting({
    ...{ clock, log, engine, detections, feeds: cameras },
    modelPath: detectModel === null ? null : () => models.path(detectModel),
  });
  // What nobody looks for any more isn't seen: recordings go on until cameras are stopped.
  stops.push(() => {
    detections.heard = () => 'unknown';
    return detecting.stop();
  });
  const siteClock = new SiteClock();
  let resting: ReadonlySet<string> = new Set();
  detections.counts = (cameraId) => !resting.has(cameraId);
  beat.on(() => {
    const local = siteClock.at(clock.wallMs(), storage.store.settings.all().time_zone);
    const off = new Set<string>();
    for (const [cameraId, { detection }] of registry.maskedSettings())
      if (!isScheduled(detection.schedule, local)) off.add(cameraId);
    resting = off;
    detecting.set([...registry.detected()].filter(({ cameraId }) => !resting.has(cameraId)));
  });
  return detecting;
};
