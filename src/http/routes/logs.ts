import { z } from 'zod';
import { isSurelySeen } from '../../auth/sight.js';
import type { Clock } from '../../base/clock.js';
import { type LogHub, logLevelRanks, type RecordLevel } from '../../ops/log-hub.js';
import { LogStream } from '../../ops/log-stream.js';
import { type Route, route } from '../route.js';
import { idSchema } from '../schemas.js';
import type { ServerSentStreams } from '../server-sent.js';

const levels = Object.keys(logLevelRanks) as [RecordLevel, ...RecordLevel[]];
const filterSchema = z.object({ level: z.enum(levels).optional(), camera_id: idSchema.optional() });

export type LogRoutesDeps = {
  readonly hub: LogHub;
  readonly streams: ServerSentStreams;
  readonly clock: Clock;
};

/** The log as server-sent events. */
export const logRoutes = ({ hub, streams, clock }: LogRoutesDeps): Route[] => [
  route({
    method: 'get',
    path: '/api/logs/stream',
    access: 'logs.read',
    summary: 'The log as server-sent events: the last 100 records, then each new one',
    query: filterSchema,
    answers: { 200: { description: 'Events named `log`', contentType: 'text/event-stream' } },
    handle: ({ query: { level = null, camera_id: cameraId = null }, principal, sight }) => {
      // What is about no camera may name any.
      const isSeen = (id: string | null): boolean =>
        !sight.isLimited || (id !== null && isSurelySeen(() => sight.seesCamera(id)));
      const filter = { level, cameraId, isSeen };
      return streams.reply(principal, (_request, sink) => new LogStream(filter, { hub, sink, clock }));
    },
  }),
];
