import type { TLSSocket } from 'node:tls';
import type { Clock, MonotonicMs } from '../../base/clock.js';
import { AppError, messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import type { AskAnswer } from '../messages.js';
import { relayError } from '../relay-error.js';
import { MAX_ASKED_BYTES, MAX_PIECE_BYTES, type TextType } from '../wire/format.js';
import { type WireHandler, WireReader } from '../wire/reader.js';
import { type Ask, readAsk } from '../wire/texts.js';
import { pieceHead, textMessage } from '../wire/write.js';

export type AskedDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly onAsk: (asked: Asked, ask: Ask) => void;
  /** Once. */
  readonly onEnded: (asked: Asked) => void;
};

/** A connection that nothing is asked by for so long is closed. */
const IDLE_MS = 60_000;
/** So long the other side may take none of an answer. */
const STUCK_MS = 15_000;

const nothing = Buffer.alloc(0);

/** A box that asks: one question at a time, so that what waits of an answer is one answer. */
export class Asked implements WireHandler {
  readonly #socket: TLSSocket;
  readonly #deps: AskedDeps;
  readonly #wire = new WireReader('asker', this);
  /** A question is being answered. */
  #isBusy = false;
  #isWriting = false;
  #bytes: Uint8Array = nothing;
  #sentBytes = 0;
  #movedMs: MonotonicMs;
  #isEnded = false;

  constructor(socket: TLSSocket, deps: AskedDeps) {
    this.#socket = socket;
    this.#deps = deps;
    this.#movedMs = deps.clock.monotonicMs();
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#onData(chunk));
    socket.on('error', () => this.end());
    socket.on('close', () => this.end());
  }

  /** Bytes of an answer that are yet to be written. */
  get waitingBytes(): number {
    return this.#bytes.length - this.#sentBytes;
  }

  onText(type: TextType, text: string): void {
    if (type !== 'ask' || this.#isBusy)
      throw relayError('relay_protocol', 'it says what it has no reason to say');
    const ask = readAsk(text);
    this.#isBusy = true;
    this.#deps.onAsk(this, ask);
  }

  onSeen(): void {
    throw relayError('relay_protocol', 'it was sent no frames');
  }

  onFrame(): void {}

  onBytes(): void {}

  onFrameEnd(): void {}

  answer({ fault, content, bytes }: AskAnswer): void {
    if (this.#isEnded || !this.#isBusy) return;
    let said = textMessage('answer', { bytes: bytes?.length ?? 0, fault, content });
    this.#bytes = bytes ?? nothing;
    if (said.length > MAX_ASKED_BYTES) {
      const tooLong = { code: 'internal_error', message: 'the answer is too long' };
      said = textMessage('answer', { bytes: 0, fault: tooLong, content: {} });
      this.#bytes = nothing;
    }
    this.#sentBytes = 0;
    this.#isWriting = true;
    this.#socket.write(said, this.#onWritten);
  }

  /** Every second. */
  tick(nowMs: MonotonicMs): void {
    const stillMs = nowMs - this.#movedMs;
    if (this.#isWriting ? stillMs > STUCK_MS : !this.#isBusy && stillMs > IDLE_MS) this.end();
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#bytes = nothing;
    this.#sentBytes = 0;
    this.#socket.destroy();
    this.#deps.onEnded(this);
  }

  readonly #onWritten = (): void => {
    if (this.#isEnded) return;
    this.#movedMs = this.#deps.clock.monotonicMs();
    const leftBytes = this.#bytes.length - this.#sentBytes;
    if (leftBytes === 0) {
      this.#isWriting = false;
      this.#isBusy = false;
      this.#bytes = nothing;
      this.#sentBytes = 0;
      return;
    }
    const pieceBytes = Math.min(leftBytes, MAX_PIECE_BYTES);
    const piece = this.#bytes.subarray(this.#sentBytes, this.#sentBytes + pieceBytes);
    this.#sentBytes += pieceBytes;
    this.#socket.write(pieceHead(pieceBytes));
    this.#socket.write(piece, this.#onWritten);
  };

  #onData(chunk: Buffer): void {
    if (this.#isEnded) return;
    this.#movedMs = this.#deps.clock.monotonicMs();
    try {
      this.#wire.feed(chunk, 0, chunk.length);
    } catch (fault) {
      const reason = messageOf(fault);
      if (!(fault instanceof AppError)) this.#deps.log.error('a box could not be answered', { reason });
      else this.#deps.log.warn('a box asks what can not be read', { reason });
      this.end();
    }
  }
}
