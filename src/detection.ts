import type { Clock } from './base/clock.js';
import type { Logger } from './base/log.js';
import type { Config } from './config.js';
import { Detecting } from './detect/detecting.js';
import { EngineProcess } from './detect/engine-process.js';
import type { Media } from './media.js';
import type { Models } from './models/models.js';
import type { Stops } from './stops.js';

/** Finds objects on the cameras that are to be looked at; nothing is started before there is one. */
export const buildDetection = (
  { ffmpegPath, detectModel }: Config,
  { clock, log, models }: { readonly clock: Clock; readonly log: Logger; readonly models: Models },
  { registry, cameras, detections, beat }: Media,
  stops: Stops,
): Detecting => {
  const engine = new EngineProcess(ffmpegPath, { clock, log });
  stops.push(() => engine.stop());
  const detecting = new Detecting({
    ...{ clock, log, engine, detections, feeds: cameras },
    modelPath: detectModel === null ? null : () => models.path(detectModel),
  });
  stops.push(() => detecting.stop());
  beat.on(() => detecting.set(registry.detected()));
  return detecting;
};
