import { createSecretKey, type KeyObject, randomUUID } from 'node:crypto';
import jwt from 'jsonwebtoken';
import type { Clock } from '../base/clock.js';
import type { Role, StoredUser } from '../store/users.js';
import { isKey, isKeyName, type KeyHolder } from './api-keys.js';
import { authError } from './auth-error.js';
import type { Limits } from './sight.js';

export const ACCESS_TOKEN_LIFETIME_SEC = 3_600;
export const STREAM_TOKEN_LIFETIME_SEC = 60;
export const WALL_TOKEN_LIFETIME_SEC = 60;

/** Ours have about 300 characters; longer ones aren't even decoded. */
const MAX_TOKEN_CHARACTERS = 2_048;

/** The claim `aud` tells the kinds of token apart: one is never taken for the other. */
const ACCESS = 'access';
const STREAM = 'stream';
const WALL = 'wall';
type Audience = typeof ACCESS | typeof STREAM | typeof WALL;

/** Who asks: a user, or a key, as of now, not as of when the token was made. */
export type Principal = {
  /** Of a key `key:` and its name. */
  readonly username: string;
  readonly role: Role;
  /** Of the user; see StoredUser. */
  readonly epoch: string;
  /** Of the browser's session that the token came of, if it came of one. */
  readonly sessionId: string | null;
  /** What is seen; null: everything. */
  readonly limits: Limits | null;
  readonly isKey: boolean;
};

/** The keys of today. */
export type KeyLookup = {
  verify(key: string, address: string): KeyHolder;
  find(username: string): KeyHolder | null;
};

const NO_KEYS: KeyLookup = {
  verify: () => {
    throw invalid();
  },
  find: () => null,
};

/** Where the users of today are found. */
export type UserLookup = { find(username: string): StoredUser | null };

const invalid = (why = 'the token is not valid') => authError('token_invalid', why);

const textClaim = (claims: jwt.JwtPayload, name: string): string => {
  const value: unknown = claims[name];
  if (typeof value !== 'string' || value === '') throw invalid();
  return value;
};

/** The token of an `Authorization: Bearer …` header, or null (RFC 6750, section 2.1). */
export const bearerTokenOf = (authorization: string | undefined): string | null =>
  /^Bearer +([^\s]+) *$/i.exec(authorization ?? '')?.[1] ?? null;

/** What a user is limited to; null: nothing. */
export const limitsOf = ({ folders }: Pick<StoredUser, 'folders'>): Limits | null =>
  folders === undefined ? null : { folders, cameras: [] };

/** Who a key stands for. */
export const principalOfKey = ({ username, role, token_epoch: epoch, limits }: KeyHolder): Principal => ({
  ...{ username, role, epoch, limits },
  ...{ sessionId: null, isKey: true },
});

/** Makes and checks access tokens, stream tokens and wall tokens: JWT, HS256 and nothing else. Keys are access tokens, too. */
export class Tokens {
  readonly #key: KeyObject;
  readonly #users: UserLookup;
  readonly #keys: KeyLookup;
  readonly #clock: Clock;

  constructor(secret: Buffer, deps: { users: UserLookup; keys?: KeyLookup; clock: Clock }) {
    this.#key = createSecretKey(secret);
    this.#users = deps.users;
    this.#keys = deps.keys ?? NO_KEYS;
    this.#clock = deps.clock;
  }

  /** Good for an hour on every endpoint that the role may use. */
  issueAccess(user: StoredUser, sessionId: string | null = null): string {
    const claims = {
      role: user.role,
      jti: randomUUID(),
      epoch: user.token_epoch,
      ...(sessionId !== null && { sid: sessionId }),
    };
    return this.#sign(ACCESS, user.username, claims, ACCESS_TOKEN_LIFETIME_SEC);
  }

  /** Good for a minute to begin watching one camera. */
  issueStream(principal: Principal, cameraId: string): string {
    // Two tokens of the same second must open two viewings.
    const claims = { stream_id: cameraId, jti: randomUUID(), epoch: principal.epoch };
    return this.#sign(STREAM, principal.username, claims, STREAM_TOKEN_LIFETIME_SEC);
  }

  /** Good for a minute to open a wall. */
  issueWall(principal: Principal): string {
    const claims = { wall: true, jti: randomUUID(), epoch: principal.epoch };
    return this.#sign(WALL, principal.username, claims, WALL_TOKEN_LIFETIME_SEC);
  }

  /**
   * Who holds this access token or key; throws `token_missing`, `_expired`, `_revoked` or `_invalid`, or
   * `too_many_attempts` of wrong keys from this address.
   */
  verifyAccess(token: string | null, address = ''): Principal {
    if (token !== null && isKey(token)) return principalOfKey(this.#keys.verify(token, address));
    const claims = this.#verify(token, ACCESS);
    return this.#principalOf(claims);
  }

  /** Who may watch `cameraId` with this stream token for it, or with this access token or key; throws the same. */
  verifyForCamera(token: string | null, cameraId: string, address = ''): Principal {
    if (token !== null && isKey(token)) return principalOfKey(this.#keys.verify(token, address));
    const claims = this.#verify(token, ACCESS, STREAM);
    if (claims.aud === STREAM && textClaim(claims, 'stream_id') !== cameraId)
      throw invalid('the token is for another camera');
    return this.#principalOf(claims);
  }

  /** Who may open a wall with this token; throws the same. */
  verifyWall(token: string | null): Principal {
    return this.#principalOf(this.#verify(token, WALL));
  }

  #sign(audience: Audience, subject: string, claims: object, lifetimeSec: number): string {
    const iat = this.#nowSec();
    const payload = { sub: subject, ...claims, aud: audience, iat, exp: iat + lifetimeSec };
    return jwt.sign(payload, this.#key, { algorithm: 'HS256' });
  }

  #verify(token: string | null, ...audiences: [Audience, ...Audience[]]): jwt.JwtPayload {
    if (token === null || token === '') throw authError('token_missing', 'a token is needed');
    if (token.length > MAX_TOKEN_CHARACTERS) throw invalid();
    let claims: string | jwt.JwtPayload;
    try {
      claims = jwt.verify(token, this.#key, {
        algorithms: ['HS256'],
        audience: audiences,
        clockTimestamp: this.#nowSec(),
      });
    } catch (thrown) {
      if (thrown instanceof jwt.TokenExpiredError) throw authError('token_expired', 'the token has expired');
      throw invalid();
    }
    // The library takes a token without `exp` for one that never expires, and `aud` may be a list.
    if (typeof claims === 'string' || typeof claims.exp !== 'number' || typeof claims.aud !== 'string')
      throw invalid();
    return claims;
  }

  #principalOf(claims: jwt.JwtPayload): Principal {
    const subject = textClaim(claims, 'sub');
    const epoch = textClaim(claims, 'epoch');
    const revoked = authError('token_revoked', 'the token was withdrawn: log in again');
    if (isKeyName(subject)) {
      const holder = this.#keys.find(subject);
      if (holder?.token_epoch !== epoch) throw revoked;
      return principalOfKey(holder);
    }
    const user = this.#users.find(subject);
    if (user?.token_epoch !== epoch) throw revoked;
    const { sid } = claims as { sid?: unknown };
    return {
      username: user.username,
      role: user.role,
      epoch: user.token_epoch,
      sessionId: typeof sid === 'string' ? sid : null,
      limits: limitsOf(user),
      isKey: false,
    };
  }

  #nowSec(): number {
    return Math.floor(this.#clock.wallMs() / 1_000);
  }
}
