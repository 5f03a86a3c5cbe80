import type { Clock } from './base/clock.js';
import type { Logger } from './base/log.js';
import type { Config } from './config.js';
import { Detecting } from './detect/detecting.js';
import { EngineProcess } from './detect/engine-process.js';
import type { Box } from './detect/messages.js';
import type { TakenKeyframe } from './detect/newest-keyframe.js';
import { type PassageLog, Passages } from './detect/passages.js';
import type { Media } from './media.js';
import type { Models } from './models/models.js';
import type { Stops } from './stops.js';
import type { Storage } from './storage.js';

type Base = { readonly clock: Clock; readonly log: Logger; readonly models: Models };

const PICTURE_WIDTH = 480;
/** Pictures that wait to be drawn: where there are more, some passages have none of their own. */
const MAX_WAITING = 32;

/** Draws one picture after another, so that snapshots, which people wait for, have the decoder almost to themselves. */
const pictureDrawer = ({ eventPictures }: Storage, { decoder }: Media): PassageLog['picture'] => {
  let turn: Promise<void> = Promise.resolve();
  let waiting = 0;
  const draw = async (id: number, { job: { codec, annexB } }: TakenKeyframe, box: Box): Promise<void> => {
    const outcome = await decoder.decode({ codec, annexB, maxWidth: PICTURE_WIDTH, box });
    if ('jpeg' in outcome) await eventPictures.put(id, outcome.jpeg);
  };
  return (id, keyframe, box) => {
    if (waiting >= MAX_WAITING) return;
    waiting += 1;
    turn = turn
      .then(() => draw(id, keyframe, box))
      .finally(() => {
        waiting -= 1;
      });
  };
};

/** What is seen for a while becomes an event, with a picture. */
const followObjects = ({ clock }: Base, storage: Storage, media: Media, stops: Stops): void => {
  const { events } = storage;
  // Of a service that did not end in order: nobody knows how long they were there.
  for (const { id, type, fromMs } of events.open())
    if (type === 'detection') events.change(id, { toMs: fromMs });
  const passages = new Passages({
    clock,
    log: {
      begin: ({ zone, ...passage }) => events.add({ ...passage, type: 'detection', detail: zone }).id,
      end: (id, score, toMs) => events.change(id, { score, toMs }),
      picture: pictureDrawer(storage, media),
    },
  });
  media.detections.seen.on((cameraId, detection, keyframe) => passages.onSeen(cameraId, detection, keyframe));
  media.beat.on(() => passages.tick());
  stops.push(() => passages.stop());
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
  const detecting = new Detecting({
    ...{ clock, log, engine, detections, feeds: cameras },
    modelPath: detectModel === null ? null : () => models.path(detectModel),
  });
  stops.push(() => detecting.stop());
  beat.on(() => detecting.set(registry.detected()));
  return detecting;
};
