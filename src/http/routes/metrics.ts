import { type Route, route } from '../route.js';

export type MetricsRoutesDeps = {
  readonly metrics: { readonly contentType: string; exposition(): Promise<string> };
};

/** For scrapers, on both ports. */
export const metricsRoutes = ({ metrics }: MetricsRoutesDeps): Route[] => [
  route({
    method: 'get',
    path: '/metrics',
    access: 'public',
    summary: 'Metrics in the text format of Prometheus',
    answers: { 200: { description: 'All metrics', contentType: 'text/plain' } },
    handle: async () => ({
      status: 200,
      text: await metrics.exposition(),
      contentType: metrics.contentType,
    }),
  }),
];
