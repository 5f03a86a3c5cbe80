import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Who sends requests before the answers to others are there has a few of them under way; browsers have one. */
const MOST_UNANSWERED = 64;

/**
 * Ends connections that ask on and on without waiting for answers: Node stops reading only when answers are not taken, and
 * those that wait for something, as for the next part, aren't there yet.
 */
export class PipelineCap {
  readonly #unanswered = new WeakMap<Socket, number>();

  /** Watches over all connections of a server. */
  attach(server: Server): void {
    server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      const count = (this.#unanswered.get(socket) ?? 0) + 1;
      this.#unanswered.set(socket, count);
      if (count > MOST_UNANSWERED) socket.destroy();
      response.once('close', () => this.#unanswered.set(socket, (this.#unanswered.get(socket) ?? 1) - 1));
    });
  }
}
