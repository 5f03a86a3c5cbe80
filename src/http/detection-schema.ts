import { z } from 'zod';
import type { DetectionSettings } from '../camera/detection-settings.js';
import { dayNames } from '../detect/schedule.js';

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

const timeOfDay = /^(?:[01]\d|2[0-3]):[0-5]\d$/;
const MAX_HOURS = 32;

const hoursSchema = z
  .strictObject({
    days: z
      .array(z.enum(dayNames))
      .min(1)
      .max(dayNames.length)
      .refine((days) => new Set(days).size === days.length, 'must name each day once'),
    from: z.string().regex(timeOfDay, 'must be a time of day: HH:MM'),
    to: z.union([z.literal('24:00'), z.string().regex(timeOfDay)], 'must be a time of day: HH:MM, or 24:00'),
  })
  .refine(({ from, to }) => from !== to, { path: ['to'], message: 'must be another time than from' })
  .meta({
    id: 'DetectionHours',
    description: 'by the clocks of the site; what ends before it begins ends on the next day',
  });

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
    schedule: z
      .array(hoursSchema)
      .max(MAX_HOURS)
      .optional()
      .meta({ description: 'when objects are looked for, in the zone of the settings; empty: always' }),
  } satisfies Record<keyof DetectionSettings, z.ZodType>)
  .meta({
    id: 'DetectionSettings',
    description: 'which detections count; {}: all that the model is sure of',
  });
