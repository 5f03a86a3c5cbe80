import type { Clock, Timer } from '../../base/clock.js';
import { isSame, isStill, STILL, type Velocity } from './commands.js';

export type DriveDeps = {
  readonly clock: Pick<Clock, 'after' | 'monotonicMs'>;
  /** Tells the camera; `from`: what it was told before. */
  readonly move: (to: Velocity, from: Velocity) => Promise<void>;
  readonly stop: () => Promise<void>;
  /** It may be moving, and doesn't take a stop. */
  readonly onRunaway: (fault: unknown) => void;
};

/** Whoever moves a camera says so every 300 ms: after as much of silence it is stopped for them. */
export const DEAD_MAN_MS = 600;
/** The camera's own limit is 2 s: it is told again well before. */
const RENEW_MS = 1_000;
const STOP_TRIES = 5;
const STOP_AGAIN_MS = 300;

/**
 * Moves a camera for as long as somebody says so. One command is on its way at a time, and the newest wish follows it:
 * nothing queues up. What began to move is stopped, whatever becomes of who moved it.
 */
export class PtzDrive {
  readonly #deps: DriveDeps;
  #wish: Velocity = STILL;
  #told: Velocity = STILL;
  #toldAtMs = 0;
  #deadMan: Timer | null = null;
  #running: Promise<void> | null = null;

  constructor(deps: DriveDeps) {
    this.#deps = deps;
  }

  /** Whether it moves, as far as we know. */
  get isMoving(): boolean {
    return !isStill(this.#told) || !isStill(this.#wish);
  }

  /** Ends when the camera was told; throws what it said to it. */
  move(velocity: Velocity): Promise<void> {
    this.#deadMan?.cancel();
    this.#wish = velocity;
    this.#deadMan = isStill(velocity)
      ? null
      : this.#deps.clock.after(DEAD_MAN_MS, () => {
          this.#wish = STILL;
          // Who moved it is gone, and nobody waits for this.
          this.#run().catch(() => {});
        });
    return this.#run();
  }

  stop(): Promise<void> {
    return this.move(STILL);
  }

  #run(): Promise<void> {
    if (this.#running === null && this.#isDue) this.#running = this.#follow();
    return this.#running ?? Promise.resolve();
  }

  async #follow(): Promise<void> {
    try {
      while (this.#isDue) {
        if (isStill(this.#wish)) await this.#halt();
        else await this.#tell(this.#wish);
      }
    } finally {
      // In the same moment in which nothing was due any more: whoever wishes later begins anew.
      this.#running = null;
    }
  }

  get #isDue(): boolean {
    if (isStill(this.#wish)) return !isStill(this.#told);
    return !isSame(this.#wish, this.#told) || this.#deps.clock.monotonicMs() - this.#toldAtMs >= RENEW_MS;
  }

  async #tell(velocity: Velocity): Promise<void> {
    const before = this.#told;
    // It may begin to move and not say so: from here on it needs a stop.
    this.#told = velocity;
    this.#toldAtMs = this.#deps.clock.monotonicMs();
    try {
      await this.#deps.move(velocity, before);
    } catch (fault) {
      this.#deadMan?.cancel();
      this.#wish = STILL;
      await this.#halt();
      throw fault;
    }
  }

  async #halt(): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        await this.#deps.stop();
        break;
      } catch (fault) {
        if (tries < STOP_TRIES && isStill(this.#wish)) {
          await new Promise<void>((resolve) => this.#deps.clock.after(STOP_AGAIN_MS * tries, resolve));
          continue;
        }
        if (tries >= STOP_TRIES) {
          this.#deps.onRunaway(fault);
          this.#told = STILL;
        }
        throw fault;
      }
    }
    this.#told = STILL;
  }
}
