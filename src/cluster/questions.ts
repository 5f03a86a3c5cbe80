import type { Msg, NatsConnection } from '@nats-io/transport-node';
import type { Clock } from '../base/clock.js';
import { AppError, messageOf } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import { MAX_BOXES } from './boxes/beat.js';
import type { BoxView } from './boxes/box-table.js';
import { clusterError } from './cluster-error.js';
import { keyName } from './key-names.js';
import type { NatsLink } from './nats-link.js';
import { RisingNumbers } from './rising-numbers.js';
import type { SealedText } from './sealed-text.js';

/** Answers one kind of questions; throws AppErrors, which whoever asks is told. */
export type Answerer = (content: unknown) => Promise<unknown>;

export type QuestionsDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly link: NatsLink;
  readonly sealed: SealedText;
  /** Who is here. */
  readonly boxes: () => readonly BoxView[];
};

type Fields = Readonly<Record<string, unknown>>;

const MAX_BYTES = 65_536;
/** So many are answered at a time. */
const MAX_AT_ONCE = 64;
/** Longer than a camera that is slow takes to answer. */
const PATIENCE_MS = 10_000;

const fieldsOf = (text: string): Fields => {
  const value: unknown = JSON.parse(text);
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
};

/** Which question an answer belongs to is sealed with it. */
const answerName = (boot: string, seq: number): string => `answer to ${boot} ${seq}`;

/**
 * Asks a certain box something, and answers what others ask: now and then, and what is short. Sealed as all between boxes is; and
 * what was overheard can't be asked once more: a question is for one start of one box, by one that is here, and their numbers rise.
 */
export class Questions {
  readonly #own: { readonly box: string; readonly boot: string };
  readonly #subject: string;
  readonly #deps: QuestionsDeps;
  readonly #answerers = new Map<string, Answerer>();
  /** Of each start of a box, the last number that it asked by. */
  readonly #heard = new Map<string, number>();
  readonly #numbers: RisingNumbers;
  #answering = 0;

  constructor(
    clusterName: string,
    own: { readonly box: string; readonly boot: string },
    deps: QuestionsDeps,
  ) {
    this.#own = own;
    this.#subject = `framering.${clusterName}.ask.`;
    this.#deps = deps;
    this.#numbers = new RisingNumbers(deps.clock);
  }

  /** What is asked under this name is answered so from now on. */
  answer(kind: string, answerer: Answerer): void {
    this.#answerers.set(kind, answerer);
  }

  /** To be called once for each new connection. */
  listen(connection: NatsConnection): void {
    const subject = this.#subject + keyName(this.#own.box).replaceAll('.', '=2e');
    connection.subscribe(subject, { callback: (_, message) => void this.#hear(message) });
  }

  /** Throws `box_unreachable`, or what the box throws. */
  async ask(box: string, kind: string, content: unknown): Promise<unknown> {
    const { link, sealed, boxes } = this.#deps;
    const { box: from, boot } = this.#own;
    const asked = boxes().find(({ name, isHere }) => name === box && isHere);
    const { connection } = link;
    if (asked === undefined || connection === null)
      throw clusterError('box_unreachable', `the box ${box} can't be asked: it isn't heard`);
    const seq = this.#numbers.next();
    const question = { from, boot, seq, to: box, toBoot: asked.boot, kind, content };
    let said: Fields;
    try {
      const subject = this.#subject + keyName(box).replaceAll('.', '=2e');
      const bytes = sealed.seal('question', JSON.stringify(question));
      const { data } = await connection.request(subject, bytes, { timeout: PATIENCE_MS });
      said = fieldsOf(sealed.open(answerName(boot, seq), data));
    } catch (fault) {
      throw clusterError('box_unreachable', `the box ${box} doesn't answer: ${messageOf(fault)}`, fault);
    }
    const { code, message } = said;
    if (typeof code === 'string') throw new AppError(code, String(message));
    return said['content'];
  }

  async #hear(message: Msg): Promise<void> {
    const { sealed, log } = this.#deps;
    if (message.data.length > MAX_BYTES || this.#answering >= MAX_AT_ONCE) return;
    let question: Fields;
    try {
      question = fieldsOf(sealed.open('question', message.data));
    } catch {
      // Of another key: the pulse tells of those.
      return;
    }
    const { boot, seq, kind, content } = question;
    if (!this.#isNew(question)) return;
    this.#answering += 1;
    let answer: unknown;
    try {
      const answerer = this.#answerers.get(String(kind));
      if (answerer === undefined)
        throw clusterError(
          'box_unreachable',
          `the box ${this.#own.box} is of a version that doesn't know that`,
        );
      answer = { content: await answerer(content) };
    } catch (fault) {
      const isTold = fault instanceof AppError;
      if (!isTold) log.error('a question of another box failed inside', { reason: messageOf(fault) });
      answer = isTold
        ? { code: fault.code, message: fault.message }
        : { code: 'internal_error', message: `the box ${this.#own.box} failed` };
    } finally {
      this.#answering -= 1;
    }
    message.respond(sealed.seal(answerName(String(boot), Number(seq)), JSON.stringify(answer)));
  }

  #isNew({ from, boot, seq, to, toBoot }: Fields): boolean {
    const { boxes } = this.#deps;
    if (to !== this.#own.box || toBoot !== this.#own.boot) return false;
    if (typeof boot !== 'string' || typeof seq !== 'number' || !Number.isSafeInteger(seq)) return false;
    const here = boxes().filter(({ isHere }) => isHere);
    if (!here.some((box) => box.name === from && box.boot === boot)) return false;
    if (seq <= (this.#heard.get(boot) ?? -1)) return false;
    this.#heard.set(boot, seq);
    if (this.#heard.size > MAX_BOXES)
      for (const past of this.#heard.keys())
        if (!here.some((box) => box.boot === past)) this.#heard.delete(past);
    return true;
  }
}
