import { z } from 'zod';
import { isPasswordHash } from '../auth/passwords.js';
import { READABLE_VERSIONS, SNAPSHOT_VERSION } from '../backup/snapshot.js';
import { roles } from './access.js';
import { storedCameraSchema } from './camera-schemas.js';
import { storedLayoutSchema } from './layout-schemas.js';
import { storedSettingsSchema } from './routes/settings.js';
import { folderSchema, idSchema, tagSchema } from './schemas.js';
import { storedWebhookSchema } from './webhook-schemas.js';

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
  })
  .meta({ id: 'SnapshotImport' });
