import type { Socket } from 'node:net';
import type { Clock, MonotonicMs } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { cseqOf, type RtspRequest } from '../../rtsp/message.js';
import { type RtspLimits, RtspParser, type RtspParserHandler } from '../../rtsp/parser.js';
import type { Pair } from '../../rtsp/transport-header.js';
import { type Answer, answerText } from './dialogue/answer.js';
import type { Dialogue } from './dialogue/dialogue.js';

/** Players' requests have some 300 bytes; a token in the address makes them 1 KB. */
const limits: RtspLimits = {
  lineBytes: 4_096,
  headBytes: 16_384,
  headerLines: 64,
  bodyBytes: 16_384,
  garbageBytes: 1_024,
};
/** Requests that wait for the answers of those before them. */
const MAX_WAITING = 32;
/** What a client doesn't take: answers alone before it has a session; then media, which has its own bound, far below. */
const MAX_PENDING_BYTES = { answers: 64 << 10, all: 8 << 20 };
/** One that takes nothing of what waits for it for so long has gone. */
const STALLED_MS = 30_000;
/** From the connection, or from its first byte, to a whole request. */
const REQUEST_TIMEOUT_MS = 10_000;
/** Without a session nothing keeps a connection open but requests. */
const IDLE_TIMEOUT_MS = 60_000;
/** What the client was told last may take so long to go out. */
const LINGER_MS = 5_000;

export type ClientConnectionDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly dialogue: (connection: ClientConnection) => Dialogue;
};

/** One client's connection: reads its requests, answers them in order, and holds it to its bounds. */
export class ClientConnection implements RtspParserHandler {
  readonly socket: Socket;
  readonly #deps: ClientConnectionDeps;
  readonly #dialogue: Dialogue;
  readonly #parser: RtspParser;
  readonly #waiting: RtspRequest[] = [];
  #isAnswering = false;
  #requests = 0;
  /** When the last whole request came, or the connection itself. */
  #requestMs: MonotonicMs;
  /** When a request began that isn't whole yet. */
  #begunMs: MonotonicMs | null;
  #endMs: number | null = null;
  #takenBytes = 0;
  /** When it last took something, or had nothing to take. */
  #takenMs: MonotonicMs;

  constructor(socket: Socket, deps: ClientConnectionDeps) {
    this.socket = socket;
    this.#deps = deps;
    this.#requestMs = deps.clock.monotonicMs();
    this.#begunMs = this.#requestMs;
    this.#takenMs = this.#requestMs;
    this.#dialogue = deps.dialogue(this);
    this.#parser = new RtspParser(this, { garbageBytes: 0, unknownChannelFrames: 0 }, limits);
    socket.on('data', (chunk: Buffer) => this.#onData(chunk));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      this.#parser.stop();
      this.#dialogue.close();
    });
  }

  onInterleaved(): void {
    // What players report is worth nothing here, since their connection says it better.
  }

  onResponse(): void {
    // Nothing is ever asked of a player.
  }

  onRequest(request: RtspRequest): void {
    this.#requests += 1;
    this.#requestMs = this.#deps.clock.monotonicMs();
    this.#begunMs = null;
    this.#waiting.push(request);
    if (this.#waiting.length > MAX_WAITING) this.socket.destroy();
    else if (!this.#isAnswering) void this.#answerAll();
  }

  /** Reports may come there: also behind stray bytes they are known for what they are. */
  expectFrames({ rtp, rtcp }: Pair): void {
    this.#parser.allowChannel(rtp);
    this.#parser.allowChannel(rtcp);
  }

  /** Ends it once what is written has gone out, or soon after that. */
  end(): void {
    if (this.#endMs !== null) return;
    this.#endMs = this.#deps.clock.monotonicMs() + LINGER_MS;
    this.#waiting.length = 0;
    this.#parser.stop();
    this.socket.end();
  }

  /** Holds the client to its bounds; once a second or so. */
  tick(nowMs: MonotonicMs): void {
    const isLate = this.#begunMs !== null && nowMs - this.#begunMs > REQUEST_TIMEOUT_MS;
    const isIdle = !this.#dialogue.hasSession && nowMs - this.#requestMs > IDLE_TIMEOUT_MS;
    const isOver = this.#endMs !== null && nowMs > this.#endMs;
    if (isLate || isIdle || isOver || this.#isStalled(nowMs)) this.socket.destroy();
  }

  #isStalled(nowMs: MonotonicMs): boolean {
    const { bytesWritten, writableLength } = this.socket;
    const takenBytes = bytesWritten - writableLength;
    if (writableLength === 0 || takenBytes !== this.#takenBytes) this.#takenMs = nowMs;
    this.#takenBytes = takenBytes;
    return nowMs - this.#takenMs > STALLED_MS;
  }

  #onData(chunk: Buffer): void {
    const { clock } = this.#deps;
    try {
      const requests = this.#requests;
      this.#parser.feed(chunk, 0, chunk.length);
      if (this.#requests === requests && !this.#dialogue.hasSession) this.#begunMs ??= clock.monotonicMs();
    } catch {
      this.#write({ status: 400 }, 0);
      this.end();
    }
  }

  async #answerAll(): Promise<void> {
    this.#isAnswering = true;
    try {
      for (let request = this.#waiting.shift(); request !== undefined; request = this.#waiting.shift()) {
        const answer = await this.#dialogue.answer(request);
        // Whoever's right to watch ended meanwhile gets nothing more begun.
        if (this.#endMs !== null) break;
        this.#write(answer, cseqOf(request.headers) ?? 0);
        answer.afterwards?.();
      }
    } catch (fault) {
      this.#deps.log.error('an RTSP request failed', { reason: messageOf(fault) });
      this.#write({ status: 500 }, 0);
      this.end();
    }
    this.#isAnswering = false;
  }

  #write(answer: Answer, cseq: number): void {
    if (!this.socket.writable) return;
    const { answers, all } = MAX_PENDING_BYTES;
    if (this.socket.writableLength > (this.#dialogue.hasSession ? all : answers)) this.socket.destroy();
    else this.socket.write(answerText(answer, cseq), 'utf8');
  }
}
