import { randomBytes } from 'node:crypto';
import { may } from '../../auth/permissions.js';
import type { Sight } from '../../auth/sight.js';
import type { Principal } from '../../auth/tokens.js';
import type { Change } from '../../base/change.js';
import { AppError } from '../../base/errors.js';
import { changedNames } from '../changed-names.js';
import { entityTagOf, requireMatch, taggedText } from '../entity-tag.js';
import {
  type Layout,
  layoutChangesSchema,
  layoutSchema,
  MAX_TILES,
  newLayoutSchema,
} from '../layout-schemas.js';
import { listAnswers, listPage, pageQuery } from '../list.js';
import { withoutAbsent } from '../optional.js';
import { httpError, invalidInput } from '../problem.js';
import { type Reply, type Route, route } from '../route.js';
import { idParams, messageSchema } from '../schemas.js';

export type LayoutRoutesDeps = {
  readonly layouts: {
    seenBy(username: string): Layout[];
    find(id: string): Layout | null;
    create(layout: Layout): void;
    replace(layout: Layout): void;
    remove(id: string): void;
  };
  readonly change: Change;
};

const ID_BYTES = 8;

const tagOf = (layout: Layout): string => entityTagOf(JSON.stringify(layout));

const viewOf = (layout: Layout) => ({ ...layout, revision: tagOf(layout).slice(1, -1) });

const shown = (layout: Layout): Reply => taggedText(JSON.stringify(viewOf(layout)), tagOf(layout));

/** What is shared is everybody's: the right to share is the right to change it. */
const requireSharing = (principal: Principal): void => {
  if (!may(principal, 'layouts.share')) throw httpError('forbidden', 'you may not change what is shared');
};

/** What of a layout is in sight; null: nothing of it is, and it is another's. */
const inSight = (layout: Layout, { username }: Principal, sight: Sight): Layout | null => {
  if (!sight.isLimited) return layout;
  const tiles = layout.tiles.filter(({ camera_id: id }) => id === '' || sight.seesCamera(id));
  const { source } = layout;
  const isSourceSeen =
    source.kind === 'folder'
      ? sight.seesFolder(source.id)
      : source.kind === 'tag'
        ? sight.seesTag(source.id)
        : tiles.some(({ camera_id: id }) => id !== '');
  if (layout.owner === username) return { ...layout, tiles };
  return isSourceSeen ? { ...layout, tiles } : null;
};

/** The tiles that are sent, or those that there were; what is out of sight stays in its place, as far as there is room. */
const tilesOf = ({ tiles }: Layout, sent: Layout['tiles'] | undefined, sight: Sight): Layout['tiles'] => {
  if (sent === undefined || !sight.isLimited) return sent ?? tiles;
  const merged = [...sent];
  for (const [at, tile] of tiles.entries())
    if (tile.camera_id !== '' && !sight.seesCamera(tile.camera_id)) merged.splice(at, 0, tile);
  return merged.slice(0, MAX_TILES);
};

type Find = (id: string, principal: Principal, sight: Sight) => Layout;

const findIn =
  (layouts: LayoutRoutesDeps['layouts']): Find =>
  (id, principal, sight) => {
    const layout = layouts.find(id);
    const isTheirs = layout !== null && (layout.owner === principal.username || layout.shared);
    const seen = isTheirs ? inSight(layout, principal, sight) : null;
    if (seen === null) throw new AppError('not_found', `there is no layout ${id}`);
    return seen;
  };

const changeRoutes = ({ layouts, change }: LayoutRoutesDeps): Route[] => {
  const find = findIn(layouts);
  return [
    route({
      method: 'put',
      path: '/api/layouts/:id',
      access: 'layouts.edit',
      audit: 'update_layout',
      summary: 'Change the fields that are sent; what is shared is taken back by its owner alone',
      isConditional: true,
      params: idParams,
      body: layoutChangesSchema,
      answers: { 200: { description: 'The layout', schema: layoutSchema } },
      problems: [403, 404, 503],
      handle: async ({
        params,
        body: { id, owner: _, revision: __, ...changes },
        principal,
        sight,
        ifMatch,
        note,
      }) => {
        if (id !== undefined && id !== params.id)
          throw invalidInput([{ path: 'id', message: 'the id of a layout can not be changed' }]);
        const present = withoutAbsent(changes);
        const { before, after } = await change(() => {
          const before = find(params.id, principal, sight);
          const stored = layouts.find(params.id) ?? before;
          const tiles = tilesOf(stored, present.tiles, sight);
          const after: Layout = { ...before, ...present, tiles };
          if (before.shared || after.shared) requireSharing(principal);
          if (!after.shared && before.owner !== principal.username)
            throw httpError('forbidden', 'only its owner may take back what is shared');
          requireMatch(ifMatch, tagOf(before));
          layouts.replace(after);
          return { before, after };
        });
        note({ fields: changedNames(present, before, after) });
        return shown(find(params.id, principal, sight));
      },
    }),
    route({
      method: 'delete',
      path: '/api/layouts/:id',
      access: 'layouts.edit',
      audit: 'delete_layout',
      summary: 'Remove a layout',
      params: idParams,
      answers: { 200: { description: 'Done', schema: messageSchema } },
      problems: [403, 404, 503],
      handle: async ({ params, principal, sight }) => {
        await change(() => {
          if (find(params.id, principal, sight).shared) requireSharing(principal);
          layouts.remove(params.id);
        });
        return { status: 200, body: { message: 'layout deleted' } };
      },
    }),
  ];
};

/** Walls of cameras: each user's own, which nobody else sees, and those that are shared. */
export const layoutRoutes = ({ layouts, change }: LayoutRoutesDeps): Route[] => {
  const find = findIn(layouts);
  return [
    route({
      method: 'get',
      path: '/api/layouts',
      access: 'wall.open',
      summary: 'The own layouts, and those that are shared',
      query: pageQuery,
      answers: listAnswers('Layouts, sorted by id', layoutSchema),
      handle: ({ query, principal, sight }) => {
        const seen = layouts
          .seenBy(principal.username)
          .flatMap((layout) => inSight(layout, principal, sight) ?? []);
        return listPage('/api/layouts', seen, ({ id }) => id, query, viewOf);
      },
    }),
    route({
      method: 'post',
      path: '/api/layouts',
      access: 'layouts.edit',
      audit: 'create_layout',
      summary: 'Add a layout; to share it takes the right to',
      body: newLayoutSchema,
      answers: { 201: { description: 'The layout', schema: layoutSchema } },
      problems: [403, 409, 503],
      handle: async ({ body, principal, note }) => {
        if (body.shared) requireSharing(principal);
        const layout = { id: randomBytes(ID_BYTES).toString('hex'), owner: principal.username, ...body };
        note({ target: layout.id });
        await change(() => layouts.create(layout));
        return { status: 201, body: viewOf(layout), headers: { ETag: tagOf(layout) } };
      },
    }),
    route({
      method: 'get',
      path: '/api/layouts/:id',
      access: 'wall.open',
      summary: 'One layout; cameras that it names may be gone',
      params: idParams,
      answers: {
        200: { description: 'The layout', schema: layoutSchema },
        304: { description: 'What the client has', contentType: null },
      },
      problems: [404],
      handle: ({ params, principal, sight }) => shown(find(params.id, principal, sight)),
    }),
    ...changeRoutes({ layouts, change }),
  ];
};
