import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../base/clock.js';
import { messageOf } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import { authError } from './auth-error.js';

/** A viewing that isn't used this long has ended. */
const IDLE_LIMIT_MS = 60_000;
const LIFETIME_MS = 12 * 3_600_000;
/** Walls and apps with thousands of viewers fit; the memory stays under 10 MB. */
const MAX_VIEWINGS = 20_000;

/** Why a viewing or a place was ended from our side. */
export type EndReason = 'camera_deleted' | 'access_withdrawn';

/** What lets a player in, request by request; its id goes into child addresses as `?session=`. */
export type Viewing = { readonly id: string; readonly username: string };

/** What a connected player holds until it is released, so that it is told when it must end. */
export type Place = { release(): void };

type OpenViewing = Viewing & {
  readonly cameraId: string;
  readonly ticket: string;
  readonly openedMs: number;
  usedMs: number;
};

type TakenPlace = {
  readonly cameraId: string | null;
  readonly username: string | null;
  readonly isLive: boolean;
  /** All cameras that it shows. */
  readonly shown: readonly string[];
  readonly onEnd: (reason: EndReason) => void;
};

/** What finds the viewing that a token opened on a camera. The token itself is not kept. */
const ticketOf = (cameraId: string, token: string): string =>
  createHash('sha256').update(cameraId).update('\0').update(token).digest('base64');

/**
 * Who is watching. Players that poll have a viewing: opened by a good token, alive while used at least once a
 * minute, 12 hours at most. Players with a connection of their own have a place here as long as it lasts.
 */
export class Viewers {
  readonly #clock: Clock;
  readonly #log: Logger;
  /** The one used longest ago comes first. */
  readonly #viewings = new Map<string, OpenViewing>();
  readonly #byTicket = new Map<string, OpenViewing>();
  readonly #places = new Set<TakenPlace>();

  constructor(deps: { clock: Clock; log: Logger }) {
    this.#clock = deps.clock;
    this.#log = deps.log;
  }

  /** Viewings in memory, of which some may have ended unnoticed. */
  get viewingCount(): number {
    return this.#viewings.size;
  }

  /**
   * The viewing of a token that was found good just now: the one it opened before, or a new one. Throws
   * `too_many_viewings` when there is no room beside those of others.
   */
  openViewing(cameraId: string, username: string, token: string): Viewing {
    const running = this.resumeViewing(cameraId, token);
    if (running !== null) return running;
    this.#makeRoom(username);
    const nowMs = this.#clock.monotonicMs();
    const viewing: OpenViewing = {
      id: randomBytes(24).toString('base64url'),
      cameraId,
      username,
      ticket: ticketOf(cameraId, token),
      openedMs: nowMs,
      usedMs: nowMs,
    };
    this.#viewings.set(viewing.id, viewing);
    this.#byTicket.set(viewing.ticket, viewing);
    return { id: viewing.id, username };
  }

  /** The viewing that this very token opened on this camera, if it is alive: it goes on, even if the token expired. */
  resumeViewing(cameraId: string, token: string): Viewing | null {
    return this.#used(this.#byTicket.get(ticketOf(cameraId, token)));
  }

  /** Uses a viewing; null if it has ended, never was, or is another camera's. */
  useViewing(id: string, cameraId: string): Viewing | null {
    const viewing = this.#viewings.get(id);
    return viewing?.cameraId === cameraId ? this.#used(viewing) : null;
  }

  /**
   * Takes a place for a connection (WebSocket, WHEP, the log) until it is released. `onEnd` is called at once, and
   * once, when it must end. `username` is null for a viewer of a camera without `token_auth`, `cameraId` where it
   * shows none. `isLive`: it shows what the camera sends now. `shows`: cameras whose recordings it has, beside that.
   */
  takePlace(
    cameraId: string | null,
    username: string | null,
    onEnd: (reason: EndReason) => void,
    { isLive = true, shows = [] }: { readonly isLive?: boolean; readonly shows?: readonly string[] } = {},
  ): Place {
    const shown = cameraId === null ? shows : [cameraId, ...shows];
    const place = { cameraId, username, isLive, shown, onEnd };
    this.#places.add(place);
    return { release: () => void this.#places.delete(place) };
  }

  /** The camera was deleted, or `token_auth` was switched on: everybody who watches it must stop. */
  endForCamera(cameraId: string, reason: EndReason): void {
    this.#end((viewer) => viewer.cameraId === cameraId, reason);
  }

  /** Cameras are elsewhere: whoever doesn't see any more what is shown must stop. */
  endUnseen(sees: (username: string, cameraId: string) => boolean): void {
    this.#end((viewer) => {
      const { username } = viewer;
      const shown = 'shown' in viewer ? viewer.shown : [viewer.cameraId];
      return username !== null && !shown.every((cameraId) => sees(username, cameraId));
    }, 'access_withdrawn');
  }

  /** The user was deleted or has other rights or another password. */
  endForUser(username: string): void {
    this.#end((viewer) => viewer.username === username, 'access_withdrawn');
  }

  /** There is no live picture of the camera any more: whoever stays connected for it must stop. */
  endPlaces(cameraId: string, reason: EndReason): void {
    this.#endPlaces((place) => place.isLive && place.cameraId === cameraId, reason);
  }

  #end(isMeant: (viewer: OpenViewing | TakenPlace) => boolean, reason: EndReason): void {
    for (const viewing of this.#viewings.values()) if (isMeant(viewing)) this.#drop(viewing);
    this.#endPlaces(isMeant, reason);
  }

  #endPlaces(isMeant: (place: TakenPlace) => boolean, reason: EndReason): void {
    for (const place of [...this.#places]) {
      // One that was released by another's `onEnd` is not told any more.
      if (!isMeant(place) || !this.#places.delete(place)) continue;
      try {
        place.onEnd(reason);
      } catch (thrown) {
        // The others must stop all the same.
        this.#log.error('a viewer could not be told to stop', {
          camera_id: place.cameraId,
          error: messageOf(thrown),
        });
      }
    }
  }

  #used(viewing: OpenViewing | undefined): Viewing | null {
    if (viewing === undefined) return null;
    if (!this.#isAlive(viewing)) {
      this.#drop(viewing);
      return null;
    }
    viewing.usedMs = this.#clock.monotonicMs();
    this.#viewings.delete(viewing.id);
    this.#viewings.set(viewing.id, viewing);
    return { id: viewing.id, username: viewing.username };
  }

  #isAlive(viewing: OpenViewing): boolean {
    const nowMs = this.#clock.monotonicMs();
    return nowMs - viewing.usedMs <= IDLE_LIMIT_MS && nowMs - viewing.openedMs < LIFETIME_MS;
  }

  #drop(viewing: OpenViewing): void {
    this.#viewings.delete(viewing.id);
    this.#byTicket.delete(viewing.ticket);
  }

  /** Ended viewings stand at the head and go first; then a user's own oldest one, so nobody pushes others out. */
  #makeRoom(username: string): void {
    for (const viewing of this.#viewings.values()) {
      if (this.#isAlive(viewing)) break;
      this.#drop(viewing);
    }
    if (this.#viewings.size < MAX_VIEWINGS) return;
    const own = [...this.#viewings.values()].find((viewing) => viewing.username === username);
    if (own === undefined)
      throw authError('too_many_viewings', 'too many people are watching', { retryAfterSec: 60 });
    this.#drop(own);
  }
}
