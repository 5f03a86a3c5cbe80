import { z } from 'zod';
import { type Route, route } from '../route.js';

type Readiness = {
  readonly status: 'ready' | 'not_ready';
  readonly checks: Readonly<Record<'database' | 'archive' | 'router', string>>;
  readonly remarks?: Readonly<Record<string, string>>;
};

export type HealthRoutesDeps = {
  readonly health: { live(): { readonly status: 'ok' }; ready(): Promise<Readiness> };
};

const liveSchema = z.object({ status: z.literal('ok') }).meta({ id: 'Liveness' });

const readySchema = z
  .object({
    status: z.enum(['ready', 'not_ready']),
    checks: z
      .object({ database: z.string(), archive: z.string(), router: z.string() })
      .meta({ description: 'each "ok", or what is wrong' }),
    remarks: z
      .record(z.string(), z.string())
      .optional()
      .meta({ description: 'the same of what readiness does not depend on: `archive_s3`, where it is set' }),
  })
  .meta({ id: 'Readiness' });

/** Probes, on both ports. */
export const healthRoutes = ({ health }: HealthRoutesDeps): Route[] => [
  route({
    method: 'get',
    path: '/livez',
    access: 'public',
    summary: 'Whether the process answers',
    answers: { 200: { description: 'It does', schema: liveSchema } },
    handle: () => ({ status: 200, body: health.live() }),
  }),
  route({
    method: 'get',
    path: '/readyz',
    access: 'public',
    summary: 'Whether database, archive and stream router work',
    answers: {
      200: { description: 'They do', schema: readySchema },
      503: { description: 'One of them fails', schema: readySchema },
    },
    handle: async () => {
      const readiness = await health.ready();
      return { status: readiness.status === 'ready' ? 200 : 503, body: readiness };
    },
  }),
];
