import type { EndReason, Hold } from '../auth/viewers.js';

/**
 * The place of a player with a connection of its own, held from its admission until it is released. Whoever
 * released it, or was told of its end, needs do nothing more.
 */
export class HeldPlace {
  /** Null where the camera asks for no token. */
  readonly username: string | null;
  readonly #hold: Hold;
  #endedBy: EndReason | null = null;
  #onEnd: ((reason: EndReason) => void) | null = null;

  /** `admit` is the gate's decision: it throws, or registers what is told of the end. */
  constructor(admit: (onEnd: (reason: EndReason) => void) => Hold & { readonly username: string | null }) {
    const hold = admit((reason) => this.#end(reason));
    this.username = hold.username;
    this.#hold = hold;
  }

  /** Says who is told when the viewing must end: once, and at once if that was meanwhile. */
  onEnd(listener: (reason: EndReason) => void): void {
    this.#onEnd = listener;
    if (this.#endedBy !== null) this.#end(this.#endedBy);
  }

  /** The player is gone. */
  release(): void {
    this.#onEnd = null;
    this.#hold.release();
  }

  #end(reason: EndReason): void {
    this.#endedBy = reason;
    const tell = this.#onEnd;
    this.#onEnd = null;
    tell?.(reason);
  }
}
