import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { RtspResponse } from '../../src/rtsp/message.js';
import { RtspParser } from '../../src/rtsp/parser.js';

/** One answer on its way to the client: its lines without the last, empty one, and its body. */
export type EditableAnswer = { readonly head: readonly string[]; readonly body: string };

/** How an answer is changed; `cseq` is that of the request which it belongs to. */
export type AnswerEdit = (answer: EditableAnswer, cseq: number) => EditableAnswer;

const CHANNELS = 256;

/**
 * Stands between a client and an RTSP server that we did not write, and changes what it answers: so that a
 * foreign server speaks like a camera. Interleaved frames pass as they are; so do requests, as a rule.
 */
export class AnswerEditor {
  readonly port: number;
  /** Bytes that went to clients, over TCP. */
  sentBytes = 0;
  /** Requests that clients sent, by their first word, in order. */
  readonly methods: string[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
  }

  /** `editRequest` gets what the client sent, whole requests as a rule. */
  static async start(
    serverPort: number,
    edit: AnswerEdit,
    editRequest: (text: string) => string = (text) => text,
  ): Promise<AnswerEditor> {
    const server = createServer((client) => editor.#accept(client, serverPort, edit, editRequest));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const editor: AnswerEditor = new AnswerEditor(server, port);
    return editor;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #accept(client: Socket, serverPort: number, edit: AnswerEdit, editRequest: (text: string) => string): void {
    const server = connect(serverPort, '127.0.0.1');
    const send = (bytes: Buffer): void => {
      if (!client.writable) return;
      this.sentBytes += bytes.length;
      client.write(bytes);
    };
    const parser = answerParser(send, edit);
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroySoon();
      });
    }
    server.on('data', (chunk) => parser.feed(chunk, 0, chunk.length));
    client.on('data', (chunk) => {
      const text = chunk.toString('latin1');
      const method = /^[A-Z_]+(?= rtsps?:)/.exec(text)?.[0];
      if (method !== undefined) this.methods.push(method);
      server.write(editRequest(text), 'latin1');
    });
  }
}

const answerParser = (send: (bytes: Buffer) => void, edit: AnswerEdit): RtspParser => {
  const parser = new RtspParser(
    {
      onInterleaved: (channel, buffer, start, end) => {
        const header = Buffer.of(0x24, channel, (end - start) >> 8, (end - start) & 0xff);
        send(Buffer.concat([header, buffer.subarray(start, end)]));
      },
      onResponse: (response) => send(textOf(response, edit)),
      onRequest: () => undefined,
    },
    { garbageBytes: 0, unknownChannelFrames: 0 },
  );
  for (let channel = 0; channel < CHANNELS; channel += 1) parser.allowChannel(channel);
  return parser;
};

const passedOn = [
  'CSeq',
  'Public',
  'Content-Base',
  'Content-Type',
  'Transport',
  'Session',
  'Range',
  'RTP-Info',
];

const textOf = ({ status, reason, headers, body }: RtspResponse, edit: AnswerEdit): Buffer => {
  const named = passedOn.flatMap((name) => headers.all(name).map((value) => `${name}: ${value}`));
  const edited = edit(
    { head: [`RTSP/1.0 ${status} ${reason}`, ...named], body: body.toString('utf8') },
    Number(headers.get('cseq')),
  );
  const length = Buffer.byteLength(edited.body);
  const lines = length === 0 ? edited.head : [...edited.head, `Content-Length: ${length}`];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${edited.body}`);
};
