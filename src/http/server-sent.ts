import type { IncomingMessage } from 'node:http';
import type { Writable } from 'node:stream';
import type { Principal } from '../auth/tokens.js';
import { bearerTokenOf } from '../auth/tokens.js';
import type { Viewers } from '../auth/viewers.js';
import type { Clock, Timer } from '../base/clock.js';
import type { TokenVerifier } from './access.js';
import type { Reply } from './route.js';

/** How long a token that has expired may go on reading. */
const RECHECK_EVERY_MS = 2_000;

/** One reader's events; `close` ends them in order. */
export type ServerSent = { close(): void };

export type ServerSentDeps = {
  readonly tokens: TokenVerifier;
  /** Told at once when a reader's rights are withdrawn. */
  readonly viewers: Pick<Viewers, 'takePlace'>;
  readonly clock: Clock;
};

/** Server-sent events, each for as long as its reader's token is good and the service runs. */
export class ServerSentStreams {
  readonly #deps: ServerSentDeps;
  readonly #open = new Set<ServerSent>();

  constructor(deps: ServerSentDeps) {
    this.#deps = deps;
  }

  /** `begin` writes to the sink, from now until it is closed or the client is gone. */
  reply(principal: Principal, begin: (request: IncomingMessage, sink: Writable) => ServerSent): Reply {
    return {
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
        const stream = begin(request, response);
        this.#open.add(stream);
        const place = this.#deps.viewers.takePlace(null, principal.username, () => stream.close());
        const expiry = this.#endWithToken(stream, bearerTokenOf(request.headers.authorization));
        response.once('close', () => {
          place.release();
          expiry.cancel();
          this.#open.delete(stream);
        });
      },
    };
  }

  /** Ends all streams: the service stops. */
  close(): void {
    for (const stream of this.#open) stream.close();
  }

  #endWithToken(stream: ServerSent, token: string | null): Timer {
    return this.#deps.clock.every(RECHECK_EVERY_MS, () => {
      try {
        this.#deps.tokens.verifyAccess(token);
      } catch {
        stream.close();
      }
    });
  }
}
