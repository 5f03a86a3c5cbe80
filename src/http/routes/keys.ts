import { z } from 'zod';
import type { ApiKey, ApiKeys } from '../../auth/api-keys.js';
import type { OnvifPasswords } from '../../auth/onvif-passwords.js';
import type { Clock } from '../../base/clock.js';
import { roles } from '../access.js';
import { listAnswers, listPage, pageQuery } from '../list.js';
import { invalidInput } from '../problem.js';
import { type Route, route } from '../route.js';
import { foldersSchema, idSchema, messageSchema } from '../schemas.js';
import { instantSchema } from '../time-range.js';

export type KeyRoutesDeps = {
  readonly keys: Pick<ApiKeys, 'list' | 'create' | 'remove'>;
  readonly clock: Clock;
  /** null: the service is no ONVIF device. */
  readonly onvifPasswords: Pick<OnvifPasswords, 'ofKey'> | null;
};

const camerasSchema = z
  .array(idSchema)
  .min(1)
  .max(1_000)
  .meta({ description: 'sees these, and what is in the folders, alone; absent: see `folders`' });

const limits = { folders: foldersSchema.optional(), cameras: camerasSchema.optional() };

const keyIdSchema = z.string().regex(/^[A-Za-z0-9_-]{12}$/, 'must be the id of a key');

const keyShape = {
  id: keyIdSchema,
  name: idSchema,
  role: z.enum(roles),
  ...limits,
  created: z.iso.datetime(),
  expires: z.iso.datetime().nullable().meta({ description: 'null: never' }),
  last_used: z.iso.datetime().nullable().meta({ description: 'null: not yet' }),
};

export const keySchema = z.strictObject(keyShape).meta({ id: 'ApiKey' });

export const madeKeySchema = z
  .strictObject({
    ...keyShape,
    key: z.string().meta({ description: 'good wherever an access token is; it is shown here alone' }),
    onvif_password: z.string().optional().meta({
      description:
        'with the name as user it opens ONVIF and RTSP for other recorders; there where `ONVIF_DEVICE` is on, and shown here alone',
    }),
  })
  .meta({ id: 'MadeApiKey' });

const newKeySchema = z
  .strictObject({
    name: idSchema,
    role: z.enum(roles),
    folders: foldersSchema.nullish(),
    cameras: camerasSchema.nullish(),
    expires: instantSchema.nullish().meta({ description: 'absent or null: never' }),
  })
  .meta({ id: 'NewApiKey' });

const instantOf = (timeMs: number | null): string | null =>
  timeMs === null ? null : new Date(timeMs).toISOString();

const viewOf = ({ id, name, role, folders, cameras, created_ms, expires_ms, used_ms }: ApiKey) => ({
  ...{ id, name, role },
  ...(folders && { folders }),
  ...(cameras && { cameras }),
  created: new Date(created_ms).toISOString(),
  expires: instantOf(expires_ms),
  last_used: instantOf(used_ms),
});

/** Keys of programs. */
export const keyRoutes = ({ keys, clock, onvifPasswords }: KeyRoutesDeps): Route[] => [
  route({
    method: 'get',
    path: '/api/keys',
    access: 'keys.manage',
    summary: 'All keys of programs, without what they are',
    query: pageQuery,
    answers: listAnswers('Keys, sorted by name', keySchema),
    handle: ({ query }) => listPage('/api/keys', keys.list(), ({ name }) => name, query, viewOf),
  }),
  route({
    method: 'post',
    path: '/api/keys',
    access: 'keys.manage',
    audit: 'create_key',
    summary: 'Make a key: a token that lasts, with a role, and folders or cameras that it is limited to',
    body: newKeySchema,
    answers: { 201: { description: 'The key, this once', schema: madeKeySchema } },
    problems: [409, 503],
    handle: async ({ body: { name, role, folders, cameras, expires }, note }) => {
      note({ target: name, role, ...(folders && { folders }), ...(cameras && { cameras }) });
      const isLimited = (folders ?? cameras ?? null) !== null;
      if (isLimited && role === 'admin')
        throw invalidInput([{ path: 'role', message: 'an admin sees everything: take another role' }]);
      if (typeof expires === 'number' && expires <= clock.wallMs())
        throw invalidInput([{ path: 'expires', message: 'must be in the future' }]);
      const { key, made } = await keys.create({
        ...{ name, role, folders: folders ?? null, cameras: cameras ?? null },
        expires_ms: expires ?? null,
      });
      const onvif_password = onvifPasswords?.ofKey(made.id);
      return { status: 201, body: { ...viewOf(made), key, ...(onvif_password && { onvif_password }) } };
    },
  }),
  route({
    method: 'delete',
    path: '/api/keys/:id',
    access: 'keys.manage',
    audit: 'delete_key',
    summary: 'Remove a key: what was opened by it ends',
    params: z.object({ id: keyIdSchema }),
    answers: { 200: { description: 'Done', schema: messageSchema } },
    problems: [404, 503],
    handle: async ({ params, note }) => {
      note({ target: await keys.remove(params.id) });
      return { status: 200, body: { message: 'key deleted' } };
    },
  }),
];
