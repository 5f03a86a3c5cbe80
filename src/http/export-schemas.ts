import { z } from 'zod';
import { idSchema } from './schemas.js';
import { instantSchema } from './time-range.js';

const MAX_ITEMS = 36;

/** A time of a camera. */
const exportItemSchema = z.strictObject({
  camera_id: idSchema,
  from: instantSchema,
  to: instantSchema,
});

export const newExportSchema = z
  .strictObject({
    items: z.array(exportItemSchema).min(1).max(MAX_ITEMS),
    zip: z.boolean().default(false).meta({
      description: 'also all of them as one zip file, with a manifest and checksums',
    }),
  })
  .meta({ id: 'NewExport' });

const isoTime = z.iso.datetime();

const downloadShape = {
  name: z.string(),
  bytes: z.int(),
  url: z.string().meta({ description: 'whoever has it may download it, in ranges, too' }),
};

const exportedFileSchema = z
  .object({
    camera_id: idSchema,
    from: isoTime,
    to: isoTime,
    begins_at: isoTime.meta({ description: 'of its first picture, which is a keyframe' }),
    ends_at: isoTime,
    duration_ms: z.int(),
    gaps: z.array(z.object({ from: isoTime, to: isoTime, reason: z.string() })),
    ...downloadShape,
  })
  .meta({ id: 'ExportedFile' });

export const exportSchema = z
  .object({
    id: z.string(),
    made_at: isoTime,
    expires_at: isoTime,
    bytes: z.int().meta({ description: 'of all MP4 files' }),
    files: z.array(exportedFileSchema).meta({ description: 'one for each item, in this order' }),
    zip: z.object(downloadShape).nullable(),
  })
  .meta({ id: 'Export' });

/** As it is made, in characters of base64url: no camera's id, nor anything that a path could mean otherwise. */
const exportId = z.string().regex(/^[A-Za-z0-9_-]{32}$/, 'must be the id of an export');

export const exportParams = z.object({ id: exportId });

export const downloadParams = z.object({
  id: exportId,
  filename: z.string().max(160),
});
