import type { Clock, Timer } from '../base/clock.js';
import type { KeepalivePolicy } from './quirks.js';

export type KeepaliveDeps = {
  readonly clock: Clock;
  /** Sends one request; resolves with the status of its answer. */
  readonly send: (method: string) => Promise<number>;
};

/** RFC 2326 §12.37: what holds where the camera names no time-out. */
const DEFAULT_TIMEOUT_MS = 60_000;
const LEAST_PERIOD_MS = 1_000;
/** However long the session's own time-out: NAT and firewalls on the way forget sooner. */
const MOST_PERIOD_MS = 30_000;

const preference = ['GET_PARAMETER', 'OPTIONS', 'SET_PARAMETER'] as const;

/** The methods to try, in order. A camera that lists nothing is asked what every RTSP server must answer. */
export const keepaliveMethods = (
  policy: KeepalivePolicy,
  offered: ReadonlySet<string>,
): readonly string[] => {
  if (policy === 'options') return ['OPTIONS'];
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
      const method = this.#methods[this.#current] ?? 'OPTIONS';
      let status: number;
      try {
        status = await this.#deps.send(method);
      } catch {
        return;
      }
      if (status < 400 || this.#current >= this.#methods.length) return;
      this.#current += 1;
      // All refused: OPTIONS from the next beat on; what arrived at the camera may have counted all the same.
      if (this.#current === this.#methods.length) return;
    }
  }
}
