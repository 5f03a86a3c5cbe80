import type { z } from 'zod';
import type { Change } from '../../base/change.js';
import { changedNames } from '../changed-names.js';
import { listAnswers, listPage, pageQuery } from '../list.js';
import { withoutAbsent } from '../optional.js';
import { invalidInput } from '../problem.js';
import { type Route, route } from '../route.js';
import { idParams, messageSchema, tagChangesSchema, tagSchema } from '../schemas.js';

type Tag = z.infer<typeof tagSchema>;

export type TagRoutesDeps = {
  readonly tags: {
    list(): Tag[];
    create(tag: Tag): Tag;
    update(id: string, changes: Partial<Omit<Tag, 'id'>>): Tag;
    remove(id: string): void;
  };
  readonly change: Change;
  /** Tags were taken off cameras. */
  readonly onCamerasChanged: () => void;
};

/** Labels for cameras. */
export const tagRoutes = ({ tags, change, onCamerasChanged }: TagRoutesDeps): Route[] => [
  route({
    method: 'get',
    path: '/api/tags',
    access: 'tags.read',
    summary: 'All tags',
    query: pageQuery,
    answers: listAnswers('Tags, sorted by id', tagSchema),
    handle: ({ query, sight }) => {
      const seen = tags.list().filter(({ id }) => sight.seesTag(id));
      return listPage('/api/tags', seen, ({ id }) => id, query);
    },
  }),
  route({
    method: 'post',
    path: '/api/tags',
    access: 'tags.edit',
    audit: 'create_tag',
    summary: 'Add a tag',
    body: tagSchema,
    answers: { 201: { description: 'The tag', schema: tagSchema } },
    problems: [409, 503],
    handle: async ({ body, note }) => {
      note({ target: body.id });
      return { status: 201, body: await change(() => tags.create(body)) };
    },
  }),
  route({
    method: 'put',
    path: '/api/tags/:id',
    access: 'tags.edit',
    audit: 'update_tag',
    summary: 'Change the fields that are sent',
    params: idParams,
    body: tagChangesSchema,
    answers: { 200: { description: 'The tag', schema: tagSchema } },
    problems: [404, 503],
    handle: async ({ params, body: { id, ...changes }, note }) => {
      if (id !== undefined && id !== params.id)
        throw invalidInput([{ path: 'id', message: 'the id of a tag can not be changed' }]);
      const present = withoutAbsent(changes);
      const before = tags.list().find((known) => known.id === params.id);
      const after = await change(() => tags.update(params.id, present));
      note({ fields: changedNames(present, before, after) });
      return { status: 200, body: after };
    },
  }),
  route({
    method: 'delete',
    path: '/api/tags/:id',
    access: 'tags.edit',
    audit: 'delete_tag',
    summary: 'Remove a tag, from all cameras too',
    params: idParams,
    answers: { 200: { description: 'Done', schema: messageSchema } },
    problems: [404, 503],
    handle: async ({ params }) => {
      await change(() => tags.remove(params.id));
      onCamerasChanged();
      return { status: 200, body: { message: 'tag deleted' } };
    },
  }),
];
