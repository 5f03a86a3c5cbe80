import { z } from 'zod';
import { isPasswordHash } from '../auth/passwords.js';
import { SNAPSHOT_VERSION } from '../backup/snapshot.js';
import { roles } from './access.js';
import { storedCameraSchema } from './camera-schemas.js';
import { folderSchema, idSchema, tagSchema } from './schemas.js';

const storedUserSchema = z
  .strictObject({
    username: idSchema,
    role: z.enum(roles),
    password_hash: z.string().refine(isPasswordHash, 'is not a password hash of this service'),
  })
  .meta({ id: 'StoredUser' });

const lists = {
  cameras: z.array(storedCameraSchema),
  tags: z.array(tagSchema),
  folders: z.array(folderSchema),
  users: z.array(storedUserSchema),
};

/** What an export answers. */
export const snapshotSchema = z
  .strictObject({ version: z.literal(SNAPSHOT_VERSION), exported_at: z.iso.datetime(), ...lists })
  .meta({ id: 'Snapshot' });

/** What an import takes: an export, or the four lists alone. */
export const importSchema = z
  .strictObject({
    version: z.literal(SNAPSHOT_VERSION, `must be ${SNAPSHOT_VERSION}`).default(SNAPSHOT_VERSION),
    exported_at: z.string().optional(),
    ...lists,
  })
  .meta({ id: 'SnapshotImport' });
