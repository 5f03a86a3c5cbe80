import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';

export type Page = { readonly status: number; readonly location: string; readonly bytes: Buffer };

type AskOptions = {
  readonly method?: string;
  readonly body?: string;
  readonly contentType?: string;
  readonly token?: string;
};

/** The service, as its visitors know it. */
export type Place = {
  readonly url: string;
  /** A fresh address of the loopback network: visitors of an open camera are told apart by it. */
  readonly nextAddress: () => string;
};

const bytesOf = async (response: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};

/** One person's browser, with an address and connections of its own, which go when it leaves. */
export class Visitor implements Disposable {
  readonly #url: URL;
  readonly #localAddress: string;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #sockets = new Set<Socket>();

  constructor(place: Place) {
    this.#url = new URL(place.url);
    this.#localAddress = place.nextAddress();
  }

  /** The whole answer, whatever its status. */
  async ask(path: string, options: AskOptions = {}): Promise<Page> {
    const response = await this.#answerTo(this.#send(path, options));
    const { statusCode = 0, headers } = response;
    return { status: statusCode, location: headers.location ?? '', bytes: await bytesOf(response) };
  }

  /** The text of a page that must be there. */
  async read(path: string, options: AskOptions = {}): Promise<string> {
    return (await this.fetch(path, options)).toString();
  }

  /** The bytes of a page that must be there. */
  async fetch(path: string, options: AskOptions = {}): Promise<Buffer> {
    const { status, bytes } = await this.ask(path, options);
    if (status !== 200) throw new Error(`${path.replace(/[?].*/, '')}: ${status} ${bytes.toString()}`);
    return bytes;
  }

  /** Asks, and hangs up as soon as the first bytes of the answer's body are there. */
  async cut(path: string, options: AskOptions = {}): Promise<void> {
    const asked = this.#send(path, options);
    const response = await this.#answerTo(asked);
    response.on('error', () => {});
    await new Promise((resolve) => void response.once('data', resolve).once('close', resolve));
    asked.destroy();
  }

  /** Asks, and hangs up without waiting for anything: `afterMs` 0 is at once. */
  async abandon(path: string, afterMs: number, options: AskOptions = {}): Promise<void> {
    const asked = this.#send(path, options);
    await new Promise<void>((resolve) => {
      asked.on('error', () => {}).once('close', resolve);
      asked.once('response', (response) => response.on('error', () => {}).resume());
      asked.once('finish', () => setTimeout(() => asked.destroy(), afterMs));
    });
  }

  /** A connection for what is no whole request; `text` is written, and nothing more. */
  async open(text: string): Promise<Socket> {
    const { hostname, port } = this.#url;
    const socket = connect({ host: hostname, port: Number(port), localAddress: this.#localAddress });
    this.#sockets.add(socket);
    socket.on('error', () => {});
    await new Promise((resolve) => void socket.once('connect', resolve).once('close', resolve));
    socket.write(text);
    return socket;
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
    for (const socket of this.#sockets) socket.destroy();
  }

  #send(path: string, { method = 'GET', body = '', contentType, token }: AskOptions): ClientRequest {
    const asked = request(new URL(path, this.#url), {
      method,
      agent: this.#agent,
      localAddress: this.#localAddress,
      headers: {
        ...(contentType === undefined ? {} : { 'content-type': contentType }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
      },
    });
    asked.end(body);
    return asked;
  }

  #answerTo(asked: ClientRequest): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      asked.once('response', resolve).once('error', reject);
    });
  }
}
