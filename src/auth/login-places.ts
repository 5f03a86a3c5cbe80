import { createHmac } from 'node:crypto';
import { clientNetwork } from '../base/client-address.js';
import type { Clock } from '../base/clock.js';
import type { LoginTable } from '../store/logins.js';

const DAY_MS = 86_400_000;
const HOME_DAYS = 30;
const PLACE_BYTES = 16;

/** From where each name logged in within the last 30 days. Addresses are kept as keyed hashes alone. */
export class LoginPlaces {
  readonly #secret: Buffer;
  readonly #logins: LoginTable;
  readonly #clock: Clock;

  constructor(secret: Buffer, deps: { logins: LoginTable; clock: Clock }) {
    this.#secret = secret;
    this.#logins = deps.logins;
    this.#clock = deps.clock;
  }

  isHome(address: string, username: string): boolean {
    const lastMs = this.#logins.lastMs(username, this.#placeOf(address, username));
    return lastMs !== null && this.#clock.wallMs() - lastMs < HOME_DAYS * DAY_MS;
  }

  /** The name logged in from there. Throws `database_unavailable`. */
  note(address: string, username: string): void {
    const place = this.#placeOf(address, username);
    const nowMs = this.#clock.wallMs();
    // To within a day: a login needn't wait for the disk each time.
    const lastMs = this.#logins.lastMs(username, place);
    if (lastMs === null || Math.abs(nowMs - lastMs) >= DAY_MS) this.#logins.note(username, place, nowMs);
  }

  #placeOf(address: string, username: string): Buffer {
    const hash = createHmac('sha256', this.#secret).update(`place\0${username}\0${clientNetwork(address)}`);
    return hash.digest().subarray(0, PLACE_BYTES);
  }
}
