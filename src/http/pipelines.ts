import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Who sends requests before the answers to others are there has a few of them under way; browsers have one. */
const MOST_UNANSWERED = 64;

/**
 * What is asked for on each connection and isn't answered yet. Ends connections that ask on and on without waiting for
 * answers: Node stops reading only when answers are not taken, and those that wait for something, as for the next part,
 * aren't there yet.
 */
export class Pipelines {
  readonly #unanswered = new WeakMap<Duplex, Set<ServerResponse>>();

  /** Watches over all connections of a server: before anybody who answers. */
  attach(server: Server): void {
    server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      const unanswered = this.#unanswered.get(socket) ?? this.#open(socket);
      unanswered.add(response);
      response.once('close', () => unanswered.delete(response));
      if (unanswered.size > MOST_UNANSWERED) socket.destroy();
    });
  }

  /** The answer whose turn it is on a connection. */
  current(socket: Duplex): ServerResponse | undefined {
    return this.#unanswered.get(socket)?.values().next().value;
  }

  #open(socket: Duplex): Set<ServerResponse> {
    const unanswered = new Set<ServerResponse>();
    this.#unanswered.set(socket, unanswered);
    // Node closes the one whose turn it is, now, and those that were sent, by the next tick: never those behind it, which
    // would hold for ever what they hold until they close.
    socket.once('close', () => process.nextTick(closeAll, unanswered));
    return unanswered;
  }
}

const closeAll = (unanswered: ReadonlySet<ServerResponse>): void => {
  for (const response of unanswered) response.destroy().emit('close');
};
