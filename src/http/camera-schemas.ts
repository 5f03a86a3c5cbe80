import { z } from 'zod';
import { isBoxName } from '../base/box-name.js';
import { isCameraUrl } from '../camera/camera-url.js';
import type { QuirkName } from '../camera/quirks.js';
import { type CameraView, runtimeFieldNames } from '../camera/runtime-fields.js';
import { detectionSchema } from './detection-schema.js';
import { cameraOnvifSchema } from './onvif-settings.js';
import { idSchema } from './schemas.js';

const MAX_RETENTION_DAYS = 36_500;
const MAX_TAGS = 100;

const text = (maxLength: number) => z.string().max(maxLength);

/** A name of ours: printable ASCII, so that it can stand in a header line. */
const userAgent = z
  .string()
  .regex(
    /^(?! )[ -~]{1,128}(?<! )$/,
    'must be 1 to 128 printable ASCII characters, without spaces around them',
  );

/** In what a camera is to be treated otherwise than others; src/rtsp/quirks.ts tells what each value does. */
const quirksSchema = z
  .strictObject({
    certificate: z.enum(['any', 'verify']).optional().meta({
      description: 'rtsps: any certificate (default), or only one that an authority has signed for this host',
    }),
    user_agent: userAgent.optional().meta({ description: 'what we call ourselves; "Framering" by default' }),
    keepalive: z.enum(['auto', 'options', 'get_parameter', 'set_parameter', 'none']).optional().meta({
      description: 'by what the camera lists, and answers (default); by one method only; not at all',
    }),
    teardown: z.enum(['always', 'never']).optional().meta({
      description: 'whether a session is ended in so many words (default), or its connection closed',
    }),
    refused_transport: z
      .enum(['try_other', 'give_up'])
      .optional()
      .meta({ description: 'when the camera refuses `transport`: ask for the other one (default), or fail' }),
    silent_udp: z
      .enum(['switch_to_tcp', 'give_up'])
      .optional()
      .meta({ description: 'when a track stays silent over UDP: take TCP (default), or go without it' }),
    packetization_mode_0: z.enum(['force_tcp', 'keep_transport']).optional().meta({
      description: 'H.264 that is not cut into packets: over TCP alone (default), or as `transport` says',
    }),
    interleaved_ids: z.enum(['from_reply', 'as_requested']).optional().meta({
      description: 'over TCP: the channels that the camera names (default), or those it was asked for',
    }),
    session_id: z.enum(['take_last', 'keep_first']).optional().meta({
      description: 'which session id counts if the camera changes it: the last (default) or the first',
    }),
  } satisfies Record<QuirkName, z.ZodType>)
  .meta({ id: 'CameraQuirks', description: 'in what the camera is to be treated otherwise; {}: in nothing' });

const cameraUrl = text(2_048).refine(isCameraUrl, 'must be an rtsp:// or rtsps:// address');

/** What of a camera can be set; a backup has exactly these fields. */
const settings = {
  url: cameraUrl,
  record: z.boolean(),
  retention_days: z.int().min(0).max(MAX_RETENTION_DAYS),
  tags: z.array(idSchema).max(MAX_TAGS),
  folder_id: z.union([z.literal(''), idSchema], 'must be the id of a folder, or empty'),
  comment: text(4_096),
  sim_phone: text(64),
  sim_iccid: text(64),
  lazy_hls: z.boolean(),
  transport: z.enum(['tcp', 'udp']),
  token_auth: z.boolean(),
  traffic_limit: z.int().min(0).max(1_000_000_000),
  disabled: z.boolean(),
  detect: z.boolean(),
  quirks: quirksSchema,
  detection: detectionSchema,
  sub_url: z.union([z.literal(''), cameraUrl], 'must be an rtsp:// or rtsps:// address, or empty').meta({
    description: 'a smaller stream of the same camera; empty: none',
  }),
  on_demand: z
    .boolean()
    .meta({ description: 'whether it is connected only while somebody wants its frames' }),
  record_mode: z.enum(['continuous', 'events']).meta({
    description:
      'events: of what is recorded only what lies around events stays, from 5 s before to 10 s after',
  }),
  event_retention_days: z.int().min(0).max(MAX_RETENTION_DAYS).meta({
    description: 'how long what lies around events stays; 0, or not more than retention_days: as all else',
  }),
  onvif: cameraOnvifSchema,
  box: z.string().refine(isBoxName, 'must be the name of a box').nullable().meta({
    description:
      'in a cluster: the box that is to connect it; while that is away, and where it is null, another one does',
  }),
};

/** Everything but id and url has a default. */
const withDefaults = {
  id: idSchema,
  url: settings.url,
  record: settings.record.default(false),
  retention_days: settings.retention_days.default(7),
  tags: settings.tags.default([]),
  folder_id: settings.folder_id.default(''),
  comment: settings.comment.default(''),
  sim_phone: settings.sim_phone.default(''),
  sim_iccid: settings.sim_iccid.default(''),
  lazy_hls: settings.lazy_hls.default(true),
  transport: settings.transport.default('tcp'),
  token_auth: settings.token_auth.default(false),
  traffic_limit: settings.traffic_limit.default(0),
  disabled: settings.disabled.default(false),
  detect: settings.detect.default(false),
  quirks: settings.quirks.default({}),
  detection: settings.detection.default({}),
  sub_url: settings.sub_url.default(''),
  on_demand: settings.on_demand.default(false),
  record_mode: settings.record_mode.default('continuous'),
  event_retention_days: settings.event_retention_days.default(0),
  onvif: settings.onvif.default({}),
  box: settings.box.default(null),
};

/** A camera as a backup holds it; a setting that is younger than the backup gets its default. */
export const storedCameraSchema = z.strictObject(withDefaults).meta({ id: 'StoredCamera' });

/** Runtime fields come back from a client that sends what it was given: they are taken and forgotten. */
const runtimeNames: ReadonlySet<string> = new Set(runtimeFieldNames);
const ignoredRuntime = Object.fromEntries(
  runtimeFieldNames.map((name) => [name, z.unknown().optional().meta({ readOnly: true })]),
  // Typed as nothing: what is forgotten is no part of the result.
) as Record<never, z.ZodOptional>;

const withoutRuntime = <T extends object>(input: T): T =>
  Object.fromEntries(Object.entries(input).filter(([name]) => !runtimeNames.has(name))) as T;

/** What creates a camera. */
export const newCameraSchema = z
  .strictObject({ ...withDefaults, ...ignoredRuntime })
  .transform(withoutRuntime)
  .meta({ id: 'NewCamera' });

/** What changes a camera: the fields that are sent; `id` may be repeated. */
export const cameraChangesSchema = z
  .strictObject({ id: idSchema, ...settings })
  .partial()
  .extend(ignoredRuntime)
  .transform(withoutRuntime)
  .meta({ id: 'CameraChanges' });

/** What is shown of each of a camera's streams. */
const streamFields = {
  state: z.enum([
    'connecting',
    'streaming',
    'reconnecting',
    'error',
    'disabled',
    'traffic_limited',
    'standby',
  ]),
  fps: z.number(),
  bitrate: z.int().meta({ description: 'kbit/s over the last 5 s' }),
  codec: z.string(),
  resolution: z.string(),
  width: z.int(),
  height: z.int(),
  last_error: z.string(),
};

/** A camera as it is shown. */
export const cameraSchema = z
  .strictObject({
    id: idSchema,
    ...settings,
    ...streamFields,
    uptime_sec: z.int(),
    traffic_used_mb: z.number().meta({ description: 'this calendar month, UTC' }),
    audio_codec: z.string(),
    viewers: z.int(),
    recording: z.boolean().meta({ description: 'whether a file is being written now' }),
    record_error: z.string().meta({
      description:
        'why the disk does not take what is to be recorded, or did not within the last minute; empty: all is well',
    }),
    dropped_frames: z.int(),
    quirks_active: z.array(quirksSchema.keyof()).meta({
      description: 'names of quirks that count: set otherwise than the default, or found out by the session',
    }),
    detect_error: z
      .string()
      .meta({ description: 'why no objects are found though `detect` is on; empty: all is well' }),
    ptz: z.boolean().meta({ description: 'whether it can be moved' }),
    owner: z.string().meta({ description: 'the box that has it, which others show, too; empty: none has' }),
    sub: z.strictObject(streamFields).nullable().meta({ description: 'the stream of sub_url; null: none' }),
  } satisfies Record<keyof CameraView, z.ZodType>)
  .meta({ id: 'Camera' });

/** What may be changed at once. */
export const MAX_BATCH = 1_000;

/** Changes of many cameras that are made together, or not at all. */
export const cameraBatchSchema = z
  .strictObject({
    create: z.array(newCameraSchema).max(MAX_BATCH).default([]),
    update: z
      .array(cameraChangesSchema)
      .max(MAX_BATCH)
      .default([])
      .meta({ description: 'each with its id, and the fields that change' }),
    delete: z.array(idSchema).max(MAX_BATCH).default([]),
  })
  .superRefine(({ create, update, delete: removed }, context) => {
    const total = create.length + update.length + removed.length;
    if (total === 0 || total > MAX_BATCH)
      context.addIssue({ code: 'custom', message: `must name 1 to ${MAX_BATCH} cameras` });
    for (const [index, { id }] of update.entries())
      if (id === undefined)
        context.addIssue({ code: 'custom', path: ['update', index, 'id'], message: 'must say which camera' });
  })
  .meta({ id: 'CameraBatch' });

/** A camera that is to be tried before it is configured. */
export const cameraTestSchema = z
  .strictObject({
    url: settings.url,
    transport: withDefaults.transport,
    id: idSchema.optional().meta({
      description: 'the camera whose stored password a mask (***) in the url stands for',
    }),
    stream: z.enum(['main', 'sub']).default('main').meta({ description: 'which of its addresses that is' }),
  })
  .meta({ id: 'CameraTest' });

/** How it answered. */
export const cameraTestResultSchema = z
  .object({
    ok: z.boolean(),
    code: z
      .string()
      .regex(/^[a-z_]+$/)
      .meta({
        description: 'ok, or why not: unauthorized, not_found, unsupported_codec, timeout, no_keyframe, …',
      }),
    detail: z.string().meta({ description: 'what to do about it' }),
    codec: z.string(),
    width: z.int(),
    height: z.int(),
    fps: z.number(),
    keyframe_ms: z.int().nullable().meta({ description: 'null: there was but one while it was looked at' }),
    reorder: z.int().nullable().meta({ description: 'frames held back for display order; null: not said' }),
    audio_codec: z.string(),
    test_id: z.string().meta({ description: 'for its pictures, once within a minute' }),
  })
  .meta({ id: 'CameraTestResult' });
