import type { z } from 'zod';
import { changedNames } from '../changed-names.js';
import { listAnswers, listPage, pageQuery } from '../list.js';
import { withoutAbsent } from '../optional.js';
import { invalidInput } from '../problem.js';
import { type Route, route } from '../route.js';
import { folderChangesSchema, folderSchema, idParams, messageSchema, newFolderSchema } from '../schemas.js';

type Folder = z.infer<typeof folderSchema>;

export type FolderRoutesDeps = {
  readonly folders: {
    list(): Folder[];
    create(folder: Folder): Folder;
    update(id: string, changes: Partial<Omit<Folder, 'id'>>): Folder;
    remove(id: string): void;
  };
  /** Cameras were given to another folder. */
  readonly onCamerasChanged: () => void;
};

/** The tree that cameras are kept in. */
export const folderRoutes = ({ folders, onCamerasChanged }: FolderRoutesDeps): Route[] => [
  route({
    method: 'get',
    path: '/api/folders',
    access: 'folders.read',
    summary: 'All folders',
    query: pageQuery,
    answers: listAnswers('Folders, sorted by id', folderSchema),
    handle: ({ query }) => listPage('/api/folders', folders.list(), ({ id }) => id, query),
  }),
  route({
    method: 'post',
    path: '/api/folders',
    access: 'folders.edit',
    audit: 'create_folder',
    summary: 'Add a folder, below another one or at the root',
    body: newFolderSchema,
    answers: { 201: { description: 'The folder', schema: folderSchema } },
    problems: [409, 503],
    handle: ({ body, note }) => {
      note({ target: body.id });
      return { status: 201, body: folders.create(body) };
    },
  }),
  route({
    method: 'put',
    path: '/api/folders/:id',
    access: 'folders.edit',
    audit: 'update_folder',
    summary: 'Change the fields that are sent; with another parent it moves, and all that is in it',
    params: idParams,
    body: folderChangesSchema,
    answers: { 200: { description: 'The folder', schema: folderSchema } },
    problems: [404, 503],
    handle: ({ params, body: { id, ...changes }, note }) => {
      if (id !== undefined && id !== params.id)
        throw invalidInput([{ path: 'id', message: 'the id of a folder can not be changed' }]);
      const present = withoutAbsent(changes);
      const before = folders.list().find((known) => known.id === params.id);
      const after = folders.update(params.id, present);
      note({ fields: changedNames(present, before, after) });
      return { status: 200, body: after };
    },
  }),
  route({
    method: 'delete',
    path: '/api/folders/:id',
    access: 'folders.edit',
    audit: 'delete_folder',
    summary: 'Remove a folder; its cameras and sub-folders go to its parent',
    params: idParams,
    answers: { 200: { description: 'Done', schema: messageSchema } },
    problems: [404, 503],
    handle: ({ params }) => {
      folders.remove(params.id);
      onCamerasChanged();
      return { status: 200, body: { message: 'folder deleted' } };
    },
  }),
];
