import { PING_PAYLOAD_BYTES } from './socket-frame.js';

/** At most one ping in this time; also how coarsely a viewer's lag is known. */
export const PING_EVERY_MS = 250;

/**
 * How far a viewer is behind, by the pings that travel behind the frames: what a viewer hasn't answered lies in
 * front of it, in its own buffers or the kernels' (which take megabytes before a write waits).
 */
export class Answers {
  #lastPingMs = Number.NEGATIVE_INFINITY;
  /** When the first ping that isn't answered was sent, or null if all are. */
  #unansweredMs: number | null = null;

  /** A ping that carries `nowMs` was sent. */
  pinged(nowMs: number): void {
    this.#lastPingMs = nowMs;
    this.#unansweredMs ??= nowMs;
  }

  /** A pong came; a viewer may answer the last of several pings alone (RFC 6455 §5.5.3). False: it is none of ours. */
  ponged(payload: Buffer): boolean {
    if (this.#unansweredMs === null || payload.length !== PING_PAYLOAD_BYTES) return false;
    const pingMs = payload.readDoubleBE();
    if (!(pingMs >= this.#unansweredMs && pingMs <= this.#lastPingMs)) return false;
    // The ping after it, which isn't remembered, was sent a period later at the earliest.
    this.#unansweredMs =
      pingMs === this.#lastPingMs ? null : Math.min(this.#lastPingMs, pingMs + PING_EVERY_MS);
    return true;
  }

  /** All that was sent before the last ping has been taken. */
  get isComplete(): boolean {
    return this.#unansweredMs === null;
  }

  lagMs(nowMs: number): number {
    return this.#unansweredMs === null ? 0 : nowMs - this.#unansweredMs;
  }

  sincePingMs(nowMs: number): number {
    return nowMs - this.#lastPingMs;
  }
}
