import { AppError } from '../base/errors.js';
import { authError } from './auth-error.js';
import { mayRole, type Permission } from './permissions.js';
import type { Principal, Tokens } from './tokens.js';
import type { EndReason, Hold, ViewingSessions } from './viewers.js';

/** What a player wants to see, and what it has to show for it. */
export type ViewingRequest = {
  readonly cameraId: string;
  /** Whether the camera asks for tokens at all. */
  readonly tokenAuth: boolean;
  readonly permission: Extract<Permission, 'live.watch' | 'archive.read'>;
  /** From `Authorization: Bearer` or `?token=`: a stream token or an access token. */
  readonly token: string | null;
  /** From `?session=`. */
  readonly session: string | null;
};

/** A player that was let in; `sessionId` goes into the child addresses, null where none is needed. */
export type Admission = { readonly sessionId: string | null; readonly username: string | null };

const OPEN_TO_ALL: Admission = { sessionId: null, username: null };

/** Decides who may watch: the one rule for live and archive, for players that poll and those that stay connected. */
export class ViewingGate {
  readonly #tokens: Tokens;
  readonly #sessions: ViewingSessions;

  constructor(deps: { tokens: Tokens; sessions: ViewingSessions }) {
    this.#tokens = deps.tokens;
    this.#sessions = deps.sessions;
  }

  /**
   * Lets in one request of a player that polls (HLS): by a living session, by the token that opened one, or by a
   * good token, which opens one. Throws `token_*`, `forbidden` or `too_many_viewings`.
   */
  admitPoll(request: ViewingRequest): Admission {
    if (!request.tokenAuth) return OPEN_TO_ALL;
    const { cameraId, session, token } = request;
    const viewer = session === null ? null : this.#sessions.touch(session, cameraId);
    if (viewer !== null) return { sessionId: session, username: viewer.username };
    if (token === null && session !== null)
      throw authError('token_expired', 'the viewing session has ended: open the stream again with a token');
    try {
      const { username } = this.#verify(request);
      return { sessionId: this.#sessions.open(cameraId, username, token ?? ''), username };
    } catch (thrown) {
      const isLate = thrown instanceof AppError && thrown.code === 'token_expired';
      const resumed = isLate ? this.#sessions.resume(cameraId, token ?? '') : null;
      if (resumed === null) throw thrown;
      return resumed;
    }
  }

  /**
   * Lets in a player with a connection of its own (WebSocket, WHEP) and holds its place until it is released;
   * `onEnd` tells when it must stop. Throws `token_*` or `forbidden`.
   */
  admitConnection(
    request: Omit<ViewingRequest, 'session'>,
    onEnd: (reason: EndReason) => void,
  ): Hold & { readonly username: string | null } {
    const username = request.tokenAuth ? this.#verify(request).username : null;
    return { username, ...this.#sessions.hold(request.cameraId, username, onEnd) };
  }

  #verify({ token, cameraId, permission }: Omit<ViewingRequest, 'session'>): Principal {
    const principal = this.#tokens.verifyForCamera(token, cameraId);
    if (!mayRole(principal.role, permission)) throw authError('forbidden', 'your role may not watch this');
    return principal;
  }
}
