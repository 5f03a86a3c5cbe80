import { z } from 'zod';
import type { DetectionSettings } from '../camera/detection-settings.js';

const MAX_LABELS = 100;
const MAX_ZONES = 16;
const MAX_POINTS = 64;

const fraction = z.number().min(0).max(1);

const zoneSchema = z
  .strictObject({
    name: z.string().min(1).max(64),
    kind: z.enum(['include', 'exclude']).meta({
      description:
        'include: objects count that stand in one of these, where there is one; exclude: none that stands in it',
    }),
    points: z
      .array(z.tuple([fraction, fraction]))
      .min(3)
      .max(MAX_POINTS)
      .meta({ description: 'corners, as fractions of the picture from top left' }),
  })
  .meta({ id: 'DetectionZone', description: 'an object stands where the middle of its lower edge is' });

const isNamedOnce = (zones: readonly { readonly name: string }[]): boolean =>
  new Set(zones.map(({ name }) => name)).size === zones.length;

/** What of a camera's detections counts. */
export const detectionSchema = z
  .strictObject({
    labels: z
      .array(z.string().min(1).max(64))
      .max(MAX_LABELS)
      .optional()
      .meta({ description: 'as the model names them; none: all of them' }),
    min_score: fraction
      .optional()
      .meta({ description: 'at least; where nothing is said, as the model has it' }),
    min_size: fraction.optional().meta({ description: "at least, of the picture's area" }),
    zones: z
      .array(zoneSchema)
      .max(MAX_ZONES)
      .refine(isNamedOnce, 'each must have a name of its own')
      .optional(),
  } satisfies Record<keyof DetectionSettings, z.ZodType>)
  .meta({
    id: 'DetectionSettings',
    description: 'which detections count; {}: all that the model is sure of',
  });
