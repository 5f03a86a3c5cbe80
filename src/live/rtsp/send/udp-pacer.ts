import type { Clock, Timer } from '../../../base/clock.js';

/** At once and then in each round: what sockets of players hold without being read (WHEP's figures). */
const PACKETS_A_ROUND = 32;
const ROUND_MS = 1;
/** Then whatever else the thread serves has a turn. */
const TURN_MS = 4;

/** What has packets waiting. */
type Paced = { flush(packets: number): boolean };

/** Sends what waits for viewers over UDP, a round for each of them every millisecond. */
export class UdpPacer {
  readonly #clock: Clock;
  readonly #waiting = new Set<Paced>();
  #timer: Timer | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Something waits: a round goes at once, unless rounds are under way. */
  wake(paced: Paced): void {
    if (this.#waiting.has(paced) || !paced.flush(PACKETS_A_ROUND)) return;
    this.#waiting.add(paced);
    this.#timer ??= this.#clock.after(ROUND_MS, () => this.#round());
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#waiting.clear();
  }

  #round(): void {
    this.#timer = null;
    const endMs = this.#clock.monotonicMs() + TURN_MS;
    for (const paced of [...this.#waiting]) {
      // Whoever has had its round stands last: a turn that ends early begins with the others.
      this.#waiting.delete(paced);
      if (paced.flush(PACKETS_A_ROUND)) this.#waiting.add(paced);
      if (this.#clock.monotonicMs() >= endMs) break;
    }
    if (this.#waiting.size > 0) this.#timer ??= this.#clock.after(ROUND_MS, () => this.#round());
  }
}
