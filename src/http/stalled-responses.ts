import type { Server, ServerResponse } from 'node:http';
import type { Clock } from '../base/clock.js';

/** A client that takes nothing for this long has gone, or never meant to read. */
const STALL_LIMIT_MS = 30_000;
const CHECK_EVERY_MS = 5_000;

type Progress = { takenBytes: number; sinceMs: number };

/** Of events there may be none for hours; who sends them has an eye on its reader. */
const isEventStream = (response: ServerResponse): boolean =>
  String(response.getHeader('Content-Type') ?? '').startsWith('text/event-stream');

/**
 * Ends responses whose client takes nothing: each holds memory for as long as it lasts. One that takes a little
 * now and then stays, and so does one that waits for us.
 */
export class StalledResponses {
  readonly #clock: Clock;
  readonly #open = new Map<ServerResponse, Progress>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Watches over all responses of a server until it closes. */
  attach(server: Server): void {
    const checks = this.#clock.every(CHECK_EVERY_MS, () => this.#check());
    server.once('close', () => checks.cancel());
    server.on('request', (_request, response: ServerResponse) => {
      this.#open.set(response, { takenBytes: 0, sinceMs: this.#clock.monotonicMs() });
      response.once('close', () => this.#open.delete(response));
    });
  }

  #check(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [response, progress] of this.#open) {
      const { socket } = response;
      // Behind another answer of its connection: that one is looked at.
      if (socket === null) continue;
      const takenBytes = socket.bytesWritten - socket.writableLength;
      if (response.writableLength === 0 || takenBytes !== progress.takenBytes || isEventStream(response)) {
        progress.takenBytes = takenBytes;
        progress.sinceMs = nowMs;
      } else if (nowMs - progress.sinceMs >= STALL_LIMIT_MS) socket.destroy();
    }
  }
}
