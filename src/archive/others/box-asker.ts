import type { Clock } from '../../base/clock.js';
import { AppError, messageOf } from '../../base/errors.js';
import type { Answer, StoreQuestion } from '../offsite/mailbox.js';
import { type RangeClient, RangeReader } from '../offsite/range-reader.js';
import { parseBoxObject } from './box-object.js';
import type { AskLimits, BoxAddress, FromAsker, ToAsker } from './messages.js';

/** Whoever can ask a box. Rejects with the code that it answers, or another one where it doesn't. */
export type AskBox = {
  ask(
    to: BoxAddress,
    question: Readonly<Record<string, unknown>>,
    limits: AskLimits,
  ): Promise<{ readonly content: Readonly<Record<string, unknown>>; readonly bytes: Buffer }>;
};

/** So long a job waits at most. */
const READ_MS = 9_000;
/** Of small pieces of each box's recordings. */
const MAX_CACHED_BYTES = 16 << 20;
/** What a box says of one recording, or that its link is thin; all else says that it can't be asked. */
const ANSWERS: ReadonlySet<string> = new Set([
  'not_found',
  'recording_changed',
  'archive_busy',
  'archive_unavailable',
  'relay_busy',
  'relay_slow',
  'bad_question',
  'bad_file_name',
]);

const late = (): Error => new AppError('relay_stalled', "the box doesn't answer in time");

const isAnswer = (fault: unknown, code: string): boolean => fault instanceof AppError && fault.code === code;

const outcomeOf: RangeClient['outcomeOf'] = (fault) => {
  if (isAnswer(fault, 'not_found')) return { outcome: 'gone', isAway: false };
  if (isAnswer(fault, 'recording_changed')) return { outcome: 'changed', isAway: false };
  return { outcome: 'away', isAway: !(fault instanceof AppError && ANSWERS.has(fault.code)) };
};

/** `box/…`: which box, and what of it. */
const partsOf = (object: string): { readonly box: string; readonly rest: string } => {
  const at = object.indexOf('/');
  return { box: object.slice(0, at), rest: object.slice(at + 1) };
};

/** Asks other boxes, for jobs that read their recordings, and for the main thread: what the thread that has the network does. */
export class BoxAsker {
  readonly #asks: AskBox;
  readonly #clock: Pick<Clock, 'after' | 'monotonicMs'>;
  readonly #send: (message: FromAsker, memory?: readonly ArrayBuffer[]) => void;
  /** Those that are here, by name. */
  #boxes: ReadonlyMap<string, BoxAddress> = new Map();
  readonly #readers = new Map<string, RangeReader>();

  constructor(
    asks: AskBox,
    deps: {
      readonly clock: Pick<Clock, 'after' | 'monotonicMs'>;
      readonly send: (message: FromAsker, memory?: readonly ArrayBuffer[]) => void;
    },
  ) {
    this.#asks = asks;
    this.#clock = deps.clock;
    this.#send = deps.send;
  }

  handle(message: Exclude<ToAsker, { type: 'stop' }>): void {
    if (message.type === 'ask') void this.#ask(message);
    else {
      this.#boxes = new Map(message.boxes.map((address) => [address.box, address]));
      for (const box of this.#readers.keys()) if (!this.#boxes.has(box)) this.#readers.delete(box);
    }
  }

  /** For a job: bytes of a recording. At once, where the box isn't here. */
  async read(question: StoreQuestion): Promise<Answer> {
    const { box } = partsOf(question.object);
    if (!this.#boxes.has(box)) return { outcome: 'away', bytes: null };
    const answer = await this.#readerOf(box).answer(question);
    const object = parseBoxObject(partsOf(question.object).rest);
    if ((answer.outcome === 'gone' || answer.outcome === 'changed') && object !== null)
      this.#send({ type: 'stale', box, cameraId: object.cameraId });
    return answer;
  }

  #readerOf(box: string): RangeReader {
    const known = this.#readers.get(box);
    if (known !== undefined) return known;
    const client: RangeClient = {
      read: (object, startByte, endByte) => this.#range(box, object, startByte, endByte),
      ...{ outcomeOf, late },
    };
    const reader = new RangeReader(client, this.#clock, () => {}, MAX_CACHED_BYTES);
    this.#readers.set(box, reader);
    return reader;
  }

  async #range(box: string, object: string, startByte: number, endByte: number): Promise<Buffer> {
    const to = this.#boxes.get(box);
    const wanted = parseBoxObject(partsOf(object).rest);
    if (to === undefined) throw new AppError('relay_unreachable', 'the box is away');
    if (wanted === null) throw new AppError('not_found', 'there is no such recording');
    const question = { what: 'read', ...wanted, startByte, endByte };
    const maxBytes = endByte - startByte;
    const { bytes } = await this.#asks.ask(to, question, { withinMs: READ_MS, inAllMs: READ_MS, maxBytes });
    if (bytes.length !== maxBytes) throw new AppError('recording_changed', 'it has less than it said');
    return bytes;
  }

  async #ask({ id, box, question, limits }: Extract<ToAsker, { type: 'ask' }>): Promise<void> {
    const nothing = { content: {}, bytes: new Uint8Array(0) };
    try {
      const to = this.#boxes.get(box);
      if (to === undefined) throw new AppError('relay_unreachable', `${box} is away`);
      const { content, bytes } = await this.#asks.ask(to, question, limits);
      // A buffer of its own, so that it can go along.
      const own = new Uint8Array(bytes);
      this.#send({ type: 'answer', id, fault: null, content, bytes: own }, [own.buffer]);
    } catch (thrown) {
      const code = thrown instanceof AppError ? thrown.code : 'internal_error';
      this.#send({ type: 'answer', id, fault: { code, message: messageOf(thrown) }, ...nothing });
    }
  }
}
