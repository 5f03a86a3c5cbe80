import { randomBytes } from 'node:crypto';
import type { MonotonicMs } from '../../../base/clock.js';
import type { IceLite, Remote } from './ice-lite.js';
import type { MediaSocket } from './media-socket.js';
import type { TiedSocket } from './tied-socket.js';

/** A path that is silent for so long may be one that the viewer has left without a word. */
const LEFT_MS = 6_000;
/** A question is asked anew after this; the way there and back may take as long. */
const QUESTION_MS = 1_000;

type Question = { readonly transactionId: Buffer; readonly askedMs: MonotonicMs };

/**
 * Which of a viewer's addresses the handshake and media go to: the one that the handshake began from, until the
 * viewer moves. Where the handshake was done, datagrams arrive; any other address answers a question of ours first,
 * since media to an address that somebody else has written on a check would be an attack on it (RFC 8445 §19.5.1).
 */
export class ViewerPath {
  /** When the first check came; null: none did yet. */
  begunMs: MonotonicMs | null = null;
  /** When an authentic word last came along the path: the viewer's consent to be sent to (RFC 7675 §5.1). */
  heardMs: MonotonicMs;
  readonly #ice: IceLite;
  readonly #socket: MediaSocket;
  readonly #questions = new WeakMap<TiedSocket, Question>();

  constructor(ice: IceLite, socket: MediaSocket, nowMs: MonotonicMs) {
    this.#ice = ice;
    this.#socket = socket;
    this.heardMs = nowMs;
  }

  /** Answers a connectivity check. False: it isn't one that the viewer made. */
  onCheck(message: Buffer, from: Remote, nowMs: MonotonicMs): boolean {
    const check = this.#ice.check(message, from);
    if (check === null) return false;
    this.begunMs ??= nowMs;
    const tie = this.#socket.tie(from);
    tie.send(check.response);
    const { path } = this.#socket;
    if (tie === path) this.heardMs = nowMs;
    // Who doesn't say where media is to go again (aioice, pion) is followed once nothing comes from where it went.
    else if (path !== null && (check.isNominated || nowMs - this.heardMs > LEFT_MS)) this.#ask(tie, nowMs);
    return true;
  }

  /** Takes the answer to a question of ours. True: the path leads elsewhere from now on. */
  onAnswer(message: Buffer, tie: TiedSocket, nowMs: MonotonicMs): boolean {
    const question = this.#questions.get(tie);
    if (question === undefined || nowMs - question.askedMs > LEFT_MS) return false;
    if (!this.#ice.isAnswer(message, question.transactionId)) return false;
    this.#questions.delete(tie);
    this.#socket.choose(tie);
    this.heardMs = nowMs;
    return true;
  }

  /** Whether a datagram of the handshake is to be heard: all of it comes along one path. */
  takesHandshake(tie: TiedSocket, nowMs: MonotonicMs): boolean {
    if (this.#socket.path === null) {
      this.#socket.choose(tie);
      this.heardMs = nowMs;
    }
    return this.isPath(tie);
  }

  isPath(tie: TiedSocket): boolean {
    return this.#socket.path === tie;
  }

  #ask(tie: TiedSocket, nowMs: MonotonicMs): void {
    let question = this.#questions.get(tie);
    if (question === undefined || nowMs - question.askedMs > QUESTION_MS) {
      question = { transactionId: randomBytes(12), askedMs: nowMs };
      this.#questions.set(tie, question);
    }
    tie.send(this.#ice.question(question.transactionId));
  }
}
