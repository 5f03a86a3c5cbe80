import type { Clock, Timer } from '../base/clock.js';
import type { KeepalivePolicy } from './quirks.js';

export type KeepaliveDeps = {
  readonly clock: Clock;
  /** Sends one request; resolves with the status of its answer. */
  readonly send: (method: string) => Promise<number>;
  /** The camera refuses the method that it was asked by, and another one is tried. */
  readonly onGivenWay?: () => void;
};

/** RFC 2326 §12.37: what holds where the camera names no time-out. */
const DEFAULT_TIMEOUT_MS = 60_000;
const LEAST_PERIOD_MS = 1_000;
/** However long the session's own time-out: NAT and firewalls on the way forget sooner. */
const MOST_PERIOD_MS = 30_000;

const preference = ['GET_PARAMETER', 'OPTIONS', 'SET_PARAMETER'] as const;

/** The methods to try, in order; none: no keepalive. A camera that lists nothing is asked what every one must answer. */
export const keepaliveMethods = (
  policy: KeepalivePolicy,
  offered: ReadonlySet<string>,
): readonly string[] => {
  if (policy === 'none') return [];
  if (policy !== 'auto') return [policy.toUpperCase()];
  return preference.filter((method) => method === 'OPTIONS' || offered.has(method));
};

/**
 * Tells the camera every half time-out that somebody still watches. A refused method gives way to the next one at
 * once; a missing answer is no error (quirk 22): as long as data comes, the session lives.
 */
export class Keepalive {
  readonly #methods: readonly string[];
  readonly #deps: KeepaliveDeps;
  readonly #timer: Timer;
  #current = 0;
  #isStopped = false;

  constructor(methods: readonly string[], timeoutMs: number | null, deps: KeepaliveDeps) {
    this.#methods = methods;
    this.#deps = deps;
    const periodMs = Math.min(
      MOST_PERIOD_MS,
      Math.max(LEAST_PERIOD_MS, (timeoutMs ?? DEFAULT_TIMEOUT_MS) / 2),
    );
    this.#timer = deps.clock.every(periodMs, () => void this.#beat());
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer.cancel();
  }

  async #beat(): Promise<void> {
    while (!this.#isStopped) {
      // All refused: OPTIONS, which every server must know, where there is a choice.
      const method =
        this.#methods[this.#current] ?? (this.#methods.length > 1 ? 'OPTIONS' : this.#methods[0]!);
      let status: number;
      try {
        status = await this.#deps.send(method);
      } catch {
        return;
      }
      if (status < 400 || this.#current >= this.#methods.length) return;
      this.#current += 1;
      // All refused: what arrived at the camera may have counted all the same.
      if (this.#current === this.#methods.length) return;
      this.#deps.onGivenWay?.();
    }
  }
}
