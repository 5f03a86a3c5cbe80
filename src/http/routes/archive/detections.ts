import { z } from 'zod';
import type { Clock } from '../../../base/clock.js';
import { listAnswers, listText } from '../../list.js';
import { type Route, route } from '../../route.js';
import { idParams } from '../../schemas.js';
import { instantSchema, rangeOf, type TimeRange } from '../../time-range.js';
import { type KnownIds, knownCamera } from './known-camera.js';
import { MAX_LISTED_DAYS } from './lists.js';

/** Behind the first `count` detections of this very moment. */
type Place = { readonly timeUs: number; readonly count: number };

/** What was seen in pictures that were recorded. */
export type RecordedDetections = {
  /** In the order of time, as JSON; `next`: where the next page begins, if there may be one. */
  detections(
    cameraId: string,
    wanted: TimeRange & {
      /** Null: all. */
      readonly labels: readonly string[] | null;
      readonly limit: number;
      readonly behind: Place | null;
    },
  ): Promise<{ readonly json: Uint8Array<ArrayBuffer>; readonly next: Place | null }>;
};

export type DetectionsRouteDeps = {
  readonly clock: Clock;
  readonly cameras: KnownIds;
  readonly detections: RecordedDetections;
};

const DEFAULT_LIMIT = 1_000;
const MAX_LIMIT = 5_000;
const MAX_LABELS = 64;

const fraction = z.number().min(0).max(1);
const detectionSchema = z
  .strictObject({
    t: z.iso.datetime().meta({ description: 'when the picture was taken' }),
    source: z.enum(['model', 'onvif']),
    objects: z
      .array(
        z.strictObject({
          label: z.string(),
          score: fraction,
          box: z
            .tuple([fraction, fraction, fraction, fraction])
            .meta({ description: 'x, y, width and height as fractions of the picture, from top left' }),
          zone: z.string().meta({ description: 'in which it stood; empty: none' }),
        }),
      )
      .meta({ description: 'empty: what was seen before is there no more' }),
  })
  .meta({ id: 'Detection' });

const cursorPattern = /^(\d{1,16})\.(\d{1,9})$/;
const cursorSchema = z
  .string()
  .max(32)
  .transform((text, context): Place => {
    const [, timeUs, count] = cursorPattern.exec(text) ?? [];
    if (timeUs !== undefined && count !== undefined) return { timeUs: Number(timeUs), count: Number(count) };
    context.addIssue({ code: 'custom', message: 'must be one that a page before has named' });
    return z.NEVER;
  })
  .meta({ description: 'where the page before ended: as its `Link` names it' });

const label = z.string().min(1).max(256);
const detectionsQuery = z.object({
  from: instantSchema.optional(),
  to: instantSchema.optional(),
  label: z
    .union([z.array(label).min(1).max(MAX_LABELS), label])
    .optional()
    .meta({
      description: `repeated for more than one, ${MAX_LABELS} at most; objects of others are left out`,
    }),
  limit: z.coerce.number().int().min(1).max(MAX_LIMIT).default(DEFAULT_LIMIT),
  cursor: cursorSchema.optional(),
});

/** The same question, from where this page ends (RFC 8288). */
const nextLink = (
  path: string,
  { fromMs, toMs }: TimeRange,
  labels: readonly string[] | null,
  limit: number,
  { timeUs, count }: Place,
): string => {
  const next = new URLSearchParams({
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
  });
  for (const one of labels ?? []) next.append('label', one);
  next.append('limit', String(limit));
  next.append('cursor', `${timeUs}.${count}`);
  return `<${path}?${next}>; rel="next"`;
};

/** What was seen while a camera was recorded, picture by picture. */
export const detectionsRoute = ({ clock, cameras, detections }: DetectionsRouteDeps): Route =>
  route({
    method: 'get',
    path: '/api/cameras/:id/detections',
    access: 'archive.read',
    summary: `What was seen in recorded pictures, oldest first: the last 24 hours, or ${MAX_LISTED_DAYS} days at most`,
    params: idParams,
    query: detectionsQuery,
    answers: listAnswers(
      'Detections, oldest first; a page may be shorter than `limit`, even empty, and yet not be the last one',
      detectionSchema,
    ),
    problems: [404, 503],
    handle: async ({ params, query }) => {
      const id = knownCamera(params.id, cameras);
      const range = rangeOf(query, clock.wallMs(), MAX_LISTED_DAYS);
      const { limit, cursor: behind = null } = query;
      const labels = query.label === undefined ? null : [query.label].flat();
      const { json, next } = await detections.detections(id, { ...range, labels, limit, behind });
      const text = Buffer.from(json.buffer, json.byteOffset, json.length);
      const path = `/api/cameras/${encodeURIComponent(id)}/detections`;
      return listText(text, next === null ? null : nextLink(path, range, labels, limit, next));
    },
  });
