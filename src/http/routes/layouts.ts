import { randomBytes } from 'node:crypto';
import { mayRole } from '../../auth/permissions.js';
import type { Principal } from '../../auth/tokens.js';
import { AppError } from '../../base/errors.js';
import { changedNames } from '../changed-names.js';
import { entityTagOf, requireMatch, taggedText } from '../entity-tag.js';
import { type Layout, layoutChangesSchema, layoutSchema, newLayoutSchema } from '../layout-schemas.js';
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
};

const ID_BYTES = 8;

const tagOf = (layout: Layout): string => entityTagOf(JSON.stringify(layout));

const viewOf = (layout: Layout) => ({ ...layout, revision: tagOf(layout).slice(1, -1) });

const shown = (layout: Layout): Reply => taggedText(JSON.stringify(viewOf(layout)), tagOf(layout));

/** What is shared is everybody's: the right to share is the right to change it. */
const requireSharing = ({ role }: Principal): void => {
  if (!mayRole(role, 'layouts.share'))
    throw httpError('forbidden', `the role ${role} may not change what is shared`);
};

/** Walls of cameras: each user's own, which nobody else sees, and those that are shared. */
export const layoutRoutes = ({ layouts }: LayoutRoutesDeps): Route[] => {
  const find = (id: string, { username }: Principal): Layout => {
    const layout = layouts.find(id);
    if (layout === null || (layout.owner !== username && !layout.shared))
      throw new AppError('not_found', `there is no layout ${id}`);
    return layout;
  };
  return [
    route({
      method: 'get',
      path: '/api/layouts',
      access: 'wall.open',
      summary: 'The own layouts, and those that are shared',
      query: pageQuery,
      answers: listAnswers('Layouts, sorted by id', layoutSchema),
      handle: ({ query, principal }) =>
        listPage('/api/layouts', layouts.seenBy(principal.username), ({ id }) => id, query, viewOf),
    }),
    route({
      method: 'post',
      path: '/api/layouts',
      access: 'wall.open',
      audit: 'create_layout',
      summary: 'Add a layout; to share it takes the right to',
      body: newLayoutSchema,
      answers: { 201: { description: 'The layout', schema: layoutSchema } },
      problems: [403, 409, 503],
      handle: ({ body, principal, note }) => {
        if (body.shared) requireSharing(principal);
        const layout = { id: randomBytes(ID_BYTES).toString('hex'), owner: principal.username, ...body };
        note({ target: layout.id });
        layouts.create(layout);
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
      handle: ({ params, principal }) => shown(find(params.id, principal)),
    }),
    route({
      method: 'put',
      path: '/api/layouts/:id',
      access: 'wall.open',
      audit: 'update_layout',
      summary: 'Change the fields that are sent; what is shared is taken back by its owner alone',
      isConditional: true,
      params: idParams,
      body: layoutChangesSchema,
      answers: { 200: { description: 'The layout', schema: layoutSchema } },
      problems: [403, 404, 503],
      handle: ({ params, body: { id, owner: _, revision: __, ...changes }, principal, ifMatch, note }) => {
        if (id !== undefined && id !== params.id)
          throw invalidInput([{ path: 'id', message: 'the id of a layout can not be changed' }]);
        const before = find(params.id, principal);
        const present = withoutAbsent(changes);
        const after: Layout = { ...before, ...present };
        if (before.shared || after.shared) requireSharing(principal);
        if (!after.shared && before.owner !== principal.username)
          throw httpError('forbidden', 'only its owner may take back what is shared');
        requireMatch(ifMatch, tagOf(before));
        layouts.replace(after);
        note({ fields: changedNames(present, before, after) });
        return shown(after);
      },
    }),
    route({
      method: 'delete',
      path: '/api/layouts/:id',
      access: 'wall.open',
      audit: 'delete_layout',
      summary: 'Remove a layout',
      params: idParams,
      answers: { 200: { description: 'Done', schema: messageSchema } },
      problems: [403, 404, 503],
      handle: ({ params, principal }) => {
        if (find(params.id, principal).shared) requireSharing(principal);
        layouts.remove(params.id);
        return { status: 200, body: { message: 'layout deleted' } };
      },
    }),
  ];
};
