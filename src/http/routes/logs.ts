import { z } from 'zod';
import { bearerTokenOf } from '../../auth/tokens.js';
import type { Viewers } from '../../auth/viewers.js';
import type { Clock, Timer } from '../../base/clock.js';
import { type LogHub, logLevelRanks, type RecordLevel } from '../../ops/log-hub.js';
import { LogStream } from '../../ops/log-stream.js';
import type { TokenVerifier } from '../access.js';
import { type Route, route } from '../route.js';
import { idSchema } from '../schemas.js';

/** How long a token that has expired may go on reading the log. */
const RECHECK_EVERY_MS = 2_000;

const levels = Object.keys(logLevelRanks) as [RecordLevel, ...RecordLevel[]];
const filterSchema = z.object({ level: z.enum(levels).optional(), camera_id: idSchema.optional() });

export type LogRoutesDeps = {
  readonly hub: LogHub;
  readonly tokens: TokenVerifier;
  /** Told at once when a reader's rights are withdrawn. */
  readonly viewers: Pick<Viewers, 'takePlace'>;
  readonly clock: Clock;
};

/** The log as server-sent events, for as long as the reader's token is good and the service runs. */
export class LogRoutes {
  readonly #deps: LogRoutesDeps;
  readonly #open = new Set<LogStream>();

  constructor(deps: LogRoutesDeps) {
    this.#deps = deps;
  }

  routes(): Route[] {
    return [
      route({
        method: 'get',
        path: '/api/logs/stream',
        access: 'logs.read',
        summary: 'The log as server-sent events: the last 100 records, then each new one',
        query: filterSchema,
        answers: { 200: { description: 'Events named `log`', contentType: 'text/event-stream' } },
        handle: ({ query: { level = null, camera_id: cameraId = null }, principal }) => ({
          write: (request, response) => {
            response.writeHead(200, {
              'Content-Type': 'text/event-stream; charset=utf-8',
              'Cache-Control': 'no-store',
              // nginx would hold events back until a buffer is full.
              'X-Accel-Buffering': 'no',
            });
            if (request.method === 'HEAD') {
              response.end();
              return;
            }
            const stream = new LogStream({ level, cameraId }, { ...this.#deps, sink: response });
            this.#open.add(stream);
            const place = this.#deps.viewers.takePlace(null, principal.username, () => stream.close());
            const expiry = this.#endWithToken(stream, bearerTokenOf(request.headers.authorization));
            response.once('close', () => {
              place.release();
              expiry.cancel();
              this.#open.delete(stream);
            });
          },
        }),
      }),
    ];
  }

  /** Ends all streams: the service stops. */
  close(): void {
    for (const stream of this.#open) stream.close();
  }

  #endWithToken(stream: LogStream, token: string | null): Timer {
    return this.#deps.clock.every(RECHECK_EVERY_MS, () => {
      try {
        this.#deps.tokens.verifyAccess(token);
      } catch {
        stream.close();
      }
    });
  }
}
