import { z } from 'zod';
import { type HistoryAnswer, type Span, spans } from '../../ops/history.js';
import { isOfCameras } from '../../ops/history-series.js';
import { type Route, route } from '../route.js';
import { instantSchema } from '../time-range.js';

export const statsSchema = z
  .object({
    version: z.string(),
    uptime_sec: z.int(),
    uptime: z.string().meta({ examples: ['48h0m0s'] }),
    memory_alloc_mb: z.number(),
    total_alloc_mb: z.number(),
    sys_memory_mb: z.number(),
    num_gc: z.int(),
    goroutines: z.int().meta({ description: 'threads of the process' }),
    active_streams: z.int(),
    total_cameras: z.int(),
    total_fps: z.number(),
    total_bitrate_kbps: z.int(),
    active_recordings: z.int(),
    storage_fault: z
      .string()
      .meta({ description: 'why nothing can be recorded, or soon can not; empty: all is well' }),
  })
  .meta({ id: 'Stats' });

export const historySchema = z
  .object({
    span: z.enum(spans),
    step_sec: z.int(),
    from: z.iso.datetime().meta({ description: 'of the first sample, by the clock of today' }),
    series: z.record(z.string(), z.array(z.number().nullable())).meta({
      description:
        'null: not known, since the machine slept, the service was held up, or it can not be told here',
    }),
  })
  .meta({ id: 'StatsHistory' });

const historyQuery = z.object({
  span: z
    .enum(spans)
    .default('hour')
    .meta({ description: 'the last hour by second, or the last day by minute' }),
  from: instantSchema.optional().meta({ description: 'samples from here on; all if absent' }),
  series: z.string().max(1_024).optional().meta({ description: 'names, separated by commas; all if absent' }),
});

export type StatsRoutesDeps = {
  readonly stats: { record(seesCamera?: (cameraId: string) => boolean): z.infer<typeof statsSchema> };
  readonly history: {
    read(span: Span, fromMs: number | null, names: readonly string[] | null): HistoryAnswer;
  };
};

/** Figures of the whole process. */
export const statsRoutes = ({ stats, history }: StatsRoutesDeps): Route[] => [
  route({
    method: 'get',
    path: '/api/stats',
    access: 'stats.read',
    summary: 'Runtime statistics, of the cameras in sight',
    answers: { 200: { description: 'Statistics', schema: statsSchema } },
    handle: ({ sight }) => ({
      status: 200,
      body: stats.record(sight.isLimited ? sight.seesCamera : undefined),
    }),
  }),
  route({
    method: 'get',
    path: '/api/stats/history',
    access: 'stats.read',
    summary: 'What dashboards show over time: counts as rates, and all cameras together',
    query: historyQuery,
    answers: { 200: { description: 'Samples, the oldest first', schema: historySchema } },
    handle: ({ query: { span, from = null, series }, sight }) => {
      const read = history.read(span, from, series?.split(',') ?? null);
      // Of all cameras together nothing was kept by folder.
      const isShown = ([name]: [string, unknown]): boolean => !sight.isLimited || !isOfCameras(name);
      const shown = Object.fromEntries(Object.entries(read.series).filter(isShown));
      return { status: 200, body: { ...read, series: shown } };
    },
  }),
];
