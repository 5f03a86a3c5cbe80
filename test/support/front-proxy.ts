import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a browser sent, as far as tests ask. */
export type SeenRequest = {
  readonly method: string;
  readonly path: string;
  readonly hasCookie: boolean;
  readonly fetchSite: string;
  status: number;
};

/**
 * What people put in front of the service: hands requests on as they came, and says for whom. `/` is an empty page, so
 * that a test can be a page of the service's own origin.
 */
export class FrontProxy {
  readonly port: number;
  readonly seen: SeenRequest[] = [];
  readonly #server: ReturnType<typeof createServer>;
  readonly #target: string;

  private constructor(server: ReturnType<typeof createServer>, target: string) {
    this.#server = server;
    this.#target = target;
    this.port = (server.address() as AddressInfo).port;
    server.on('request', (request, response) => this.#answer(request, response));
  }

  static async start(target: string): Promise<FrontProxy> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new FrontProxy(server, target);
  }

  /** Its address by one of the names of this machine. */
  url(host: '127.0.0.1' | 'localhost' = '127.0.0.1'): string {
    return `http://${host}:${this.port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { method = '', url: path = '/', headers } = request;
    if (path === '/')
      return void response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>page</title>');
    if (path === '/favicon.ico') return void response.writeHead(204).end();
    const hasCookie = headers.cookie !== undefined;
    const seen: SeenRequest = {
      method,
      path,
      hasCookie,
      fetchSite: String(headers['sec-fetch-site']),
      status: 0,
    };
    this.seen.push(seen);
    const forwarded = {
      'x-forwarded-for': '192.0.2.9',
      'x-forwarded-host': headers.host,
      'x-forwarded-proto': 'http',
    };
    const { host } = new URL(this.#target);
    const options = { method, headers: { ...headers, ...forwarded, host }, agent: false };
    const onward = httpRequest(new URL(path, this.#target), options, (answer) => {
      seen.status = answer.statusCode ?? 0;
      response.writeHead(seen.status, answer.headers);
      answer.pipe(response);
    });
    onward.once('error', () => response.destroy());
    request.pipe(onward);
  }
}
