import type { EndReason, Place } from '../auth/viewers.js';

/**
 * The place of a player with a connection of its own, from when it was let in until it is released. Whoever
 * released it, or was told of its end, needs do nothing more.
 */
export class HeldPlace {
  /** Null where the camera asks for no token. */
  readonly username: string | null;
  readonly #place: Place;
  #endedBy: EndReason | null = null;
  #onEnd: ((reason: EndReason) => void) | null = null;

  /** `take` is the gate's decision: it throws, or registers what is told of the end. */
  constructor(take: (onEnd: (reason: EndReason) => void) => Place & { readonly username: string | null }) {
    const place = take((reason) => this.#end(reason));
    this.username = place.username;
    this.#place = place;
  }

  /** Says who is told when it must end: once, and at once if that was meanwhile. */
  onEnd(listener: (reason: EndReason) => void): void {
    this.#onEnd = listener;
    if (this.#endedBy !== null) this.#end(this.#endedBy);
  }

  /** The player is gone. */
  release(): void {
    this.#onEnd = null;
    this.#place.release();
  }

  #end(reason: EndReason): void {
    this.#endedBy = reason;
    const tell = this.#onEnd;
    this.#onEnd = null;
    tell?.(reason);
  }
}
