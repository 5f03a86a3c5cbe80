import { z } from 'zod';
import { isPasswordHash } from '../auth/passwords.js';
import { roles } from './access.js';
import { storedCameraSchema } from './camera-schemas.js';
import { folderSchema, idSchema, tagSchema } from './schemas.js';

/** Of the backup's form; a change that older services can't read gets another number. */
export const SNAPSHOT_VERSION = 1;

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

type Loose = {
  readonly cameras: { id: string }[];
  readonly tags: { id: string }[];
  readonly folders: { id: string; parent_id: string }[];
  readonly users: { username: string; role: string }[];
};

const textOf = (item: unknown, name: string, fallback: string): string => {
  const value: unknown = typeof item === 'object' && item !== null ? Reflect.get(item, name) : undefined;
  return typeof value === 'string' ? value : fallback;
};

const itemsOf = (input: unknown, list: string): unknown[] => {
  const items: unknown = typeof input === 'object' && input !== null ? Reflect.get(input, list) : undefined;
  return Array.isArray(items) ? items : [];
};

/**
 * What of a snapshot says how its records hang together, however broken they are otherwise: so that all faults
 * can be told at once. A record without an id gets one that is nobody else's.
 */
export const looseSnapshot = (input: unknown): Loose => ({
  cameras: itemsOf(input, 'cameras').map((item, index) => ({ id: textOf(item, 'id', `#${index}`) })),
  tags: itemsOf(input, 'tags').map((item, index) => ({ id: textOf(item, 'id', `#${index}`) })),
  folders: itemsOf(input, 'folders').map((item, index) => ({
    id: textOf(item, 'id', `#${index}`),
    parent_id: textOf(item, 'parent_id', ''),
  })),
  users: itemsOf(input, 'users').map((item, index) => ({
    username: textOf(item, 'username', `#${index}`),
    role: textOf(item, 'role', ''),
  })),
});
