import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { AppError } from '../base/errors.js';
import type { LogEntry, LogRecord } from './log-entry.js';
import type { SealedText } from './sealed-text.js';

/** A change that is in the log: it was written behind `expected`. */
export type WrittenChange = {
  readonly expected: number;
  readonly changeId: string;
  readonly records: readonly LogRecord[];
};

type Row = readonly [key: string, text: string | null];

/** What each message says of itself before its rows. */
type Head = readonly [expected: number, changeId: string, index: number, isLast: boolean];

/** The newest change that is being told. */
type Held = {
  readonly expected: number;
  readonly changeId: string;
  readonly parts: Buffer[];
  bytes: number;
  isWhole: boolean;
};

const SEALED_AS = 'a change that is told';
/** Of the rows of one message, which are a tenth of it once they are deflated. */
const PART_CHARS = 500_000;
/** Of a change that is longer there is news alone. */
const MAX_CHARS = 2 ** 25;
const MAX_INFLATED_BYTES = 4 * MAX_CHARS;
/** Cameras differ in few places: more would take longer than it saves. */
const LEVEL = 1;
const HEAD_END = '\n';

/** That there is news: it is to be read. */
const NEWS = [Buffer.alloc(0)];

const isHead = (head: unknown): head is Head => {
  if (!Array.isArray(head)) return false;
  const [expected, changeId, index, isLast] = head as unknown[];
  const areNumbers = Number.isSafeInteger(expected) && Number.isSafeInteger(index);
  return areNumbers && typeof changeId === 'string' && typeof isLast === 'boolean';
};

const inParts = (records: readonly LogRecord[]): Row[][] | null => {
  const parts: Row[][] = [[]];
  let [chars, partChars] = [0, 0];
  for (const { key, text } of records) {
    const rowChars = key.length + (text?.length ?? 0);
    chars += rowChars;
    if (chars > MAX_CHARS) return null;
    if (partChars > 0 && partChars + rowChars > PART_CHARS) {
      parts.push([]);
      partChars = 0;
    }
    parts.at(-1)!.push([key, text]);
    partChars += rowChars;
  }
  return parts;
};

/** The messages by which others learn of a change without reading it; where it is too long, that there is one. */
export const toldParts = (sealed: SealedText, change: WrittenChange, maxBytes: number): Buffer[] => {
  const { expected, changeId, records } = change;
  const parts = inParts(records);
  if (parts === null) return NEWS;
  const messages = parts.map((rows, index) => {
    const head: Head = [expected, changeId, index, index === parts.length - 1];
    const body = deflateRawSync(JSON.stringify(rows), { level: LEVEL });
    return sealed.seal(SEALED_AS, Buffer.concat([Buffer.from(JSON.stringify(head) + HEAD_END), body]));
  });
  return messages.some(({ length }) => length > maxBytes) ? NEWS : messages;
};

/** What another box told of the newest change: messages that may be lost, played again, or somebody else's. */
export class ToldChange {
  readonly #sealed: SealedText;
  #held: Held | null = null;

  constructor(sealed: SealedText) {
    this.#sealed = sealed;
  }

  /** A message came. True: the rest of it is on its way. */
  take(message: Uint8Array): boolean {
    const opened = this.#opened(message);
    if (opened === null) return false;
    const [[expected, changeId, index, isLast], body] = opened;
    if (index === 0) this.#held = { expected, changeId, parts: [], bytes: 0, isWhole: false };
    const held = this.#held;
    if (held === null) return false;
    const isNext = held.changeId === changeId && held.parts.length === index && !held.isWhole;
    held.bytes += body.length;
    if (!isNext || held.bytes > MAX_INFLATED_BYTES) {
      this.#held = null;
      return false;
    }
    held.parts.push(body);
    held.isWhole = isLast;
    return !isLast;
  }

  /** What was written behind that sequence, if it was told, whole. */
  after(sequence: number): LogEntry[] | null {
    const held = this.#held;
    if (held === null || held.expected > sequence) return null;
    if (held.expected < sequence) {
      this.#held = null;
      return null;
    }
    if (!held.isWhole) return null;
    const { changeId } = held;
    try {
      const rows = held.parts.flatMap(rowsOf);
      return rows.map(([key, text], at) => ({ key, text, sequence: sequence + 1 + at, changeId }));
    } catch {
      // A box of another version says it in another way: it is read.
      this.#held = null;
      return null;
    }
  }

  #opened(message: Uint8Array): readonly [Head, Buffer] | null {
    if (message.length === 0) return null;
    try {
      const bytes = this.#sealed.openBytes(SEALED_AS, message);
      const end = bytes.indexOf(HEAD_END);
      const head: unknown = JSON.parse(bytes.toString('utf8', 0, Math.max(0, end)));
      return isHead(head) ? [head, bytes.subarray(end + 1)] : null;
    } catch (thrown) {
      if (thrown instanceof AppError || thrown instanceof SyntaxError) return null;
      throw thrown;
    }
  }
}

const isRow = (row: unknown): row is Row =>
  Array.isArray(row) && typeof row[0] === 'string' && (row[1] === null || typeof row[1] === 'string');

const rowsOf = (body: Buffer): Row[] => {
  const rows: unknown = JSON.parse(
    inflateRawSync(body, { maxOutputLength: MAX_INFLATED_BYTES }).toString('utf8'),
  );
  if (!Array.isArray(rows) || !rows.every(isRow)) throw new Error('these are no rows');
  return rows;
};
