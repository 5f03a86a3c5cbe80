import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../base/clock.js';
import { messageOf } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import { authError } from './auth-error.js';

/** A session that isn't used this long has ended. */
const IDLE_LIMIT_MS = 60_000;
const LIFETIME_MS = 12 * 3_600_000;
/** Walls and apps with thousands of viewers fit; the memory stays under 10 MB. */
const MAX_SESSIONS = 20_000;

/** Why a viewing was ended from our side. */
export type EndReason = 'camera_deleted' | 'access_withdrawn';

/** A connection that is registered to be told when its viewing must end. */
export type Hold = { release(): void };

type Session = {
  readonly id: string;
  readonly cameraId: string;
  readonly username: string;
  readonly ticket: string;
  readonly openedMs: number;
  usedMs: number;
};

type Held = {
  readonly cameraId: string | null;
  readonly username: string | null;
  readonly onEnd: (reason: EndReason) => void;
};

/** What finds the session that a token opened on a camera. The token itself is not kept. */
const ticketOf = (cameraId: string, token: string): string =>
  createHash('sha256').update(cameraId).update('\0').update(token).digest('base64');

/**
 * Who is watching. Players that poll have a session: opened by a good token, alive while used at least once a
 * minute, 12 hours at most. Players with a connection of their own hold a place here as long as it lasts.
 */
export class ViewingSessions {
  readonly #clock: Clock;
  readonly #log: Logger;
  /** The one used longest ago comes first. */
  readonly #sessions = new Map<string, Session>();
  readonly #byTicket = new Map<string, Session>();
  readonly #held = new Set<Held>();

  constructor(deps: { clock: Clock; log: Logger }) {
    this.#clock = deps.clock;
    this.#log = deps.log;
  }

  /** Sessions in memory, of which some may have ended unnoticed. */
  get size(): number {
    return this.#sessions.size;
  }

  /**
   * The session of a token that was found good just now: the one it opened before, or a new one. Throws
   * `too_many_viewings` when all places are taken by others.
   */
  open(cameraId: string, username: string, token: string): string {
    const running = this.resume(cameraId, token);
    if (running !== null) return running.sessionId;
    this.#makeRoom(username);
    const nowMs = this.#clock.monotonicMs();
    const session: Session = {
      id: randomBytes(24).toString('base64url'),
      cameraId,
      username,
      ticket: ticketOf(cameraId, token),
      openedMs: nowMs,
      usedMs: nowMs,
    };
    this.#sessions.set(session.id, session);
    this.#byTicket.set(session.ticket, session);
    return session.id;
  }

  /** The session that this very token opened on this camera, if it is alive: it goes on, even if the token expired. */
  resume(cameraId: string, token: string): { sessionId: string; username: string } | null {
    const session = this.#byTicket.get(ticketOf(cameraId, token));
    if (session === undefined || !this.#use(session)) return null;
    return { sessionId: session.id, username: session.username };
  }

  /** Uses a session; who watches, or null if it has ended, never was, or is another camera's. */
  touch(sessionId: string, cameraId: string): { username: string } | null {
    const session = this.#sessions.get(sessionId);
    if (session === undefined || session.cameraId !== cameraId || !this.#use(session)) return null;
    return { username: session.username };
  }

  /**
   * Registers a connection (WebSocket, WHEP, the log) until it is released. `onEnd` is called at once, and once, when
   * it must end. `username` is null for a viewer of a camera without `token_auth`, `cameraId` where it shows none.
   */
  hold(cameraId: string | null, username: string | null, onEnd: (reason: EndReason) => void): Hold {
    const held = { cameraId, username, onEnd };
    this.#held.add(held);
    return { release: () => void this.#held.delete(held) };
  }

  /** The camera was deleted, or `token_auth` was switched on: everybody who watches it must stop. */
  endForCamera(cameraId: string, reason: EndReason): void {
    this.#end((viewing) => viewing.cameraId === cameraId, reason);
  }

  /** The user was deleted or has another role or password. */
  endForUser(username: string): void {
    this.#end((viewing) => viewing.username === username, 'access_withdrawn');
  }

  /** There is no live picture of the camera any more: whoever stays connected for it must stop. */
  endConnections(cameraId: string, reason: EndReason): void {
    this.#endHeld((viewing) => viewing.cameraId === cameraId, reason);
  }

  #end(isMeant: (viewing: Session | Held) => boolean, reason: EndReason): void {
    for (const session of this.#sessions.values()) if (isMeant(session)) this.#drop(session);
    this.#endHeld(isMeant, reason);
  }

  #endHeld(isMeant: (viewing: Held) => boolean, reason: EndReason): void {
    for (const held of [...this.#held]) {
      // One that was released by another's `onEnd` is not told any more.
      if (!isMeant(held) || !this.#held.delete(held)) continue;
      try {
        held.onEnd(reason);
      } catch (thrown) {
        // The others must stop all the same.
        this.#log.error('a viewer could not be told to stop', {
          camera_id: held.cameraId,
          error: messageOf(thrown),
        });
      }
    }
  }

  #use(session: Session): boolean {
    if (!this.#isAlive(session)) {
      this.#drop(session);
      return false;
    }
    session.usedMs = this.#clock.monotonicMs();
    this.#sessions.delete(session.id);
    this.#sessions.set(session.id, session);
    return true;
  }

  #isAlive(session: Session): boolean {
    const nowMs = this.#clock.monotonicMs();
    return nowMs - session.usedMs <= IDLE_LIMIT_MS && nowMs - session.openedMs < LIFETIME_MS;
  }

  #drop(session: Session): void {
    this.#sessions.delete(session.id);
    this.#byTicket.delete(session.ticket);
  }

  /** Ended sessions stand at the head and go first; then a user's own oldest one, so nobody pushes others out. */
  #makeRoom(username: string): void {
    for (const session of this.#sessions.values()) {
      if (this.#isAlive(session)) break;
      this.#drop(session);
    }
    if (this.#sessions.size < MAX_SESSIONS) return;
    const own = [...this.#sessions.values()].find((session) => session.username === username);
    if (own === undefined)
      throw authError('too_many_viewings', 'too many people are watching', { retryAfterSec: 60 });
    this.#drop(own);
  }
}
