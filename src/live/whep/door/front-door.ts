import type { Clock } from '../../../base/clock.js';
import { whepError } from '../errors.js';
import type { Remote } from '../path/ice-lite.js';
import { claimedUfrag } from '../path/stun.js';
import { TokenBucket } from '../send/token-bucket.js';
import type { OpenUdpDoor, PortRange, UdpDoor } from './udp-door.js';

/** Looking through a range that is full costs a socket a port: not for each who asks. */
const RETRY_MS = 5_000;
/** Of all sessions. One begins with one to eight of them; what is beyond is asked again. */
const CHECKS_AT_ONCE = 500;
const CHECKS_PER_MS = 0.5;
/** Of one session, so that whoever floods the port under its own name takes nobody else's turn. */
const CHECKS_AT_ONCE_EACH = 50;
const CHECKS_PER_MS_EACH = 0.004;

type Known<Session> = { readonly session: Session; readonly checks: TokenBucket };

/**
 * The main thread's end of the UDP port that all sessions share. It hears the first check of each address and
 * passes it on to who has the session; that worker then ties a socket of its own to the address.
 */
export class FrontDoor<Session> {
  readonly #range: PortRange;
  readonly #open: OpenUdpDoor;
  readonly #clock: Clock;
  readonly #onCheck: (session: Session, datagram: Buffer, from: Remote) => void;
  readonly #knownByUfrag = new Map<string, Known<Session>>();
  readonly #checks: TokenBucket;
  /** null: it wasn't tried, or not lately. */
  #door: Promise<UdpDoor | null> | null = null;

  constructor(
    range: PortRange,
    deps: { readonly open: OpenUdpDoor; readonly clock: Clock },
    onCheck: (session: Session, datagram: Buffer, from: Remote) => void,
  ) {
    this.#range = range;
    this.#open = deps.open;
    this.#clock = deps.clock;
    this.#onCheck = onCheck;
    this.#checks = new TokenBucket(CHECKS_AT_ONCE, CHECKS_PER_MS, deps.clock.monotonicMs());
  }

  /** The port, opened for the first who asks; throws `no_free_port`. */
  async port(): Promise<number> {
    this.#door ??= this.#openOnce();
    const door = await this.#door;
    if (door === null) throw whepError('no_free_port', 'all UDP ports for WebRTC are in use');
    return door.port;
  }

  add(ufrag: string, session: Session): void {
    const nowMs = this.#clock.monotonicMs();
    const checks = new TokenBucket(CHECKS_AT_ONCE_EACH, CHECKS_PER_MS_EACH, nowMs);
    this.#knownByUfrag.set(ufrag, { session, checks });
  }

  delete(ufrag: string): void {
    this.#knownByUfrag.delete(ufrag);
  }

  async close(): Promise<void> {
    (await this.#door)?.close();
  }

  async #openOnce(): Promise<UdpDoor | null> {
    let door: UdpDoor | null = null;
    try {
      door = await this.#open(this.#range, (datagram, from) => this.#onDatagram(datagram, from));
    } finally {
      if (door === null) this.#clock.after(RETRY_MS, () => this.#forget());
    }
    return door;
  }

  #forget(): void {
    this.#door = null;
  }

  #onDatagram(datagram: Buffer, from: Remote): void {
    // RFC 768: whoever has no port wants no answer, and no socket can be tied to it.
    if (from.port === 0) return;
    const ufrag = claimedUfrag(datagram);
    const known = ufrag === null ? undefined : this.#knownByUfrag.get(ufrag);
    const nowMs = this.#clock.monotonicMs();
    if (known === undefined || known.checks.available(nowMs) < 1 || this.#checks.available(nowMs) < 1) return;
    known.checks.take(1);
    this.#checks.take(1);
    this.#onCheck(known.session, datagram, from);
  }
}
