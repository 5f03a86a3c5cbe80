import { createHmac, randomBytes } from 'node:crypto';
import type { Accounts } from './accounts.js';
import type { Tokens } from './tokens.js';

/** Far more than can watch by one. */
const MAX_KEPT = 1_000;

export type BasicLoginsDeps = {
  readonly accounts: Pick<Accounts, 'login'>;
  readonly tokens: Pick<Tokens, 'verifyAccess'>;
};

/**
 * Logins of clients that send a name and a password with each request: a password takes a quarter of a second to check,
 * so what was right once is kept as the access token that it was good for. That ends when the token does: after an hour,
 * or at once when the user is deleted or gets another role or password.
 */
export class BasicLogins {
  readonly #deps: BasicLoginsDeps;
  /** Of this process alone: no password can be guessed at by what is kept. */
  readonly #key = randomBytes(32);
  /**
   * By name, password and address; the oldest first. One that is under way is waited for by all who show the same. By
   * the address, too: else whoever was told to wait by the limiter could go on guessing at what others have shown.
   */
  readonly #tokens = new Map<string, Promise<string>>();

  constructor(deps: BasicLoginsDeps) {
    this.#deps = deps;
  }

  /** An access token for the right password; rejects as `Accounts.login` does. */
  async tokenFor(username: string, password: string, address: string): Promise<string> {
    const ticket = createHmac('sha256', this.#key)
      .update(JSON.stringify([username, password, address]))
      .digest('base64');
    const known = await this.#known(ticket);
    if (known !== null) return known;
    const login = this.#tokens.get(ticket) ?? this.#begin(ticket, username, password, address);
    return await login;
  }

  /** The token that is kept, if it is still good; throws what a login under way throws. */
  async #known(ticket: string): Promise<string | null> {
    const kept = this.#tokens.get(ticket);
    if (kept === undefined) return null;
    const token = await kept;
    try {
      this.#deps.tokens.verifyAccess(token);
      return token;
    } catch {
      if (this.#tokens.get(ticket) === kept) this.#tokens.delete(ticket);
      return null;
    }
  }

  #begin(ticket: string, username: string, password: string, address: string): Promise<string> {
    const login = this.#deps.accounts.login(username, password, address);
    this.#tokens.set(ticket, login);
    login.catch(() => this.#tokens.delete(ticket));
    for (const oldest of this.#tokens.keys()) {
      if (this.#tokens.size <= MAX_KEPT) break;
      this.#tokens.delete(oldest);
    }
    return login;
  }
}
