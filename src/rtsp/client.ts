import type { Authenticator } from './auth.js';
import type { RtspConnection } from './connection.js';
import { fromStatus } from './errors.js';
import { parseSession } from './header-values.js';
import type { HeaderLines, RtspResponse } from './message.js';
import type { SessionIdPolicy } from './quirks.js';

export type ClientOptions = {
  readonly userAgent: string;
  readonly sessionId: SessionIdPolicy;
  /** The camera has changed the id of the session. */
  readonly onIdChange: () => void;
};

/** First try, stale nonce, and one try for each scheme that a camera can offer. */
const MAX_TRIES = 6;

/** Requests with all that goes with every one of them: User-Agent, credentials, session id. */
export class RtspClient {
  readonly connection: RtspConnection;
  readonly #options: ClientOptions;
  readonly #authenticator: Authenticator;
  #sessionId: string | null = null;
  #timeoutMs: number | null = null;

  constructor(options: ClientOptions, connection: RtspConnection, authenticator: Authenticator) {
    this.#options = options;
    this.connection = connection;
    this.#authenticator = authenticator;
  }

  get sessionId(): string | null {
    return this.#sessionId;
  }

  /** The session's time-out, null where the camera named none. */
  get timeoutMs(): number | null {
    return this.#timeoutMs;
  }

  /** The answer to a request, whatever its status but 401: that one is answered as long as there is a way. */
  async request(method: string, uri: string, headers: HeaderLines = []): Promise<RtspResponse> {
    for (let tries = 1; ; tries++) {
      const authorization = this.#authenticator.authorize(method, uri);
      const response = await this.connection.request(method, uri, this.#withOurs(headers, authorization));
      this.#takeSession(response);
      if (response.status !== 401) {
        if (authorization !== null) this.#authenticator.onAccepted();
        return response;
      }
      const challenges = response.headers.all('www-authenticate');
      const hasMore = this.#authenticator.onUnauthorized(challenges, authorization !== null);
      if (!hasMore || tries === MAX_TRIES) {
        throw fromStatus(method, response.status, response.reason, this.connection.where);
      }
    }
  }

  /** Like `request`, but only 2xx will do. */
  async demand(method: string, uri: string, headers: HeaderLines = []): Promise<RtspResponse> {
    const response = await this.request(method, uri, headers);
    if (response.status >= 200 && response.status < 300) return response;
    throw fromStatus(method, response.status, response.reason, this.connection.where);
  }

  #withOurs(headers: HeaderLines, authorization: string | null): HeaderLines {
    const lines: [string, string][] = [['User-Agent', this.#options.userAgent]];
    if (this.#sessionId !== null) lines.push(['Session', this.#sessionId]);
    if (authorization !== null) lines.push(['Authorization', authorization]);
    return [...lines, ...headers];
  }

  #takeSession(response: RtspResponse): void {
    const session = parseSession(response.headers.get('session'));
    if (session === null) return;
    if (this.#sessionId !== null && session.id !== this.#sessionId) this.#options.onIdChange();
    if (this.#sessionId === null || this.#options.sessionId === 'take_last') this.#sessionId = session.id;
    this.#timeoutMs = session.timeoutMs ?? this.#timeoutMs;
  }
}
