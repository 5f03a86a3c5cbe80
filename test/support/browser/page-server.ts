import { once } from 'node:events';
import { createReadStream, statSync } from 'node:fs';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { rangeOf } from './byte-ranges.js';

const repository = join(import.meta.dirname, '../../../..');
/** What pages may load besides the files of a test, by the first part of the path. */
const folders: Readonly<Record<string, string>> = {
  players: join(repository, 'test/support/browser/players'),
  'hls.js': join(repository, 'node_modules/hls.js/dist'),
};

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.mp4': 'video/mp4',
  '.m3u8': 'application/vnd.apple.mpegurl',
  '.ts': 'video/mp2t',
  '.vtt': 'text/vtt',
};

const typeOf = (name: string): string => types[extname(name)] ?? 'application/octet-stream';

const pageOf = (player: string): string => `<!doctype html><html lang="en"><head><meta charset="utf-8">
<title>${player}</title><style>body{margin:0;background:#234}video,canvas{display:block;width:640px}</style></head>
<body><script type="module" src="/players/${player}.js"></script></body></html>`;

type ProxyTarget = { readonly origin: string; readonly headers: Readonly<Record<string, string>> };

/** Serves pages and files of a test to a browser, on loopback, and stands in front of a service where asked. */
export class PageServer {
  readonly url: string;
  readonly #server: ReturnType<typeof createServer>;
  readonly #files = new Map<string, Buffer>();
  readonly #proxies = new Map<string, ProxyTarget>();
  /** `GET /files/cam.mp4 206`, in order. */
  readonly log: string[] = [];

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      response.once('finish', () => this.log.push(`${request.method} ${request.url} ${response.statusCode}`));
      this.#answer(request, response);
    });
  }

  static async start(): Promise<PageServer> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new PageServer(server);
  }

  /** The address of a page that runs `players/<player>.js` with these options. */
  playerUrl(player: string, options: unknown): string {
    return `${this.url}/play/${player}?options=${encodeURIComponent(JSON.stringify(options))}`;
  }

  /** Serves these bytes at the address that is returned; the name's ending says what they are. */
  add(name: string, bytes: Buffer | string): string {
    this.#files.set(name, Buffer.from(bytes));
    return `${this.url}/files/${name}`;
  }

  /**
   * Hands requests below the returned address on to `origin`, with these headers added: a `<video>` can't send
   * an Authorization header.
   */
  proxy(origin: string, headers: Readonly<Record<string, string>> = {}): string {
    const name = String(this.#proxies.size);
    this.#proxies.set(name, { origin, headers });
    return `${this.url}/proxy/${name}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, search } = new URL(request.url ?? '/', this.url);
    const [, room = '', ...rest] = pathname.split('/');
    const name = decodeURIComponent(rest.join('/'));
    const file = this.#files.get(name);
    if (room === 'play') send(request, response, 'page.html', Buffer.from(pageOf(name)));
    else if (room === 'files' && file !== undefined) send(request, response, name, file);
    else if (room === 'favicon.ico') response.writeHead(204).end();
    else if (room === 'proxy') this.#forward(request, response, rest, search);
    else if (!sendFrom(folders[room], name, response)) response.writeHead(404).end();
  }

  #forward(request: IncomingMessage, response: ServerResponse, rest: string[], search: string): void {
    const target = this.#proxies.get(rest[0] ?? '');
    if (target === undefined) return void response.writeHead(404).end();
    const address = new URL(`/${rest.slice(1).join('/')}${search}`, target.origin);
    const headers = { ...request.headers, ...target.headers, host: address.host };
    const onward = httpRequest(address, { method: request.method ?? 'GET', headers, agent: false });
    onward.once('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on('error', () => response.destroy()).pipe(response);
    });
    onward.on('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
    response.once('close', () => onward.destroy());
    request.pipe(onward);
  }
}

/** A whole file or the range that is asked for: without ranges Chromium can't seek. */
const send = (request: IncomingMessage, response: ServerResponse, name: string, bytes: Buffer): void => {
  const range = rangeOf(request.headers.range, bytes.length);
  response.setHeader('content-type', typeOf(name));
  response.setHeader('accept-ranges', 'bytes');
  response.setHeader('cache-control', 'no-store');
  if (range === null) {
    response.writeHead(200, { 'content-length': bytes.length }).end(bytes);
    return;
  }
  const { start, end } = range;
  response.writeHead(206, {
    'content-range': `bytes ${start}-${end - 1}/${bytes.length}`,
    'content-length': end - start,
  });
  response.end(bytes.subarray(start, end));
};

const sendFrom = (folder: string | undefined, name: string, response: ServerResponse): boolean => {
  if (folder === undefined) return false;
  const path = join(folder, normalize(`/${name}`));
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
  response.writeHead(200, { 'content-type': typeOf(name) });
  createReadStream(path).pipe(response);
  return true;
};
