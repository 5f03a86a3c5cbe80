import { z } from 'zod';
import type { Clock } from '../../base/clock.js';
import { onvifError } from '../errors.js';
import { MAX_PRESET_NAME, type Preset, type Velocity } from './commands.js';
import { DEAD_MAN_MS } from './drive.js';
import type { PtzCamera } from './ptz-camera.js';

/** A camera that can be moved, by whichever box. */
export type MovableCamera = Pick<
  PtzCamera,
  'isMoving' | 'move' | 'goTo' | 'presets' | 'setPreset' | 'removePreset'
>;

const speed = z.number().min(-1).max(1);
const token = z.string().max(128);
const cameraId = z.string().max(64);

const questionSchema = z.discriminatedUnion('do', [
  z.object({ do: z.literal('move'), cameraId, to: z.object({ pan: speed, tilt: speed, zoom: speed }) }),
  z.object({ do: z.literal('go'), cameraId, preset: token }),
  z.object({ do: z.literal('list'), cameraId }),
  z.object({ do: z.literal('keep'), cameraId, name: z.string().max(MAX_PRESET_NAME) }),
  z.object({ do: z.literal('forget'), cameraId, preset: token }),
]);

/** What the box is asked for that has the camera. */
export type PtzQuestion = z.infer<typeof questionSchema>;

const presetSchema = z.object({ token: z.string(), name: z.string() });
const answerSchema = z.object({ isMoving: z.boolean(), presets: z.array(presetSchema).max(300) });
type PtzAnswer = z.infer<typeof answerSchema>;

/** Does what another box asks of a camera of this one; throws an OnvifError. */
export const answerPtz = async (
  content: unknown,
  find: (cameraId: string) => MovableCamera,
): Promise<PtzAnswer> => {
  const { success, data } = questionSchema.safeParse(content);
  if (!success) throw onvifError('no_ptz', 'the box that has this camera does not know how to do that');
  const camera = find(data.cameraId);
  let presets: Preset[] = [];
  if (data.do === 'move') await camera.move(data.to);
  else if (data.do === 'go') await camera.goTo(data.preset);
  else if (data.do === 'list') presets = await camera.presets();
  else if (data.do === 'keep') presets = [await camera.setPreset(data.name)];
  else await camera.removePreset(data.preset);
  return { isMoving: camera.isMoving, presets };
};

export type FarPtzDeps = {
  readonly clock: Clock;
  /** Asks the box; throws what that throws. */
  readonly ask: (box: string, question: PtzQuestion) => Promise<unknown>;
};

/** Cameras that other boxes have. Those hold the dead man's switch: what doesn't reach them moves nothing. */
export class FarPtz {
  readonly #deps: FarPtzDeps;
  /** Of cameras that were moved from here: until when they are known to move. */
  readonly #movingUntilMs = new Map<string, number>();

  constructor(deps: FarPtzDeps) {
    this.#deps = deps;
  }

  camera(cameraId: string, box: string): MovableCamera {
    const ask = (question: PtzQuestion): Promise<PtzAnswer> => this.#ask(box, question);
    const isMoving = (): boolean => (this.#movingUntilMs.get(cameraId) ?? 0) > this.#deps.clock.monotonicMs();
    return {
      get isMoving() {
        return isMoving();
      },
      move: async (to: Velocity) => void (await ask({ do: 'move', cameraId, to })),
      goTo: async (preset) => void (await ask({ do: 'go', cameraId, preset })),
      presets: async () => (await ask({ do: 'list', cameraId })).presets,
      setPreset: async (name) => {
        const [preset] = (await ask({ do: 'keep', cameraId, name })).presets;
        if (preset === undefined) throw unreadable(box);
        return preset;
      },
      removePreset: async (preset) => void (await ask({ do: 'forget', cameraId, preset })),
    };
  }

  async #ask(box: string, question: PtzQuestion): Promise<PtzAnswer> {
    const { success, data } = answerSchema.safeParse(await this.#deps.ask(box, question));
    if (!success) throw unreadable(box);
    const nowMs = this.#deps.clock.monotonicMs();
    for (const [id, untilMs] of this.#movingUntilMs) if (untilMs <= nowMs) this.#movingUntilMs.delete(id);
    if (data.isMoving) this.#movingUntilMs.set(question.cameraId, nowMs + DEAD_MAN_MS);
    else this.#movingUntilMs.delete(question.cameraId);
    return data;
  }
}

const unreadable = (box: string) =>
  onvifError('camera_bad_answer', `the box ${box}, which has this camera, answers what can't be read`);
