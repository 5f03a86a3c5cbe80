import { z } from 'zod';
import { mayRole, type Role } from '../../auth/permissions.js';
import type { Sight } from '../../auth/sight.js';
import type { Principal } from '../../auth/tokens.js';
import { AppError } from '../../base/errors.js';
import type { CameraRegistry } from '../../camera/registry.js';
import type { CameraView } from '../../camera/runtime-fields.js';
import {
  cameraBatchSchema,
  cameraChangesSchema,
  cameraSchema,
  MAX_BATCH,
  newCameraSchema,
} from '../camera-schemas.js';
import { changedNames } from '../changed-names.js';
import { listAnswers, listPage, listText, pageQuery } from '../list.js';
import { withoutAbsent } from '../optional.js';
import { type InputFault, invalidInput } from '../problem.js';
import { type Reply, type Route, route } from '../route.js';
import { idParams, idSchema, messageSchema, tokenSchema } from '../schemas.js';

/** Where cameras are kept, and what is left of some. */
export type StoredPlaces = {
  /** Null where there is no such camera. */
  folderOf(id: string): string | null;
  /** Whether there is something of a camera that was deleted. */
  isLeft(id: string): boolean;
};

export type CameraRoutesDeps = {
  readonly registry: CameraRegistry;
  readonly stored: StoredPlaces;
  readonly tokens: { issueStream(principal: Principal, cameraId: string): string };
};

/** The longest comment and a hundred tags fit, every character escaped, and the runtime fields that come back. */
const LIMIT_BYTES = 131_072;

const shownQuery = z.object({
  passwords: z
    .enum(['shown', 'masked'])
    .default('shown')
    .meta({ description: 'masked: as for whoever may not see them; sent back so, they stay' }),
});
const removalQuery = z.object({ recordings: z.enum(['keep', 'delete']).default('keep') });

const seesPasswords = (role: Role): boolean => mayRole(role, 'camera-credentials.read');

/**
 * The list as text, made again only when something in it changed: walls of browsers ask for it many times a
 * second, and a hundred cameras are 70 kB of JSON.
 */
class ListText {
  readonly #registry: CameraRegistry;
  readonly #showsPasswords: boolean;
  #revision = -1;
  #reply: Reply | null = null;

  constructor(registry: CameraRegistry, showsPasswords: boolean) {
    this.#registry = registry;
    this.#showsPasswords = showsPasswords;
  }

  get(): Reply {
    const { revision } = this.#registry;
    if (this.#reply === null || revision !== this.#revision) {
      this.#reply = listText(Buffer.from(JSON.stringify(this.#registry.list(this.#showsPasswords))));
      this.#revision = revision;
    }
    return this.#reply;
  }
}

const listRoute = (registry: CameraRegistry): Route => {
  const whole = new ListText(registry, true);
  const masked = new ListText(registry, false);
  return route({
    method: 'get',
    path: '/api/cameras',
    access: 'cameras.list',
    summary: 'All cameras with what they do now; a viewer sees no password in a url',
    query: pageQuery,
    answers: listAnswers('Cameras, sorted by id', cameraSchema),
    handle: ({ principal, query, sight }) => {
      const showsPasswords = seesPasswords(principal.role);
      if (!sight.isLimited && query.limit === undefined && query.cursor === undefined)
        return (showsPasswords ? whole : masked).get();
      const viewOf = (id: string): CameraView => registry.get(id, showsPasswords);
      const ids = registry.ids.filter((id) => sight.seesCamera(id));
      return listPage('/api/cameras', ids, (id) => id, query, viewOf);
    },
  });
};

const taken = (id: string): string => `there is a camera ${id} already`;

/** Whoever is limited to folders puts cameras nowhere else; what stays where it is is nobody's change. */
const placeFaults = (
  { folder_id: folderId }: { readonly folder_id?: string | undefined },
  sight: Sight,
  path = '',
  before: string | null = null,
): InputFault[] =>
  folderId === undefined || folderId === before || sight.seesFolder(folderId)
    ? []
    : [{ path: `${path}folder_id`, message: 'must be a folder that you see' }];

const requirePlace = (
  camera: { readonly folder_id?: string | undefined },
  sight: Sight,
  before: string | null = null,
): void => {
  const faults = placeFaults(camera, sight, '', before);
  if (faults.length > 0) throw invalidInput(faults);
};

/** A thousand cameras, with their runtime fields. */
const BATCH_LIMIT_BYTES = 1_000_000;
/** A fault or two for each. */
const MAX_BATCH_FAULTS = 2 * MAX_BATCH;

const batchRoute = (registry: CameraRegistry, stored: StoredPlaces): Route =>
  route({
    method: 'post',
    path: '/api/cameras/bulk',
    access: 'cameras.edit',
    audit: 'change_cameras',
    summary: `Add, change and remove up to ${MAX_BATCH} cameras, all or nothing: then every fault is listed, as create[3].url`,
    query: removalQuery,
    body: cameraBatchSchema,
    bodyLimitBytes: BATCH_LIMIT_BYTES,
    furtherFaults: (input, sight) => registry.faultsOfBatch(input, sight.seesCamera),
    maxListedFaults: MAX_BATCH_FAULTS,
    answers: {
      200: {
        description: 'Those that were added and changed, whole, and the ids of those that were removed',
        schema: z.object({ cameras: z.array(cameraSchema), deleted: z.array(idSchema) }),
      },
    },
    problems: [503],
    handle: async ({
      body: { create, update, delete: removed },
      query: { recordings },
      principal,
      sight,
      note,
    }) => {
      const faults = [
        ...registry.faultsOfBatch({ create, update, delete: removed }, sight.seesCamera),
        ...create.flatMap((camera, index) => placeFaults(camera, sight, `create[${index}].`)),
        ...create.flatMap(({ id }, index) =>
          sight.isLimited && stored.isLeft(id) ? [{ path: `create[${index}].id`, message: taken(id) }] : [],
        ),
        ...update.flatMap((changes, index) =>
          placeFaults(changes, sight, `update[${index}].`, stored.folderOf(changes.id ?? '')),
        ),
      ];
      if (faults.length > 0) throw invalidInput(faults, MAX_BATCH_FAULTS);
      const isPurged = recordings === 'delete';
      // The schema has asked for each id.
      const changes = update.map(({ id = '', ...sent }) => ({ id, changes: withoutAbsent(sent) }));
      const [created, updated] = [create.map(({ id }) => id), changes.map(({ id }) => id)];
      note({ created, updated, deleted: removed, ...(isPurged && { recordings: 'deleted' }) });
      await registry.changeMany({ create, update: changes, remove: removed, isPurged });
      const showsPasswords = seesPasswords(principal.role);
      const cameras = [...created, ...updated].map((id) => registry.get(id, showsPasswords));
      return { status: 200, body: { cameras, deleted: removed } };
    },
  });

const readRoute = (registry: CameraRegistry): Route =>
  route({
    method: 'get',
    path: '/api/cameras/:id',
    access: 'cameras.list',
    summary: 'One camera, as the list has it',
    params: idParams,
    query: shownQuery,
    answers: { 200: { description: 'The camera', schema: cameraSchema } },
    problems: [404],
    handle: ({ params: { id }, query: { passwords }, principal }) => ({
      status: 200,
      body: registry.get(id, passwords === 'shown' && seesPasswords(principal.role)),
    }),
  });

/** Cameras: the list, and what changes it. */
export const cameraRoutes = ({ registry, stored, tokens }: CameraRoutesDeps): Route[] => {
  const shown = (status: number, id: string, { role }: Principal): Reply => ({
    status,
    body: registry.get(id, seesPasswords(role)),
  });
  return [
    listRoute(registry),
    batchRoute(registry, stored),
    readRoute(registry),
    route({
      method: 'post',
      path: '/api/cameras',
      access: 'cameras.edit',
      audit: 'create_camera',
      summary: 'Add a camera and begin to stream it',
      body: newCameraSchema,
      bodyLimitBytes: LIMIT_BYTES,
      answers: { 201: { description: 'The camera', schema: cameraSchema } },
      problems: [409, 503],
      handle: async ({ body, principal, sight, note }) => {
        note({ camera_id: body.id });
        requirePlace(body, sight);
        // What is left of it would be seen.
        if (sight.isLimited && stored.isLeft(body.id)) throw new AppError('exists', taken(body.id));
        await registry.create(body);
        return shown(201, body.id, principal);
      },
    }),
    route({
      method: 'put',
      path: '/api/cameras/:id',
      access: 'cameras.edit',
      audit: 'update_camera',
      summary:
        'Change the fields that are sent; only another url, sub_url, transport or quirks interrupt a stream',
      params: idParams,
      body: cameraChangesSchema,
      bodyLimitBytes: LIMIT_BYTES,
      answers: { 200: { description: 'The whole camera', schema: cameraSchema } },
      problems: [404, 503],
      handle: async ({ params, body, principal, sight, note }) => {
        const { id, ...changes } = body;
        const before = registry.get(params.id, true);
        if (id !== undefined && id !== params.id)
          throw invalidInput([{ path: 'id', message: 'the id of a camera can not be changed' }]);
        const present = withoutAbsent(changes);
        requirePlace(changes, sight, before.folder_id);
        await registry.update(params.id, present);
        note({ fields: changedNames(present, before, registry.get(params.id, true)) });
        return shown(200, params.id, principal);
      },
    }),
    route({
      method: 'delete',
      path: '/api/cameras/:id',
      access: 'cameras.edit',
      audit: 'delete_camera',
      summary:
        'Stop a camera and remove it; its recordings stay as long as it kept them, unless they are to go along',
      params: idParams,
      query: removalQuery,
      answers: { 200: { description: 'Done', schema: messageSchema } },
      problems: [404, 503],
      handle: async ({ params, query: { recordings }, note }) => {
        const isPurged = recordings === 'delete';
        if (isPurged) note({ recordings: 'deleted' });
        await registry.remove(params.id, { isPurged });
        return { status: 200, body: { message: 'camera deleted' } };
      },
    }),
    route({
      method: 'get',
      path: '/api/cameras/:id/stream-token',
      access: 'stream-tokens.issue',
      summary: 'A token to begin watching one camera with, good for 60 s',
      params: idParams,
      answers: { 200: { description: 'A stream token', schema: tokenSchema } },
      problems: [404],
      handle: ({ params: { id }, principal }) => {
        if (!registry.has(id)) throw new AppError('not_found', `there is no camera ${id}`);
        return { status: 200, body: { token: tokens.issueStream(principal, id) } };
      },
    }),
  ];
};
