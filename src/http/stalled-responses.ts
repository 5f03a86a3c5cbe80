import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../base/clock.js';
import type { Pipelines } from './pipelines.js';

/** A client that takes nothing for this long has gone, or never meant to read. */
const STALL_LIMIT_MS = 30_000;
const CHECK_EVERY_MS = 5_000;

/** What a connection has taken until when. */
type Progress = { takenBytes: number; sinceMs: number };

/** Of events there may be none for hours; who sends them has an eye on its reader. */
const isEventStream = (response: ServerResponse): boolean =>
  String(response.getHeader('Content-Type') ?? '').startsWith('text/event-stream');

/**
 * Ends responses whose client takes nothing: each holds memory for as long as it lasts. One that takes a little
 * now and then stays, and so does one that waits for us. Looks at connections: a request costs it next to nothing.
 */
export class StalledResponses {
  readonly #clock: Clock;
  readonly #connections = new Map<Socket, Progress>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Watches over all responses of a server until it closes. */
  attach(server: Server, pipelines: Pick<Pipelines, 'current'>): void {
    const checks = this.#clock.every(CHECK_EVERY_MS, () => this.#check(pipelines));
    server.once('close', () => checks.cancel());
    server.on('request', ({ socket }: IncomingMessage) => {
      if (this.#connections.has(socket)) return;
      this.#connections.set(socket, { takenBytes: 0, sinceMs: this.#clock.monotonicMs() });
      socket.once('close', () => this.#connections.delete(socket));
    });
  }

  #check(pipelines: Pick<Pipelines, 'current'>): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [socket, progress] of this.#connections) {
      const takenBytes = socket.bytesWritten - socket.writableLength;
      const response = pipelines.current(socket);
      // What is not HTTP any more has its own rules.
      const isIdle = response === undefined || socket.writableLength === 0 || isEventStream(response);
      if (isIdle || takenBytes !== progress.takenBytes) {
        progress.takenBytes = takenBytes;
        progress.sinceMs = nowMs;
      } else if (nowMs - progress.sinceMs >= STALL_LIMIT_MS) socket.destroy();
    }
  }
}
