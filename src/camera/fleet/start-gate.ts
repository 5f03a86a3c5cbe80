import type { Clock, Timer } from '../../base/clock.js';

const MAX_HANDSHAKES = 64;
const MAX_HANDSHAKES_PER_HOST = 8;
/** A handshake that takes longer is waiting for its camera, not storming ours: it gives its place back. */
const SLOW_HANDSHAKE_MS = 500;

/** A place in the gate; `leave` gives it back, or takes the request out of the queue. Calling it twice is fine. */
export type Ticket = { leave(): void };

type Entry = {
  readonly host: string;
  readonly enter: () => void;
  state: 'waiting' | 'inside' | 'slow' | 'left';
  timer: Timer | null;
};

/**
 * Spreads a storm of starts: 64 handshakes at a time, 8 to one host (NVRs answer 453 to more). A host that
 * answers slowly or not at all keeps its own 8 places, but of the 64 only for half a second: it delays itself.
 */
export class StartGate {
  readonly #clock: Clock;
  /** In order of arrival; hosts at their limit are passed over, not waited for. */
  readonly #waiting = new Set<Entry>();
  readonly #insidePerHost = new Map<string, number>();
  #fastInside = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `enter` once there is room, perhaps at once. */
  request(host: string, enter: () => void): Ticket {
    const entry: Entry = { host, enter, state: 'waiting', timer: null };
    this.#waiting.add(entry);
    this.#admit();
    return { leave: () => this.#leave(entry) };
  }

  #admit(): void {
    if (this.#fastInside >= MAX_HANDSHAKES) return;
    for (const entry of this.#waiting) {
      const insideOfHost = this.#insidePerHost.get(entry.host) ?? 0;
      if (insideOfHost >= MAX_HANDSHAKES_PER_HOST) continue;
      this.#waiting.delete(entry);
      this.#insidePerHost.set(entry.host, insideOfHost + 1);
      this.#fastInside++;
      entry.state = 'inside';
      entry.timer = this.#clock.after(SLOW_HANDSHAKE_MS, () => this.#slowDown(entry));
      entry.enter();
      if (this.#fastInside >= MAX_HANDSHAKES) return;
    }
  }

  #slowDown(entry: Entry): void {
    if (entry.state !== 'inside') return;
    entry.state = 'slow';
    this.#fastInside--;
    this.#admit();
  }

  #leave(entry: Entry): void {
    const { state } = entry;
    entry.state = 'left';
    entry.timer?.cancel();
    if (state === 'waiting') this.#waiting.delete(entry);
    if (state === 'waiting' || state === 'left') return;
    if (state === 'inside') this.#fastInside--;
    const insideOfHost = (this.#insidePerHost.get(entry.host) ?? 1) - 1;
    if (insideOfHost === 0) this.#insidePerHost.delete(entry.host);
    else this.#insidePerHost.set(entry.host, insideOfHost);
    this.#admit();
  }
}
