import { clientNetwork } from '../base/client-address.js';
import type { Clock } from '../base/clock.js';
import { authError } from './auth-error.js';

const MAX_FAILURES = 10;
const WINDOW_MS = 60_000;
const BLOCK_MS = 60_000;
/** Far more than can fail in a window: a password takes a tenth of a second to check. */
const MAX_KEYS = 20_000;

type Key = {
  /** When the failures of the last minute were, oldest first. */
  readonly failuresMs: number[];
  /** Logins under way, which may fail yet. */
  pending: number;
  blockedUntilMs: number;
};

/** One login under way. Only a wrong name or password is a failure. */
export type LoginAttempt = { end(isFailure: boolean): void };

export type LoginLimiterDeps = {
  readonly clock: Clock;
  /** Whether the name logged in from there of late: failures elsewhere lock it out everywhere else. */
  readonly isHome: (address: string, username: string) => boolean;
};

/** Refuses logins for a minute after 10 failures within a minute from one address, or for one name. */
export class LoginLimiter {
  readonly #clock: Clock;
  readonly #isHome: LoginLimiterDeps['isHome'];
  readonly #keys = new Map<string, Key>();

  constructor({ clock, isHome }: LoginLimiterDeps) {
    this.#clock = clock;
    this.#isHome = isHome;
  }

  /** Addresses and names that are remembered. */
  get size(): number {
    return this.#keys.size;
  }

  /** Throws `too_many_attempts` if address or name is blocked. */
  check(address: string, username: string): void {
    const { ofAddress, ofName } = keysOf(address, username);
    this.#checkKey(ofAddress);
    if (!this.#isHome(address, username)) this.#checkKey(ofName);
  }

  /**
   * Begins a login, or throws `too_many_attempts`. Logins under way count like failures until they end, so that
   * many at once don't get more than 10 guesses.
   */
  begin(address: string, username: string): LoginAttempt {
    this.check(address, username);
    const names = Object.values(keysOf(address, username));
    const keys = names.map((name) => this.#remember(name));
    for (const key of keys) key.pending++;
    let isOpen = true;
    const end = (isFailure: boolean): void => {
      if (!isOpen) return;
      isOpen = false;
      for (const key of keys) {
        key.pending--;
        if (isFailure) this.#addFailure(key);
      }
      for (const name of names) this.#forgetIfIdle(name);
    };
    return { end };
  }

  /** Something that needs no name was wrong; throws `too_many_attempts` if the address is blocked. */
  fail(address: string): void {
    const { ofAddress } = keysOf(address, '');
    this.#checkKey(ofAddress);
    this.#addFailure(this.#remember(ofAddress));
  }

  #checkKey(name: string): void {
    const key = this.#keys.get(name);
    if (key === undefined) return;
    const nowMs = this.#clock.monotonicMs();
    dropOld(key, nowMs);
    const isFull = key.failuresMs.length + key.pending >= MAX_FAILURES;
    const waitMs = isFull ? Math.max(key.blockedUntilMs - nowMs, 1_000) : key.blockedUntilMs - nowMs;
    if (waitMs > 0)
      throw authError('too_many_attempts', 'too many failed logins; try again later', {
        retryAfterSec: Math.ceil(waitMs / 1_000),
      });
  }

  #addFailure(key: Key): void {
    const nowMs = this.#clock.monotonicMs();
    dropOld(key, nowMs);
    key.failuresMs.push(nowMs);
    if (key.failuresMs.length < MAX_FAILURES) return;
    key.failuresMs.length = 0;
    key.blockedUntilMs = nowMs + BLOCK_MS;
  }

  #remember(name: string): Key {
    const key = this.#keys.get(name) ?? { failuresMs: [], pending: 0, blockedUntilMs: 0 };
    // Whoever came last stands last: the head of the map is the one to forget.
    this.#keys.delete(name);
    this.#keys.set(name, key);
    if (this.#keys.size > MAX_KEYS) for (const oldest of this.#keys.keys()) if (this.#forget(oldest)) break;
    return key;
  }

  #forget(name: string): boolean {
    return this.#keys.get(name)?.pending === 0 && this.#keys.delete(name);
  }

  #forgetIfIdle(name: string): void {
    const key = this.#keys.get(name);
    if (key === undefined || key.pending > 0 || key.failuresMs.length > 0) return;
    if (key.blockedUntilMs <= this.#clock.monotonicMs()) this.#keys.delete(name);
  }
}

const dropOld = (key: Key, nowMs: number): void => {
  while ((key.failuresMs[0] ?? nowMs) <= nowMs - WINDOW_MS) key.failuresMs.shift();
};

/** A name is cut: nobody's is longer than 64. */
const keysOf = (address: string, username: string) => ({
  ofAddress: `address ${clientNetwork(address)}`,
  ofName: `name ${username.slice(0, 65)}`,
});
