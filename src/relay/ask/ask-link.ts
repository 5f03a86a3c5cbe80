import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { AppError } from '../../base/errors.js';
import type { OtherBox } from '../receive/pull.js';
import { relayError } from '../relay-error.js';
import { ASKING } from '../shared-key-tls.js';
import type { TextType } from '../wire/format.js';
import { type WireHandler, WireReader } from '../wire/reader.js';
import { type Answered, type Fields, readAnswer } from '../wire/texts.js';
import { textMessage } from '../wire/write.js';

/** What another box answers. */
export type BoxAnswer = { readonly content: Fields; readonly bytes: Buffer };

type Asking = {
  readonly maxBytes: number;
  /** Some of the answer is here. */
  readonly onMoved: () => void;
};

type Waiting = Asking & {
  readonly resolve: (answer: BoxAnswer) => void;
  readonly reject: (fault: Error) => void;
  answered: Answered | null;
  bytes: Buffer;
  filled: number;
};

const nothing = Buffer.alloc(0);

/** A connection by which one question after the other is asked. Whatever the other side sends ends this one, and nothing else. */
export class AskLink implements WireHandler {
  readonly #socket: TLSSocket;
  readonly #to: string;
  readonly #where: string;
  readonly #wire = new WireReader('answerer', this);
  readonly #onEnded: () => void;
  #waiting: Waiting | null = null;
  #fault: Error | null = null;

  constructor(to: OtherBox, tls: ConnectionOptions, onEnded: () => void) {
    this.#to = to.box;
    this.#where = `${to.box} at ${to.host}:${to.port}`;
    this.#onEnded = onEnded;
    const { host, port } = to;
    const socket = connect({ ...tls, host, port, ALPNProtocols: [ASKING] }, () => {
      if (socket.alpnProtocol !== ASKING)
        this.end(relayError('relay_version', `${this.#where} can't be asked: it is of an older version`));
    });
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#onData(chunk));
    socket.on('error', ({ message }) => this.end(this.#unreachable(message)));
    socket.on('close', () => this.end(this.#unreachable('it closed the connection')));
  }

  get isOpen(): boolean {
    return this.#fault === null;
  }

  /** It has begun to answer, and isn't at the end. */
  get isAnswering(): boolean {
    return this.#waiting !== null && this.#waiting.answered !== null;
  }

  /** Rejects with the code that the other side says, or one of the relay's. Only when the last one is answered. */
  ask(box: string, question: Fields, asking: Asking): Promise<BoxAnswer> {
    if (this.#fault !== null) return Promise.reject(this.#fault);
    return new Promise((resolve, reject) => {
      this.#waiting = { ...asking, resolve, reject, answered: null, bytes: nothing, filled: 0 };
      this.#socket.write(textMessage('ask', { box, to: this.#to, question }));
    });
  }

  end(fault: Error): void {
    if (this.#fault !== null) return;
    this.#fault = fault;
    this.#socket.destroy();
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.reject(fault);
    this.#onEnded();
  }

  onText(type: TextType, text: string): void {
    const waiting = this.#waiting;
    if (type !== 'answer' || waiting === null || waiting.answered !== null)
      throw relayError('relay_protocol', `${this.#where} says what it was not asked`);
    waiting.answered = readAnswer(text, waiting.maxBytes);
    waiting.bytes = Buffer.allocUnsafe(waiting.answered.bytes);
    this.#finish(waiting);
  }

  onSeen(): void {
    throw relayError('relay_protocol', `${this.#where} has seen what was not sent`);
  }

  onFrame(): void {
    throw relayError('relay_protocol', `${this.#where} sends frames`);
  }

  onBytes(source: Buffer, start: number, end: number): void {
    const waiting = this.#waiting;
    if (waiting === null || waiting.answered === null || waiting.filled + end - start > waiting.bytes.length)
      throw relayError('relay_protocol', `${this.#where} sends more than it said`);
    waiting.filled += source.copy(waiting.bytes, waiting.filled, start, end);
  }

  onFrameEnd(): void {
    if (this.#waiting !== null) this.#finish(this.#waiting);
  }

  #finish({ answered, bytes, filled, resolve, reject }: Waiting): void {
    if (answered === null || filled < bytes.length) return;
    this.#waiting = null;
    const { fault, content } = answered;
    if (fault === null) resolve({ content, bytes });
    else reject(new AppError(fault.code, fault.message));
  }

  #onData(chunk: Buffer): void {
    if (this.#fault !== null) return;
    try {
      this.#wire.feed(chunk, 0, chunk.length);
      this.#waiting?.onMoved();
    } catch (fault) {
      this.end(fault instanceof Error ? fault : new Error(String(fault)));
    }
  }

  #unreachable(why: string): Error {
    return relayError('relay_unreachable', `${this.#where} can't be reached: ${why}`);
  }
}
