import { z } from 'zod';
import type { Clock } from '../../../base/clock.js';
import { listText } from '../../list.js';
import { invalidInput } from '../../problem.js';
import { type Route, route } from '../../route.js';
import { idSchema } from '../../schemas.js';
import { instantSchema, rangeOf, type TimeRange } from '../../time-range.js';
import { type KnownIds, knownCamera } from './known-camera.js';
import { MAX_LISTED_DAYS, type RecordingTimeline } from './lists.js';

type Buckets = TimeRange & { readonly bucketMs: number };

export type TimelineRouteDeps = {
  readonly clock: Clock;
  readonly cameras: KnownIds;
  readonly timeline: RecordingTimeline;
  /** By label, how many detections of a camera there were in each bucket. */
  readonly detected?: (cameraId: string, buckets: Buckets) => Record<string, number[]>;
  /** For how much of each bucket a camera saw motion, from 0 to 255. */
  readonly moved?: (cameraId: string, buckets: Buckets) => number[];
};

/** As many as a wall has. */
const MAX_CAMERAS = 36;
const MAX_BUCKETS = 2_000;

const spanShape = [z.int(), z.int()] as const;
const laneSchema = z
  .strictObject({
    recorded: z.array(z.tuple(spanShape)).meta({ description: '[from, to] in ms since 1970' }),
    gaps: z
      .array(z.tuple([...spanShape, z.string()]))
      .meta({ description: '[from, to, reason], times in ms since 1970; reasons as in `recordings`' }),
    away: z
      .array(z.tuple([...spanShape, z.string()]))
      .optional()
      .meta({ description: '[from, to, box]: as in `recordings`' }),
    motion: z.array(z.int().min(0).max(255)).meta({
      description:
        'by bucket from `from` on, for how much of it there was motion; empty where there was none, or no `bucket_ms` is asked for',
    }),
    labels: z.record(z.string(), z.array(z.int().min(0))).meta({
      description:
        'by label how many in each bucket; empty where nothing was detected, or no `bucket_ms` is asked for',
    }),
  })
  .meta({ id: 'TimelineLane' });

const timelineQuery = z.object({
  camera: z
    .union([z.array(idSchema).min(1).max(MAX_CAMERAS), idSchema])
    .meta({ description: `repeated for more than one, ${MAX_CAMERAS} at most` }),
  from: instantSchema.optional(),
  to: instantSchema.optional(),
  bucket_ms: z.coerce
    .number()
    .int()
    .min(1)
    .max(MAX_LISTED_DAYS * 86_400_000)
    .optional()
    .meta({ description: `how long a bucket is; ${MAX_BUCKETS} buckets at most` }),
});

/** What several cameras have of one time: the lanes of a tape. */
export const timelineRoute = ({ clock, cameras, timeline, detected, moved }: TimelineRouteDeps): Route => {
  const laneOf = async (
    id: string,
    { fromMs, toMs }: TimeRange,
    bucketMs: number | undefined,
  ): Promise<z.infer<typeof laneSchema>> => {
    const { intervals, gaps, away } = await timeline.intervals(id, fromMs, toMs);
    return {
      recorded: intervals.map(({ startMs, endMs }) => [Math.round(startMs), Math.round(endMs)]),
      gaps: gaps.map(({ startMs, endMs, reason }) => [Math.round(startMs), Math.round(endMs), reason]),
      ...(away && {
        away: away.map(({ startMs, endMs, box }): [number, number, string] => [
          Math.round(startMs),
          Math.round(endMs),
          box,
        ]),
      }),
      motion: bucketMs === undefined ? [] : (moved?.(id, { fromMs, toMs, bucketMs }) ?? []),
      labels: bucketMs === undefined ? {} : (detected?.(id, { fromMs, toMs, bucketMs }) ?? {}),
    };
  };
  return route({
    method: 'get',
    path: '/api/timeline',
    access: 'archive.read',
    summary: `When cameras were recorded, and why not: the last 24 hours, or ${MAX_LISTED_DAYS} days at most`,
    query: timelineQuery,
    answers: {
      200: {
        description: 'By camera what there is; all times are in ms since 1970',
        schema: z.record(idSchema, laneSchema),
      },
      304: { description: 'What the client has', contentType: null },
    },
    problems: [404, 503],
    handle: async ({ query, sight }) => {
      const { fromMs, toMs } = rangeOf(query, clock.wallMs(), MAX_LISTED_DAYS);
      if (query.bucket_ms !== undefined && (toMs - fromMs) / query.bucket_ms > MAX_BUCKETS)
        throw invalidInput([{ path: 'bucket_ms', message: `that is more than ${MAX_BUCKETS} buckets` }]);
      const ids = [...new Set([query.camera].flat())].map((id) =>
        knownCamera(id, { has: (known) => sight.seesCamera(known) && cameras.has(known) }),
      );
      const range = { fromMs, toMs };
      const lanes = await Promise.all(
        ids.map(async (id) => [id, await laneOf(id, range, query.bucket_ms)] as const),
      );
      return listText(JSON.stringify(Object.fromEntries(lanes)));
    },
  });
};
