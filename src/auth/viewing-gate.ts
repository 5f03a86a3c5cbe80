import { AppError } from '../base/errors.js';
import { authError } from './auth-error.js';
import { may, type Permission } from './permissions.js';
import type { Sight, Sights } from './sight.js';
import type { Principal, Tokens } from './tokens.js';
import type { EndReason, Place, Viewers, Viewing } from './viewers.js';

/** What a player wants to see, and what it has to show for it. */
export type ViewingRequest = {
  readonly cameraId: string;
  /** Whether the camera asks for tokens at all. */
  readonly tokenAuth: boolean;
  readonly permission: Extract<Permission, 'live.watch' | 'archive.read'>;
  /** From `Authorization: Bearer` or `?token=`: a stream token or an access token. */
  readonly token: string | null;
  /** From `?session=`: the id of a viewing. */
  readonly session: string | null;
  /** Where it comes from, for what counts wrong keys. */
  readonly address?: string;
};

/** A viewing, or what stands for one where the camera asks for no token. */
export type AnyViewing = Viewing | { readonly id: null; readonly username: null };

const OPEN_TO_ALL: AnyViewing = { id: null, username: null };

/** Decides who may watch: the one rule for live and archive, for players that poll and those that stay connected. */
export class ViewingGate {
  readonly #tokens: Tokens;
  readonly #viewers: Viewers;
  readonly #sights: Sights;

  constructor(deps: { tokens: Tokens; viewers: Viewers; sights: Sights }) {
    this.#tokens = deps.tokens;
    this.#sights = deps.sights;
    this.#viewers = deps.viewers;
  }

  /**
   * Lets in one request of a player that polls (HLS): by a living viewing, by the token that opened one, or by a
   * good token, which opens one. Throws `token_*`, `forbidden`, `not_found` or `too_many_viewings`.
   */
  viewingFor(request: ViewingRequest): AnyViewing {
    if (!request.tokenAuth) {
      this.#limitedBy(request);
      return OPEN_TO_ALL;
    }
    const { cameraId, session, token } = request;
    const running = session === null ? null : this.#viewers.useViewing(session, cameraId);
    if (running !== null) return running;
    if (token === null && session !== null)
      throw authError('token_expired', 'the viewing session has ended: open the stream again with a token');
    try {
      const { username } = this.#verify(request);
      return this.#viewers.openViewing(cameraId, username, token ?? '');
    } catch (thrown) {
      const isLate = thrown instanceof AppError && thrown.code === 'token_expired';
      const resumed = isLate ? this.#viewers.resumeViewing(cameraId, token ?? '') : null;
      if (resumed === null) throw thrown;
      return resumed;
    }
  }

  /**
   * Lets in a player with a connection of its own (WebSocket, WHEP), whose place is its own until it is released;
   * `onEnd` tells when it must stop. Throws `token_*`, `forbidden` or `not_found`.
   */
  placeFor(
    request: Omit<ViewingRequest, 'session'>,
    onEnd: (reason: EndReason) => void,
  ): Place & { readonly username: string | null } {
    const principal = request.tokenAuth ? this.#verify(request) : this.#limitedBy(request);
    const username = principal?.username ?? null;
    return { username, ...this.#viewers.takePlace(request.cameraId, username, onEnd) };
  }

  /** Who opens a wall with this token. Throws `token_*` or `forbidden`. */
  wallOpener(token: string | null): Principal {
    const principal = this.#tokens.verifyWall(token);
    if (!may(principal, 'wall.open')) throw authError('forbidden', 'your role may not open a wall');
    return principal;
  }

  /** A wall's own place: it ends when its opener's rights are others, so the role is good as long as it lasts. */
  wallFor(opener: Principal, onEnd: (reason: EndReason) => void): Place & { readonly username: string } {
    return { username: opener.username, ...this.#viewers.takePlace(null, opener.username, onEnd) };
  }

  /** Lets whoever has a wall see a camera in it. Throws `forbidden` or `not_found`. */
  tileFor(
    opener: Principal,
    { cameraId, tokenAuth, permission }: Pick<ViewingRequest, 'cameraId' | 'tokenAuth' | 'permission'>,
    onEnd: (reason: EndReason) => void,
  ): Place & { readonly username: string } {
    this.#requireSight(opener, cameraId);
    if (tokenAuth && !may(opener, permission)) throw authError('forbidden', 'your role may not watch this');
    return { username: opener.username, ...this.#viewers.takePlace(cameraId, opener.username, onEnd) };
  }

  #verify({ token, cameraId, permission, address }: Omit<ViewingRequest, 'session'>): Principal {
    const principal = this.#tokens.verifyForCamera(token, cameraId, address);
    this.#requireSight(principal, cameraId);
    if (!may(principal, permission)) throw authError('forbidden', 'your role may not watch this');
    return principal;
  }
  /**
   * Of a camera that everybody may watch: whoever shows that they are limited is, nevertheless. A token that is good for
   * nothing is as good as none.
   */
  #limitedBy({ token, cameraId, address }: Omit<ViewingRequest, 'session'>): Principal | null {
    if (token === null) return null;
    let principal: Principal;
    try {
      principal = this.#tokens.verifyForCamera(token, cameraId, address);
    } catch {
      return null;
    }
    if (principal.limits === null) return null;
    this.#requireSight(principal, cameraId);
    return principal;
  }

  /** What whoever opened a wall sees. */
  sightOf({ limits }: Principal): Sight {
    return this.#sights.of(limits);
  }

  #requireSight(principal: Principal, cameraId: string): void {
    if (!this.sightOf(principal).seesCamera(cameraId))
      throw new AppError('not_found', `there is no camera ${cameraId}`);
  }
}
