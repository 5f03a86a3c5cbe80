import { createHash, timingSafeEqual } from 'node:crypto';
import { at, attribute, type Element, textOf, utcMs } from '../../analytics/xml-tree.js';
import { ReplayMemory } from './replay-memory.js';

/** Who asks, as the header of a request says it (WS-Security UsernameToken Profile 1.0 §3.1). */
export type UsernameToken = {
  readonly name: string;
  readonly password: string;
  readonly isDigest: boolean;
  readonly nonce: string;
  readonly created: string;
};

const MAX_FIELD = 256;
/** How far a request's time may be from ours (§3.2.1 recommends as much). */
const MAX_AGE_MS = 300_000;

const fieldOf = (token: Element, name: string): string => textOf(at(token, name)).slice(0, MAX_FIELD);

/** Null where there is none. */
export const usernameTokenOf = (header: Element | undefined): UsernameToken | null => {
  const token = at(header, 'Security', 'UsernameToken');
  if (token === undefined) return null;
  return {
    name: fieldOf(token, 'Username'),
    password: fieldOf(token, 'Password'),
    isDigest: attribute(at(token, 'Password'), 'Type').endsWith('#PasswordDigest'),
    nonce: fieldOf(token, 'Nonce'),
    created: fieldOf(token, 'Created'),
  };
};

const isSame = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b);

/** What is wrong with a token: `wrong` counts as a guess, the others are made with the right password. */
export type TokenFault = { readonly isWrong: boolean; readonly reason: string };

/** Checks tokens against passwords, each token once. */
export class UsernameTokens {
  readonly #memory: ReplayMemory;

  constructor(startMs: number) {
    // Most clients cut the time to a second.
    this.#memory = new ReplayMemory(2 * MAX_AGE_MS, Math.floor(startMs / 1_000) * 1_000);
  }

  /** Null: it is right. `isSecure`: nobody on the way can read it. */
  faultOf(token: UsernameToken, password: string, isSecure: boolean, nowMs: number): TokenFault | null {
    if (!token.isDigest) {
      if (!isSecure)
        return { isWrong: true, reason: 'a password itself is taken over https alone: send its digest' };
      const isRight = isSame(Buffer.from(token.password), Buffer.from(password));
      return isRight ? null : { isWrong: true, reason: 'the user or the password is wrong' };
    }
    const { name, nonce, created } = token;
    const digest = createHash('sha1')
      .update(Buffer.from(nonce, 'base64'))
      .update(created)
      .update(password)
      .digest();
    if (!isSame(Buffer.from(token.password, 'base64'), digest))
      return { isWrong: true, reason: 'the user or the password is wrong' };
    const createdMs = utcMs(created);
    if (nonce === '' || createdMs === null)
      return { isWrong: false, reason: 'the token must have a nonce, and a time' };
    if (Math.abs(createdMs - nowMs) > MAX_AGE_MS)
      return { isWrong: false, reason: 'the time of the token is not ours: ask GetSystemDateAndTime' };
    if (!this.#memory.isFirst(name, digest.toString('base64'), createdMs, nowMs))
      return { isWrong: false, reason: 'the token was used before' };
    return null;
  }
}
