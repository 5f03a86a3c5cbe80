import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../base/clock.js';
import { AppError } from '../base/errors.js';
import type { Session, SessionTable } from '../store/sessions.js';
import type { StoredUser } from '../store/users.js';
import { authError } from './auth-error.js';
import type { Tokens, UserLookup } from './tokens.js';

const HOUR_MS = 3_600_000;
export const REMEMBERED_DAYS = 30;

/** How long one that isn't used is kept: one that ends with its browser, through a night in which nothing runs. */
const IDLE_LIMIT_MS = { remembered: REMEMBERED_DAYS * 24 * HOUR_MS, unremembered: 12 * HOUR_MS };

/** A use is written down so often at most: pages needn't wait for the disk each time. */
const TOUCH_EVERY_MS = HOUR_MS / 6;

/** Browsers need half of it. */
const MAX_USER_AGENT_CHARACTERS = 256;

const SECRET_BYTES = 32;
const ID_BYTES = 12;

/** What a browser holds of its session: the secret is in its cookie, and nowhere else. */
export type HeldSession = { readonly secret: string; readonly isRemembered: boolean };

/** An access token, and whose it is. */
export type Renewal = { readonly username: string; readonly token: string; readonly session: HeldSession };

export type SessionsDeps = {
  readonly sessions: SessionTable;
  readonly users: UserLookup;
  readonly tokens: Tokens;
  readonly clock: Clock;
};

/** What a secret is found by. It has 256 random bits: there is nothing to guess that a slow hash would have to guard. */
const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

const isUnavailable = (thrown: unknown): boolean =>
  thrown instanceof AppError && thrown.code === 'database_unavailable';

/**
 * Browsers that somebody signed in with: each holds a secret that gives access tokens, for as long as it is used. The
 * secret stays the same, so that two tabs, or an answer that got lost, sign nobody out.
 */
export class Sessions {
  readonly #deps: SessionsDeps;

  constructor(deps: SessionsDeps) {
    this.#deps = deps;
  }

  /**
   * Signs a browser in for a user whose password was found right: an access token, and the session. That is null
   * where the database takes no write, which is not worth a failed login, or where the user's rights have changed.
   */
  begin(
    user: StoredUser,
    isRemembered: boolean,
    userAgent = '',
  ): { token: string; session: HeldSession | null } {
    const { sessions, tokens, clock } = this.#deps;
    const id = randomBytes(ID_BYTES).toString('base64url');
    const secret = randomBytes(SECRET_BYTES).toString('base64url');
    const { username, token_epoch: tokenEpoch } = user;
    const nowMs = clock.wallMs();
    const row = {
      ...{ id, username, isRemembered, tokenEpoch },
      ...{ usedMs: nowMs, begunMs: nowMs, userAgent: userAgent.slice(0, MAX_USER_AGENT_CHARACTERS) },
    };
    const isBegun = unlessUnavailable(() => sessions.begin(row, hashOf(secret)));
    return isBegun === true
      ? { token: tokens.issueAccess(user, id), session: { secret, isRemembered } }
      : { token: tokens.issueAccess(user), session: null };
  }

  /** An access token for whoever holds the secret; throws `session_ended`. */
  renew(secret: string): Renewal {
    const { sessions, users, tokens, clock } = this.#deps;
    const { id, username, isRemembered, usedMs } = this.#find(secret);
    const user = users.find(username);
    if (user === null) throw ended();
    const nowMs = clock.wallMs();
    if (Math.abs(nowMs - usedMs) >= TOUCH_EVERY_MS) unlessUnavailable(() => sessions.touch(id, nowMs));
    return { username, token: tokens.issueAccess(user, id), session: { secret, isRemembered } };
  }

  /** Signs the browser out; throws `session_ended` if it is that already. */
  end(secret: string): { readonly username: string } {
    const { id, username } = this.#find(secret);
    this.#deps.sessions.remove(id);
    return { username };
  }

  /** The browsers that a user is signed in with, the one used last first. */
  of(username: string): readonly Session[] {
    return this.#deps.sessions.of(username).filter((session) => this.#isGood(session));
  }

  /** Signs one of the user's browsers out, wherever it is; false: there is no such one. */
  endOf(username: string, id: string): boolean {
    return this.#deps.sessions.removeOf(username, id);
  }

  #find(secret: string): Session {
    const session = this.#deps.sessions.find(hashOf(secret));
    // It is not removed for its age: a clock that runs ahead for a while must sign nobody out for good.
    if (session === null || !this.#isGood(session)) throw ended();
    return session;
  }

  #isGood({ isRemembered, usedMs }: Session): boolean {
    const limitMs = isRemembered ? IDLE_LIMIT_MS.remembered : IDLE_LIMIT_MS.unremembered;
    return this.#deps.clock.wallMs() - usedMs < limitMs;
  }
}

const ended = () => authError('session_ended', 'the session has ended: log in again');

const unlessUnavailable = <T>(write: () => T): T | null => {
  try {
    return write();
  } catch (thrown) {
    if (!isUnavailable(thrown)) throw thrown;
    return null;
  }
};
