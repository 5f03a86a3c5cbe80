import type { z } from 'zod';
import type { Snapshot } from '../../backup/snapshot.js';
import { withoutAbsent } from '../optional.js';
import type { InputFault } from '../problem.js';
import { type Route, route } from '../route.js';
import { messageSchema } from '../schemas.js';
import { importSchema, snapshotSchema, type storedUserSchema } from '../snapshot-schema.js';

type RestoredRecords = Pick<Snapshot, 'cameras' | 'tags' | 'folders' | 'users'> &
  Partial<Pick<Snapshot, 'layouts' | 'settings' | 'webhooks' | 'keys'>>;

export type BackupRoutesDeps = {
  readonly backup: {
    take(): Snapshot;
    /** What is wrong between the records, whatever is wrong within them. */
    faultsBetween(snapshot: unknown): readonly InputFault[];
    /** Whole or, if it throws, not at all. */
    restore(records: RestoredRecords): Promise<void>;
  };
};

const withFolders = ({ folders, ...user }: z.infer<typeof storedUserSchema>): Snapshot['users'][number] =>
  folders === undefined ? user : { ...user, folders };

const IMPORT_LIMIT_BYTES = 64_000_000;

/** The whole configuration, out and in again. */
export const backupRoutes = ({ backup }: BackupRoutesDeps): Route[] => [
  route({
    method: 'get',
    path: '/api/system/backup/export',
    access: 'backup.manage',
    audit: 'export_backup',
    summary:
      'Everything that was configured: with passwords of cameras, secrets of webhooks, hashes of users and keys: keep it safe',
    answers: { 200: { description: 'A snapshot', schema: snapshotSchema } },
    handle: () => ({ status: 200, body: backup.take() }),
  }),
  route({
    method: 'post',
    path: '/api/system/backup/import',
    access: 'backup.manage',
    audit: 'restore_backup',
    summary: 'Replace everything by a snapshot, or nothing: then the faults are listed, 50 at most',
    body: importSchema,
    furtherFaults: (input) => backup.faultsBetween(input),
    bodyLimitBytes: IMPORT_LIMIT_BYTES,
    answers: { 200: { description: 'Done', schema: messageSchema } },
    problems: [503],
    handle: async ({ body, note }) => {
      const { cameras, tags, folders, users, layouts, settings, webhooks, keys } = body;
      note({
        cameras: cameras.length,
        tags: tags.length,
        folders: folders.length,
        users: users.length,
        ...(layouts && { layouts: layouts.length }),
        ...(webhooks && { webhooks: webhooks.length }),
        ...(keys && { keys: keys.length }),
      });
      await backup.restore({
        cameras,
        tags,
        folders,
        users: users.map(withFolders),
        ...withoutAbsent({ layouts, settings, webhooks, keys }),
      });
      return { status: 200, body: { message: 'backup restored successfully' } };
    },
  }),
];
