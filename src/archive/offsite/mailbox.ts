import { archiveError } from '../archive-error.js';

/** A range of an object that a job wants. */
export type StoreQuestion = {
  readonly object: string;
  /** How large it is. */
  readonly objectBytes: number;
  readonly startByte: number;
  readonly endByte: number;
};

/** What comes of it. */
export const OUTCOMES = ['read', 'gone', 'away', 'changed'] as const;
export type Outcome = (typeof OUTCOMES)[number];

const SLOTS = 8;
/** A piece of a recording as jobs read it, and somewhat more. */
export const MAX_ANSWER_BYTES = (1 << 20) + 64 * 1024;
const MAX_QUESTION_BYTES = 1_024;
/** A job may read several times, and has 15 s in all. */
const PATIENCE_MS = 10_000;

/** Words of the whole, and of each slot. */
const HEAD_WORDS = 2;
const BELL = 0;
const FREED = 1;
const SLOT_WORDS = 4;
const STATE = 0;
const LENGTH = 1;
const OUTCOME = 2;
const WORDS_BYTES = (HEAD_WORDS + SLOTS * SLOT_WORDS) * 4;
const SLOT_BYTES = MAX_QUESTION_BYTES + MAX_ANSWER_BYTES;

/** A slot goes through these, and back to the first; left: whoever asked waits no more. */
const FREE = 0;
const TAKEN = 1;
const ASKED = 2;
const ANSWERED = 3;
const LEFT = 4;

const wordAt = (slot: number, word: number): number => HEAD_WORDS + slot * SLOT_WORDS + word;

/** Memory by which threads that work synchronously ask one that has the network: a few questions at the same time. */
export const makeMailbox = (): SharedArrayBuffer => new SharedArrayBuffer(WORDS_BYTES + SLOTS * SLOT_BYTES);

const wordsOf = (memory: SharedArrayBuffer): Int32Array => new Int32Array(memory, 0, WORDS_BYTES / 4);

const bytesOf = (memory: SharedArrayBuffer, slot: number): { question: Buffer; answer: Buffer } => {
  const at = WORDS_BYTES + slot * SLOT_BYTES;
  return {
    question: Buffer.from(memory, at, MAX_QUESTION_BYTES),
    answer: Buffer.from(memory, at + MAX_QUESTION_BYTES, MAX_ANSWER_BYTES),
  };
};

const storeAway = () =>
  archiveError('store_unavailable', 'the store that has this recording can not be reached now', {
    retryAfterSec: 5,
  });

const takeSlot = (words: Int32Array, untilMs: number, away: () => Error): number => {
  for (;;) {
    const freed = Atomics.load(words, FREED);
    for (let slot = 0; slot < SLOTS; slot += 1)
      if (Atomics.compareExchange(words, wordAt(slot, STATE), FREE, TAKEN) === FREE) return slot;
    const leftMs = untilMs - performance.now();
    if (leftMs <= 0) throw away();
    Atomics.wait(words, FREED, freed, leftMs);
  }
};

const free = (words: Int32Array, slot: number): void => {
  Atomics.store(words, wordAt(slot, STATE), FREE);
  Atomics.add(words, FREED, 1);
  Atomics.notify(words, FREED);
};

/**
 * Fills `target` with bytes of an object, while this thread waits; no more than MAX_ANSWER_BYTES. Throws
 * what `away` says, `not_found`, or `recording_changed`.
 */
export const askStore = (
  memory: SharedArrayBuffer,
  question: StoreQuestion,
  target: Buffer,
  away: () => Error = storeAway,
): void => {
  const words = wordsOf(memory);
  const untilMs = performance.now() + PATIENCE_MS;
  const slot = takeSlot(words, untilMs, away);
  const bytes = bytesOf(memory, slot);
  const state = wordAt(slot, STATE);
  Atomics.store(words, wordAt(slot, LENGTH), bytes.question.write(JSON.stringify(question)));
  Atomics.store(words, state, ASKED);
  Atomics.add(words, BELL, 1);
  Atomics.notify(words, BELL);
  while (Atomics.load(words, state) === ASKED) {
    const leftMs = untilMs - performance.now();
    if (leftMs > 0) Atomics.wait(words, state, ASKED, leftMs);
    // The answer may come at this very moment.
    else if (Atomics.compareExchange(words, state, ASKED, LEFT) === ASKED) throw away();
  }
  const outcome = OUTCOMES[Atomics.load(words, wordAt(slot, OUTCOME))];
  const lengthBytes = Atomics.load(words, wordAt(slot, LENGTH));
  if (outcome === 'read') bytes.answer.copy(target, 0, 0, lengthBytes);
  free(words, slot);
  if (outcome === 'read' && lengthBytes === target.length) return;
  if (outcome === 'gone') throw archiveError('not_found', 'there is no such recording');
  if (outcome === 'changed') throw archiveError('recording_changed', 'the recording is not what it was');
  throw away();
};

export type Answer = { readonly outcome: Outcome; readonly bytes: Buffer | null };

/** The side that answers: `onQuestion` is called for each, several at the same time. */
export const serveMailbox = (
  memory: SharedArrayBuffer,
  onQuestion: (question: StoreQuestion) => Promise<Answer>,
): void => {
  const words = wordsOf(memory);
  const busy = new Set<number>();
  const answer = async (slot: number): Promise<void> => {
    const { question, answer: target } = bytesOf(memory, slot);
    const text = question.toString('utf8', 0, Atomics.load(words, wordAt(slot, LENGTH)));
    const { outcome, bytes } = await onQuestion(JSON.parse(text) as StoreQuestion);
    const state = wordAt(slot, STATE);
    Atomics.store(words, wordAt(slot, LENGTH), bytes?.copy(target) ?? 0);
    Atomics.store(words, wordAt(slot, OUTCOME), OUTCOMES.indexOf(outcome));
    busy.delete(slot);
    if (Atomics.compareExchange(words, state, ASKED, ANSWERED) === ASKED) Atomics.notify(words, state);
    else free(words, slot);
  };
  const look = (): void => {
    const bell = Atomics.load(words, BELL);
    for (let slot = 0; slot < SLOTS; slot += 1) {
      const state = Atomics.load(words, wordAt(slot, STATE));
      if (state !== ASKED || busy.has(slot)) continue;
      busy.add(slot);
      void answer(slot);
    }
    const wait = Atomics.waitAsync(words, BELL, bell);
    if (wait.async) void wait.value.then(look);
    else setImmediate(look);
  };
  // What a thread before this one was asked, and left.
  for (let slot = 0; slot < SLOTS; slot += 1)
    if (Atomics.compareExchange(words, wordAt(slot, STATE), LEFT, TAKEN) === LEFT) free(words, slot);
  look();
};
