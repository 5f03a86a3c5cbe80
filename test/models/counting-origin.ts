import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A web server of models whose every request is counted and answered as the test says. */
export class CountingOrigin {
  readonly requests: { path: string; headers: IncomingMessage['headers'] }[] = [];
  answer: Answer = (_request, response) => response.writeHead(404).end();
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.requests.push({ path: request.url ?? '', headers: request.headers });
      this.answer(request, response);
    });
  }

  static async start(): Promise<CountingOrigin> {
    const server = createServer();
    const origin = new CountingOrigin(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return origin;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
