import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * What becomes of a request: `swallowed`: nobody ever answers; `halfway`: the head comes, and never the body; `frozen`:
 * what was under way stands still, as behind a NAT that forgot it; an answer of something in between.
 */
export type Fate =
  | 'passed'
  | 'swallowed'
  | 'halfway'
  | 'frozen'
  | { readonly status: number; readonly body: object };

type Way = { readonly path: string; readonly freeze: () => void };

/** Stands between a browser and the service as bad networks and proxies do; without a word about it all passes. */
export class WeakLink {
  readonly url: string;
  /** Paths that were asked for, sockets as well, in their order. */
  readonly asked: string[] = [];
  readonly #server = createServer();
  readonly #target: URL;
  readonly #fates = new Map<string, Fate>();
  readonly #ways = new Set<Way>();
  readonly #sockets = new Set<Duplex>();

  private constructor(target: string, server: ReturnType<typeof createServer>) {
    this.#server = server;
    this.#target = new URL(target);
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('connection', (socket: Socket) => this.#keep(socket));
    server.on('request', (request, response) => this.#answer(request, response));
    server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
  }

  static async start(target: string): Promise<WeakLink> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new WeakLink(target, server);
  }

  /** From now on, for all that begins with this path. */
  set(path: string, fate: Fate): void {
    this.#fates.set(path, fate);
    if (fate !== 'frozen') return;
    for (const way of this.#ways) if (way.path.startsWith(path)) way.freeze();
  }

  /** How many that begin with this path are under way. */
  open(path: string): number {
    return [...this.#ways].filter((way) => way.path.startsWith(path)).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #keep(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => this.#sockets.delete(socket));
  }

  #fateOf(path: string): Fate {
    this.asked.push(path);
    return [...this.#fates].findLast(([start]) => path.startsWith(start))?.[1] ?? 'passed';
  }

  #underWay(path: string, end: Duplex | ServerResponse, freeze: () => void): void {
    const way = { path, freeze };
    this.#ways.add(way);
    end.once('close', () => this.#ways.delete(way));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { method = '', url: path = '/', headers } = request;
    const fate = this.#fateOf(path);
    if (typeof fate === 'object') {
      response.writeHead(fate.status, { 'Content-Type': 'application/problem+json' });
      return void response.end(JSON.stringify(fate.body));
    }
    if (fate === 'swallowed') return;
    const onward = httpRequest(new URL(path, this.#target), { method, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      response.flushHeaders();
      if (fate === 'halfway') return void answer.resume();
      answer.pipe(response);
      this.#underWay(path, response, () => answer.unpipe(response).resume());
    });
    onward.once('error', () => response.destroy());
    response.once('close', () => onward.destroy());
    request.pipe(onward);
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { url: path = '/', rawHeaders } = request;
    const fate = this.#fateOf(path);
    this.#keep(socket);
    if (fate === 'swallowed') return;
    const onward = connect(Number(this.#target.port), this.#target.hostname);
    this.#keep(onward);
    const fields = rawHeaders.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
    onward.write(`GET ${path} HTTP/1.1\r\n${fields}\r\n`);
    onward.write(head);
    socket.pipe(onward);
    if (fate === 'passed') onward.pipe(socket);
    // The handshake, and nothing of what follows.
    else onward.once('data', (data: Buffer) => socket.write(data.subarray(0, data.indexOf('\r\n\r\n') + 4)));
    this.#underWay(path, socket, () => onward.unpipe(socket).resume());
    onward.once('close', () => socket.destroy());
    socket.once('close', () => onward.destroy());
  }
}
