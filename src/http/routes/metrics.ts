import { type Route, route } from '../route.js';

export type MetricsRoutesDeps = {
  readonly page: { readonly contentType: string; read(): Promise<Buffer> };
};

/** For scrapers, on both ports. */
export const metricsRoutes = ({ page }: MetricsRoutesDeps): Route[] => [
  route({
    method: 'get',
    path: '/metrics',
    access: 'public',
    summary: 'Metrics in the text format of Prometheus',
    answers: { 200: { description: 'All metrics', contentType: 'text/plain' } },
    handle: async () => ({
      status: 200,
      text: await page.read(),
      contentType: page.contentType,
    }),
  }),
];
