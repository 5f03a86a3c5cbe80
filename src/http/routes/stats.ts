import { z } from 'zod';
import { type Route, route } from '../route.js';

const statsSchema = z
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
  })
  .meta({ id: 'Stats' });

export type StatsRoutesDeps = { readonly stats: { record(): z.infer<typeof statsSchema> } };

/** Figures of the whole process. */
export const statsRoutes = ({ stats }: StatsRoutesDeps): Route[] => [
  route({
    method: 'get',
    path: '/api/stats',
    access: 'stats.read',
    summary: 'Runtime statistics',
    answers: { 200: { description: 'Statistics', schema: statsSchema } },
    handle: () => ({ status: 200, body: stats.record() }),
  }),
];
