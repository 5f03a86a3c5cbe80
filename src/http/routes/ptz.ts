import { z } from 'zod';
import { AppError } from '../../base/errors.js';
import type { MovableCamera } from '../../onvif/ptz/far-ptz.js';
import { newPresetSchema, presetSchema, presetToken, ptzSchema } from '../onvif-schemas.js';
import { type Route, route } from '../route.js';
import { idParams, idSchema, messageSchema } from '../schemas.js';

export type PtzRoutesDeps = {
  readonly cameras: { has(id: string): boolean };
  /** By whichever box; throws `no_ptz`. */
  readonly ptz: { get(cameraId: string): MovableCamera };
};

const presetParams = z.object({ id: idSchema, preset: presetToken });

/** Cameras that can be moved. */
export const ptzRoutes = ({ cameras, ptz }: PtzRoutesDeps): Route[] => {
  const found = (id: string): MovableCamera => {
    if (!cameras.has(id)) throw new AppError('not_found', `there is no camera ${id}`);
    return ptz.get(id);
  };
  return [
    route({
      method: 'post',
      path: '/api/cameras/:id/ptz',
      access: 'ptz.control',
      audit: 'move_camera',
      summary:
        'Move a camera for as long as this is asked: it is stopped 600 ms after the last time; or let it go to a preset',
      params: idParams,
      body: ptzSchema,
      answers: {
        200: { description: 'Whether it moves', schema: z.object({ moving: z.boolean() }) },
      },
      problems: [404, 409, 502],
      handle: async ({ params: { id }, body: { pan = 0, tilt = 0, zoom = 0, preset }, note }) => {
        const camera = found(id);
        // One movement is one record, however long it lasts.
        note(camera.isMoving ? null : { camera_id: id, ...(preset !== undefined && { target: preset }) });
        if (preset === undefined) await camera.move({ pan, tilt, zoom });
        else await camera.goTo(preset);
        return { status: 200, body: { moving: camera.isMoving } };
      },
    }),
    route({
      method: 'get',
      path: '/api/cameras/:id/ptz/presets',
      access: 'ptz.control',
      summary: 'Where a camera can go by itself',
      params: idParams,
      answers: { 200: { description: 'Its presets', schema: z.array(presetSchema) } },
      problems: [404, 409, 502],
      handle: async ({ params: { id } }) => ({ status: 200, body: await found(id).presets() }),
    }),
    route({
      method: 'post',
      path: '/api/cameras/:id/ptz/presets',
      access: 'ptz.control',
      audit: 'set_preset',
      summary: 'Let a camera keep where it looks now',
      params: idParams,
      body: newPresetSchema,
      answers: { 201: { description: 'The preset', schema: presetSchema } },
      problems: [404, 409, 502],
      handle: async ({ params: { id }, body: { name }, note }) => {
        const preset = await found(id).setPreset(name);
        note({ camera_id: id, target: preset.token });
        return { status: 201, body: preset };
      },
    }),
    route({
      method: 'delete',
      path: '/api/cameras/:id/ptz/presets/:preset',
      access: 'ptz.control',
      audit: 'delete_preset',
      summary: 'Let a camera forget a preset',
      params: presetParams,
      answers: { 200: { description: 'Done', schema: messageSchema } },
      problems: [404, 409, 502],
      handle: async ({ params: { id, preset }, note }) => {
        note({ camera_id: id, target: preset });
        await found(id).removePreset(preset);
        return { status: 200, body: { message: 'preset deleted' } };
      },
    }),
  ];
};
