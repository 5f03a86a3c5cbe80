import { z } from 'zod';
import { cameraTestResultSchema } from './camera-schemas.js';
import { cameraOnvifSchema, deviceAddress, userText } from './onvif-settings.js';

/** As devices have them. */
export const presetToken = z
  .string()
  .min(1)
  .max(128)
  .regex(/^\P{Cc}*$/u, 'must have no control characters');

/** Who is asked, and as whom. */
export const onvifProbeSchema = z
  .strictObject({
    address: deviceAddress,
    username: userText.default(''),
    password: userText.default('').meta({ format: 'password', writeOnly: true }),
    certificate: z.enum(['any', 'verify']).default('any').meta({
      description: 'https: any certificate, or only one that an authority has signed for this host',
    }),
    test: z.boolean().default(true).meta({
      description: 'whether the streams of its first cameras are connected to, for 10 s at most',
    }),
  })
  .meta({ id: 'OnvifProbe' });

const profileSchema = z.object({
  token: z.string(),
  name: z.string(),
  source: z.string().meta({ description: 'which of its pictures: recorders have several' }),
  codec: z.string(),
  width: z.int(),
  height: z.int(),
  fps: z.int().meta({ description: 'at most; 0: not told' }),
  bitrate_kbps: z.int().meta({ description: 'at most; 0: not told' }),
  ptz: z.boolean(),
  metadata: z.boolean(),
});

const streamSchema = z.object({
  profile: z.string().meta({ description: 'token of its profile' }),
  codec: z.string(),
  width: z.int(),
  height: z.int(),
  test: cameraTestResultSchema.nullable().meta({ description: 'null: it was not tested' }),
});

/** What a device is, and what would be added of it. */
export const onvifProbeResultSchema = z
  .object({
    ok: z.boolean(),
    code: z
      .string()
      .regex(/^[a-z_]+$/)
      .meta({ description: 'ok, or why not: camera_unauthorized, not_onvif, no_media_service, …' }),
    detail: z.string().meta({ description: 'what to do about it' }),
    device: z
      .object({
        address: z.string(),
        manufacturer: z.string(),
        model: z.string(),
        firmware: z.string(),
        serial: z.string(),
        clock_offset_sec: z
          .int()
          .nullable()
          .meta({ description: 'how far its clock is ahead; null: it tells no time' }),
        offers: z.object({
          media2: z.boolean(),
          ptz: z.boolean(),
          imaging: z.boolean(),
          events: z.boolean(),
          analytics: z.boolean(),
          metadata: z.boolean(),
        }),
      })
      .nullable(),
    remarks: z.array(z.string()).meta({ description: 'what one should know of it, in sentences' }),
    profiles: z.array(profileSchema),
    cameras: z
      .array(
        z.object({
          name: z.string().meta({ description: 'what the device calls it, where it has several' }),
          camera: z
            .object({ url: z.string(), sub_url: z.string(), onvif: cameraOnvifSchema })
            .meta({ description: 'what adds it, with an id' }),
          main: streamSchema,
          sub: streamSchema.nullable(),
          snapshot_url: z.string().meta({ description: 'empty: none' }),
          ptz: z.boolean(),
        }),
      )
      .meta({ description: 'one for each of its pictures' }),
  })
  .meta({ id: 'OnvifProbeResult' });

export const MAX_DISCOVERY_SEC = 15;

export const discoveryQuery = z.object({
  interface: z.string().min(1).max(256).meta({
    description:
      'where: `all` networks of the machine, or names and addresses of some, with commas between them',
  }),
  seconds: z.coerce
    .number()
    .int()
    .min(1)
    .max(MAX_DISCOVERY_SEC)
    .default(4)
    .meta({ description: 'how long answers are waited for' }),
});

export const discoverySchema = z
  .object({
    interfaces: z.array(
      z.object({
        name: z.string(),
        address: z.string(),
        error: z.string().meta({ description: 'why nothing could be asked there; empty: it was' }),
      }),
    ),
    devices: z.array(
      z.object({
        endpoint: z.string(),
        address: z.string().meta({ description: 'of its device service, on the host that answered' }),
        host: z.string(),
        name: z.string(),
        hardware: z.string(),
        location: z.string(),
      }),
    ),
  })
  .meta({ id: 'OnvifDiscovery' });

const speed = z.number().min(-1).max(1);

/** How a camera is to move, or where to. */
export const ptzSchema = z
  .strictObject({
    pan: speed.optional().meta({ description: 'to the right; negative: to the left' }),
    tilt: speed.optional().meta({ description: 'up' }),
    zoom: speed.optional().meta({ description: 'closer' }),
    preset: presetToken.optional().meta({ description: 'go there; instead of all else' }),
  })
  .refine(
    ({ preset, ...velocity }) =>
      (preset === undefined) === Object.values(velocity).some((v) => v !== undefined),
    'must have pan, tilt or zoom, or preset',
  )
  .meta({ id: 'Ptz', description: 'asked anew every 300 ms: 600 ms after the last the camera is stopped' });

export const presetSchema = z.object({ token: z.string(), name: z.string() }).meta({ id: 'Preset' });

export const newPresetSchema = z
  .strictObject({
    name: z
      .string()
      .trim()
      .min(1)
      .max(64)
      .regex(/^\P{Cc}*$/u, 'must have no control characters'),
  })
  .meta({ id: 'NewPreset' });
