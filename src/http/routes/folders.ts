import { z } from 'zod';
import { type Route, route } from '../route.js';
import { folderSchema, idParams, messageSchema, newFolderSchema } from '../schemas.js';

type Folder = z.infer<typeof folderSchema>;

export type FolderRoutesDeps = {
  readonly folders: { list(): Folder[]; create(folder: Folder): Folder; remove(id: string): void };
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
    answers: { 200: { description: 'Folders, sorted by id', schema: z.array(folderSchema) } },
    handle: () => ({ status: 200, body: folders.list() }),
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
