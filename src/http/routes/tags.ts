import { z } from 'zod';
import { type Route, route } from '../route.js';
import { idParams, messageSchema, tagSchema } from '../schemas.js';

type Tag = z.infer<typeof tagSchema>;

export type TagRoutesDeps = {
  readonly tags: { list(): Tag[]; create(tag: Tag): Tag; remove(id: string): void };
  /** Tags were taken off cameras. */
  readonly onCamerasChanged: () => void;
};

/** Labels for cameras. */
export const tagRoutes = ({ tags, onCamerasChanged }: TagRoutesDeps): Route[] => [
  route({
    method: 'get',
    path: '/api/tags',
    access: 'tags.read',
    summary: 'All tags',
    answers: { 200: { description: 'Tags, sorted by id', schema: z.array(tagSchema) } },
    handle: () => ({ status: 200, body: tags.list() }),
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
    handle: ({ body, note }) => {
      note({ target: body.id });
      return { status: 201, body: tags.create(body) };
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
    handle: ({ params }) => {
      tags.remove(params.id);
      onCamerasChanged();
      return { status: 200, body: { message: 'tag deleted' } };
    },
  }),
];
