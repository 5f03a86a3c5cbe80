import { z } from 'zod';
import type { Clock } from '../../../base/clock.js';
import { type Route, route } from '../../route.js';
import { idParams } from '../../schemas.js';
import { instantSchema, rangeOf } from '../../time-range.js';
import { type KnownIds, knownCamera } from './known-camera.js';

type Span = { readonly startMs: number; readonly endMs: number };

/** The recordings that there are. */
export type RecordingList = {
  /** Other boxes may have some, too. */
  readonly isShared: boolean;
  /** Sorted by start; `isAway`: the box that has it can't be asked. */
  list(
    cameraId: string,
  ): Promise<readonly (Span & { readonly fileName: string; readonly box: string; readonly isAway?: true })[]>;
};

/** What was recorded when, and why not. */
export type RecordingTimeline = {
  intervals(
    cameraId: string,
    fromMs: number,
    toMs: number,
  ): Promise<{
    readonly intervals: readonly Span[];
    readonly gaps: readonly (Span & { readonly reason: string })[];
    /** Files that were moved aside, since nothing in them can be played. */
    readonly broken: readonly (Span & { readonly fileName: string; readonly sizeBytes: number })[];
    /** What boxes have that are away. */
    readonly away?: readonly (Span & { readonly box: string })[];
  }>;
};

export type ListRoutesDeps = {
  readonly clock: Clock;
  readonly cameras: KnownIds;
  readonly recordings: RecordingList;
  readonly timeline: RecordingTimeline;
};

export const MAX_LISTED_DAYS = 31;

const isoSchema = z.iso.datetime();
const spanShape = { start: isoSchema, end: isoSchema };
const boxShown = z.string().meta({ description: 'the box that made it; a box alone shows none' });
const intervalsSchema = z.array(
  z.strictObject({
    ...spanShape,
    filename: z.string(),
    box: boxShown.optional(),
    is_away: z
      .literal(true)
      .optional()
      .meta({ description: 'only that box has it, and it is away: it can not be played now' }),
  }),
);
const coverageSchema = z
  .strictObject({
    intervals: z.array(z.strictObject(spanShape)),
    gaps: z.array(z.strictObject({ ...spanShape, reason: z.string() })),
    broken: z
      .array(z.strictObject({ ...spanShape, filename: z.string(), bytes: z.int().min(0) }))
      .meta({ description: 'files that no one can play; they leave with the recordings of their time' }),
    away: z
      .array(z.strictObject({ ...spanShape, box: z.string() }))
      .optional()
      .meta({
        description:
          'what only boxes have that are away, and where one that is here may have more and does not tell: it can not be played now',
      }),
  })
  .meta({ id: 'Recordings' });

const shownSpan = ({ startMs, endMs }: Span) => ({
  start: new Date(startMs).toISOString(),
  end: new Date(endMs).toISOString(),
});

/** What is there: for users of the interface. */
export const listRoutes = ({ clock, cameras, recordings, timeline }: ListRoutesDeps): Route[] => [
  route({
    method: 'get',
    path: '/api/cameras/:id/archive',
    access: 'archive.read',
    summary: 'The recordings of a camera; the last one may still be growing',
    params: idParams,
    answers: { 200: { description: 'Recordings, sorted by start', schema: intervalsSchema } },
    problems: [404, 503],
    handle: async ({ params }) => {
      const found = await recordings.list(knownCamera(params.id, cameras));
      const body = found.map((one) => ({
        ...{ ...shownSpan(one), filename: one.fileName },
        ...(recordings.isShared && { box: one.box }),
        ...(one.isAway === true && { is_away: true as const }),
      }));
      return { status: 200, body };
    },
  }),
  route({
    method: 'get',
    path: '/api/cameras/:id/recordings',
    access: 'archive.read',
    summary: 'When a camera was recorded, and why not: the last 24 hours, or 31 days at most',
    params: idParams,
    query: z.object({ from: instantSchema.optional(), to: instantSchema.optional() }),
    answers: { 200: { description: 'Intervals and gaps', schema: coverageSchema } },
    problems: [404, 503],
    handle: async ({ params, query }) => {
      const id = knownCamera(params.id, cameras);
      const { fromMs, toMs } = rangeOf(query, clock.wallMs(), MAX_LISTED_DAYS);
      const { intervals, gaps, broken, away } = await timeline.intervals(id, fromMs, toMs);
      const body = {
        intervals: intervals.map(shownSpan),
        gaps: gaps.map((gap) => ({ ...shownSpan(gap), reason: gap.reason })),
        broken: broken.map((one) => ({ ...shownSpan(one), filename: one.fileName, bytes: one.sizeBytes })),
        ...(away && { away: away.map((one) => ({ ...shownSpan(one), box: one.box })) }),
      };
      return { status: 200, body };
    },
  }),
];
