import type { IncomingMessage } from 'node:http';
import { bearerTokenOf, type Principal } from '../auth/tokens.js';
import type { AnyViewing, ViewingGate, ViewingRequest } from '../auth/viewing-gate.js';
import { AppError } from '../base/errors.js';
import { HeldPlace } from './held-place.js';
import { httpError } from './problem.js';
import { WallVisitor } from './wall-visitor.js';

/** What a viewer may be let in to. */
export type ViewingPermission = ViewingRequest['permission'];

/** What of a camera decides who may watch it, and whether there is anything to see. */
export type WatchedCamera = { readonly tokenAuth: boolean; readonly isDisabled: boolean };

export type StreamAccessDeps = {
  /** Null where there is no such camera. */
  readonly cameras: {
    watched(cameraId: string): WatchedCamera | null;
    /** Why it can't be shown live at this box, of several; null: it can, as far as is known. */
    whyUnseen(cameraId: string): string | null;
  };
  readonly gate: Pick<
    ViewingGate,
    'viewingFor' | 'placeFor' | 'wallOpener' | 'wallFor' | 'tileFor' | 'sightOf'
  >;
};

/** Enabling it is somebody's decision: asking more often brings nothing. */
const DISABLED_RETRY_SEC = 60;

export type Shown = Pick<ViewingRequest, 'token' | 'session' | 'address'>;

/** What a player shows: in the header or, since many can't set one, in the query. */
const shownBy = (request: IncomingMessage): Shown => {
  const url = request.url ?? '';
  const queryAt = url.indexOf('?');
  const query = new URLSearchParams(queryAt === -1 ? '' : url.slice(queryAt));
  return {
    token: bearerTokenOf(request.headers.authorization) ?? (query.get('token') || null),
    session: query.get('session') || null,
    // Routes know the client behind a proxy that is trusted.
    address: (request as { ip?: string }).ip ?? request.socket.remoteAddress ?? '',
  };
};

/** Lets viewers in to streams and recordings, by the rule of the viewing gate. */
export class StreamAccess {
  readonly #deps: StreamAccessDeps;

  constructor(deps: StreamAccessDeps) {
    this.#deps = deps;
  }

  /** Lets in one request. Throws `not_found`, `token_*`, `forbidden`, `too_many_viewings` or `no_picture`. */
  poll(request: IncomingMessage, cameraId: string, permission: ViewingPermission): AnyViewing {
    return this.pollBy(shownBy(request), cameraId, permission);
  }

  /** The same for whoever has read the request. */
  pollBy(shown: Shown, cameraId: string, permission: ViewingPermission): AnyViewing {
    const camera = this.#find(cameraId);
    const { tokenAuth } = camera;
    const viewing = this.#deps.gate.viewingFor({ cameraId, tokenAuth, permission, ...shown });
    this.#requirePicture(cameraId, camera, permission);
    return viewing;
  }

  /** Lets in a connection, whose place must be released. Throws `not_found`, `token_*`, `forbidden` or `no_picture`. */
  connect(request: IncomingMessage, cameraId: string, permission: ViewingPermission): HeldPlace {
    const { token, address } = shownBy(request);
    return this.connectBy(token, cameraId, permission, address);
  }

  /** The same for whoever shows its token in another way. */
  connectBy(token: string | null, cameraId: string, permission: ViewingPermission, address = ''): HeldPlace {
    const camera = this.#find(cameraId);
    const { tokenAuth } = camera;
    const place = new HeldPlace((onEnd) =>
      this.#deps.gate.placeFor({ cameraId, tokenAuth, permission, token, address }, onEnd),
    );
    return this.#withPicture(place, cameraId, camera, permission);
  }

  /** Lets in a page that shows walls, which must be released. Throws `token_*` or `forbidden`. */
  openWall(request: IncomingMessage): WallVisitor {
    const { token } = shownBy(request);
    const opener = this.#deps.gate.wallOpener(token);
    const place = new HeldPlace((onEnd) => this.#deps.gate.wallFor(opener, onEnd));
    const sight = this.#deps.gate.sightOf(opener);
    return new WallVisitor(opener, sight, place, (cameraId) => this.#connectTile(opener, cameraId));
  }

  /** Lets somebody's wall show a camera, as `connect` does. */
  #connectTile(opener: Principal, cameraId: string): HeldPlace {
    const permission = 'live.watch';
    const camera = this.#find(cameraId);
    const { tokenAuth } = camera;
    const place = new HeldPlace((onEnd) =>
      this.#deps.gate.tileFor(opener, { cameraId, tokenAuth, permission }, onEnd),
    );
    return this.#withPicture(place, cameraId, camera, permission);
  }

  #withPicture(
    place: HeldPlace,
    cameraId: string,
    camera: WatchedCamera,
    permission: ViewingPermission,
  ): HeldPlace {
    try {
      this.#requirePicture(cameraId, camera, permission);
    } catch (thrown) {
      place.release();
      throw thrown;
    }
    return place;
  }

  /** Whether the camera asks for a token. Throws `not_found`. */
  asksForToken(cameraId: string): boolean {
    return this.#find(cameraId).tokenAuth;
  }

  #find(cameraId: string): WatchedCamera {
    const camera = this.#deps.cameras.watched(cameraId);
    if (camera === null) throw new AppError('not_found', `there is no camera ${cameraId}`);
    return camera;
  }

  #requirePicture(cameraId: string, { isDisabled }: WatchedCamera, permission: ViewingPermission): void {
    if (permission !== 'live.watch') return;
    if (isDisabled)
      throw httpError('no_picture', 'the camera is disabled', { retryAfterSec: DISABLED_RETRY_SEC });
    const reason = this.#deps.cameras.whyUnseen(cameraId);
    if (reason !== null) throw httpError('no_picture', reason);
  }
}
