import { z } from 'zod';
import { isPasswordHash } from '../auth/passwords.js';
import { READABLE_VERSIONS, SNAPSHOT_VERSION } from '../backup/snapshot.js';
import { roles } from './access.js';
import { storedCameraSchema } from './camera-schemas.js';
import { storedLayoutSchema } from './layout-schemas.js';
import { storedSettingsSchema } from './routes/settings.js';
import { folderSchema, foldersSchema, idSchema, tagSchema } from './schemas.js';
import { storedWebhookSchema } from './webhook-schemas.js';

export const storedUserSchema = z
  .strictObject({
    username: idSchema,
    role: z.enum(roles),
    folders: foldersSchema.optional(),
    password_hash: z.string().refine(isPasswordHash, 'is not a password hash of this service'),
  })
  .meta({ id: 'StoredUser' });

const storedKeySchema = z
  .strictObject({
    id: z.string().regex(/^[A-Za-z0-9_-]{12}$/, 'must be the id of a key'),
    name: idSchema,
    secret_hash: z.string().regex(/^[0-9a-f]{64}$/, 'is not the hash of a key'),
    role: z.enum(roles),
    folders: z.array(idSchema).min(1).nullable(),
    cameras: z.array(idSchema).min(1).nullable(),
    created_ms: z.int().min(0),
    expires_ms: z.int().min(0).nullable(),
  })
  .meta({ id: 'StoredApiKey' });

const lists = {
  cameras: z.array(storedCameraSchema),
  tags: z.array(tagSchema),
  folders: z.array(folderSchema),
  users: z.array(storedUserSchema),
};

/** What the first version did not have. */
const since2 = { layouts: z.array(storedLayoutSchema), settings: storedSettingsSchema };

const MAX_WEBHOOKS = 32;

/** What came later; a backup that doesn't have it leaves what is there. */
const webhooks = z.array(storedWebhookSchema).max(MAX_WEBHOOKS);

/** What an export answers. */
export const snapshotSchema = z
  .strictObject({
    version: z.literal(SNAPSHOT_VERSION),
    exported_at: z.iso.datetime(),
    ...lists,
    ...since2,
    webhooks,
    keys: z.array(storedKeySchema),
  })
  .meta({ id: 'Snapshot' });

/** What an import takes: an export of today or of former days, or the four lists alone. */
export const importSchema = z
  .strictObject({
    version: z
      .literal(READABLE_VERSIONS, `must be ${READABLE_VERSIONS.join(' or ')}`)
      .default(SNAPSHOT_VERSION),
    exported_at: z.string().optional(),
    ...lists,
    layouts: since2.layouts.optional(),
    settings: since2.settings.optional(),
    webhooks: webhooks.optional(),
    keys: z.array(storedKeySchema).optional(),
  })
  .meta({ id: 'SnapshotImport' });
