import type { z } from 'zod';
import type { Sight } from '../../auth/sight.js';
import type { Change } from '../../base/change.js';
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
  readonly change: Change;
  /** Cameras were given to another folder. */
  readonly onCamerasChanged: () => void;
  /** A folder came, went, or is elsewhere: others may see its cameras. */
  readonly onMoved: () => void;
};

/** Whoever doesn't see what it is in sees it at the root. */
const viewOf = (folder: Folder, sight: Sight): Folder =>
  sight.isLimited && !sight.seesFolder(folder.parent_id) ? { ...folder, parent_id: '' } : folder;

/** The tree that cameras are kept in. */
export const folderRoutes = ({ folders, change, onCamerasChanged, onMoved }: FolderRoutesDeps): Route[] => [
  route({
    method: 'get',
    path: '/api/folders',
    access: 'folders.read',
    summary: 'All folders',
    query: pageQuery,
    answers: listAnswers('Folders, sorted by id', folderSchema),
    handle: ({ query, sight }) => {
      const seen = folders.list().filter(({ id }) => sight.seesFolder(id));
      return listPage(
        '/api/folders',
        seen,
        ({ id }) => id,
        query,
        (folder) => viewOf(folder, sight),
      );
    },
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
    handle: async ({ body, note }) => {
      note({ target: body.id });
      const made = await change(() => folders.create(body));
      onMoved();
      return { status: 201, body: made };
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
    handle: async ({ params, body: { id, ...changes }, note }) => {
      if (id !== undefined && id !== params.id)
        throw invalidInput([{ path: 'id', message: 'the id of a folder can not be changed' }]);
      const present = withoutAbsent(changes);
      const before = folders.list().find((known) => known.id === params.id);
      const after = await change(() => folders.update(params.id, present));
      onMoved();
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
    handle: async ({ params }) => {
      await change(() => folders.remove(params.id));
      onCamerasChanged();
      onMoved();
      return { status: 200, body: { message: 'folder deleted' } };
    },
  }),
];
