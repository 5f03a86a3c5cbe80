import type { Clock } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import type { Claims } from './claims.js';

export type ClaimingDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly claims: Pick<Claims, 'claim'>;
  readonly by: { readonly box: string; readonly boot: string };
  /** Whether it is still to be claimed. */
  readonly isWanted: (cameraId: string) => boolean;
  /** What it is held by until then: no claim is lower than what this box knows of. */
  readonly epochOf: (cameraId: string) => number;
  readonly onClaimed: (cameraId: string, epoch: number) => void;
};

const AT_ONCE = 16;
const RETRY_MS = 500;

/** Claims cameras that are recorded already, a few at a time, and again until that succeeds or nobody wants it any more. */
export class Claiming {
  readonly #deps: ClaimingDeps;
  readonly #waiting = new Set<string>();
  #running = 0;
  #fault: string | null = null;
  #isPaused = false;
  #isStopped = false;

  constructor(deps: ClaimingDeps) {
    this.#deps = deps;
  }

  /** Why nothing can be claimed now; null: it can, as far as is known. */
  get fault(): string | null {
    return this.#fault;
  }

  add(cameraIds: readonly string[]): void {
    for (const id of cameraIds) this.#waiting.add(id);
    this.#goOn();
  }

  stop(): void {
    this.#isStopped = true;
  }

  #goOn(): void {
    if (this.#isPaused || this.#isStopped) return;
    for (const id of this.#waiting) {
      if (this.#running >= AT_ONCE) return;
      this.#waiting.delete(id);
      if (!this.#deps.isWanted(id)) continue;
      this.#running += 1;
      void this.#claim(id);
    }
  }

  async #claim(cameraId: string): Promise<void> {
    const { claims, by, epochOf, isWanted, onClaimed, log } = this.#deps;
    try {
      const epoch = await claims.claim(cameraId, by, epochOf(cameraId));
      if (this.#fault !== null) log.info('cameras can be claimed again');
      this.#fault = null;
      // Whoever answered may be behind the others for a while.
      if (epoch === null) this.#deps.clock.after(RETRY_MS, () => this.add([cameraId]));
      else if (isWanted(cameraId) && !this.#isStopped) onClaimed(cameraId, epoch);
    } catch (thrown) {
      const reason = messageOf(thrown) || (thrown as Error).name;
      if (this.#fault === null)
        log.warn("cameras can't be claimed yet: they are recorded meanwhile", { reason });
      this.#fault = reason;
      this.#waiting.add(cameraId);
      this.#pause();
    }
    this.#running -= 1;
    this.#goOn();
  }

  /** The servers are away, or choose a leader: nothing comes of asking all the time. */
  #pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#deps.clock.after(RETRY_MS, () => {
      this.#isPaused = false;
      this.#goOn();
    });
  }
}
