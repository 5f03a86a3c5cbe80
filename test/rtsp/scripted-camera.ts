import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

export type SeenRequest = {
  readonly connection: number;
  readonly method: string;
  readonly uri: string;
  readonly headers: ReadonlyMap<string, string>;
};

/** What the camera does when a request comes; `text` may name {cseq} and {port}. */
export type Reaction =
  | string
  | Buffer
  | { readonly text: string; readonly manner: 'byte by byte' | 'then close' | 'then half-close' }
  | 'silence'
  | 'close';

/** One request that is expected, and the reaction to it. */
export type Line = readonly [method: string, reaction: Reaction | ((request: SeenRequest) => Reaction)];

/** An answer with the usual headers; the script fills in CSeq. */
export const answer = (status: string, headers: Readonly<Record<string, string>> = {}, body = ''): string => {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = body === '' ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  return `RTSP/1.0 ${status}\r\nCSeq: {cseq}\r\n${lines.join('')}${length}\r\n${body}`;
};

export const interleaved = (channel: number, payload: Buffer): Buffer => {
  const header = Buffer.from([0x24, channel, 0, 0]);
  header.writeUInt16BE(payload.length, 2);
  return Buffer.concat([header, payload]);
};

/** An RTP packet of payload type 96. */
export const rtp = (sequence: number, payload = 'x'): Buffer => {
  const header = Buffer.from([0x80, 96, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
  header.writeUInt16BE(sequence, 2);
  return Buffer.concat([header, Buffer.from(payload)]);
};

/** A loopback camera that follows one script for each connection, and writes down what it was asked. */
export class ScriptedCamera {
  readonly requests: SeenRequest[] = [];
  /** Requests that the script didn't expect. */
  readonly faults: string[] = [];
  readonly sockets: Socket[] = [];
  readonly #server: Server;
  readonly #scripts: readonly (readonly Line[])[];

  private constructor(scripts: readonly (readonly Line[])[], tls: { key: string; cert: string } | null) {
    this.#scripts = scripts;
    const onSocket = (socket: Socket): void => this.#onSocket(socket);
    this.#server =
      tls === null ? createServer({ allowHalfOpen: true }, onSocket) : createTlsServer(tls, onSocket);
  }

  static async start(
    scripts: readonly (readonly Line[])[],
    tls: { key: string; cert: string } | null = null,
  ): Promise<ScriptedCamera> {
    const camera = new ScriptedCamera(scripts, tls);
    await new Promise<void>((resolve) => camera.#server.listen(0, '127.0.0.1', resolve));
    return camera;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** `user:password@` goes in front of the host. */
  url(path = '/live', userinfo = ''): string {
    return `rtsp://${userinfo}127.0.0.1:${this.port}${path}`;
  }

  get methods(): string[] {
    return this.requests.map((request) => request.method);
  }

  get openSockets(): number {
    return this.sockets.filter((socket) => !socket.destroyed).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #onSocket(socket: Socket): void {
    const connection = this.sockets.push(socket) - 1;
    const script = [...(this.#scripts[connection] ?? [])];
    let text = '';
    socket.on('error', () => {});
    socket.on('end', () => socket.end());
    socket.on('data', (data) => {
      text += data.toString('latin1');
      for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
        this.#onRequest(text.slice(0, end), connection, socket, script);
        text = text.slice(end + 4);
      }
    });
  }

  #onRequest(head: string, connection: number, socket: Socket, script: Line[]): void {
    const [first = '', ...lines] = head.split('\r\n');
    if (first.startsWith('RTSP/')) {
      this.requests.push({ connection, method: first, uri: '', headers: new Map() });
      return;
    }
    const [method = '', uri = ''] = first.split(' ');
    const headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
      }),
    );
    const request = { connection, method, uri, headers };
    this.requests.push(request);
    const [expected, reaction] = script.shift() ?? ['nothing', 'close' as const];
    if (expected !== method) this.faults.push(`connection ${connection}: ${method} instead of ${expected}`);
    this.#react(typeof reaction === 'function' ? reaction(request) : reaction, request, socket);
  }

  #react(reaction: Reaction, request: SeenRequest, socket: Socket): void {
    const filled = (text: string): string =>
      text.replaceAll('{cseq}', request.headers.get('cseq') ?? '').replaceAll('{port}', String(this.port));
    if (reaction === 'close') socket.destroy();
    else if (reaction === 'silence') return;
    else if (typeof reaction === 'string') socket.write(filled(reaction), 'latin1');
    else if (Buffer.isBuffer(reaction)) socket.write(reaction);
    else if (reaction.manner === 'byte by byte') {
      // One write for each byte; the client may read several at once, which is the point of a stream.
      socket.setNoDelay(true);
      for (const byte of Buffer.from(filled(reaction.text), 'latin1')) socket.write(Buffer.from([byte]));
    } else {
      socket.end(filled(reaction.text), 'latin1');
      if (reaction.manner === 'then close') socket.on('finish', () => socket.destroySoon());
    }
  }
}
