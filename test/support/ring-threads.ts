import { once } from 'node:events';
import { type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { RingOptions } from '../../src/ring/capacity.js';
import type { RingReader } from '../../src/ring/reader.js';

/**
 * Words of the memory by which a test steers its threads: how often readers were overtaken, all together, and the last
 * are how many frames each of them got.
 */
export const control = { stop: 0, ready: 1, overruns: 2, firstReader: 3 } as const;

export type ProducerData = {
  readonly options: Partial<RingOptions>;
  readonly control: SharedArrayBuffer;
  /** Threads to wait for before the first frame. */
  readonly readers: number;
  readonly leastFrameBytes: number;
  readonly mostFrameBytes: number;
  readonly keyEvery: number;
  /** Frames of one long GOP at the start. */
  readonly longGopFrames?: number;
  /** Rests a millisecond after so many frames; 0: never. */
  readonly restEvery: number;
  /** Waits for readers that got so many frames less; without it they lose what they are too slow for. */
  readonly mostAheadFrames?: number;
  /** Ends after so many frames, if nobody stops it before. */
  readonly frames: number;
  /** But not before each reader got so many. */
  readonly leastDelivered?: number;
  readonly ports: readonly MessagePort[];
};

export type ConsumerData = {
  readonly ring: SharedArrayBuffer;
  readonly control: SharedArrayBuffer;
  /** Which of the readers this is. */
  readonly index: number;
  readonly port: MessagePort;
  /** Rests after each so many frames, for so long. */
  readonly restEvery: number;
  readonly restMs: number;
  /** The frame at once, the frame in place and long after `next`, or only what its slot says. */
  readonly takes: 'copy' | 'later' | 'numbers';
};

export type ConsumerReport = {
  readonly first: number;
  readonly last: number;
  readonly delivered: number;
  readonly dropped: number;
  readonly overruns: number;
  readonly torn: number;
  readonly mixed: number;
  readonly outOfOrder: number;
  readonly orphans: number;
  readonly moves: number;
};

const entry = (name: string): URL => new URL(`../threads/${name}.js`, import.meta.url);

/** Starts a thread's entry beside the tests. */
export const startThread = (name: string, workerData: object, transfer: MessagePort[] = []): Worker =>
  new Worker(entry(name), { workerData, transferList: transfer });

/** The next message of a thread; an error there is one here. */
export const messageOf = async <Message>(worker: Worker): Promise<Message> => {
  const [message] = (await once(worker, 'message')) as [Message];
  return message;
};

/** Lets a reader that never returns to its event loop see the newest ring. Returns how often it moved. */
export const moveIfTold = (reader: RingReader, port: MessagePort): number => {
  let moves = 0;
  for (let told = receiveMessageOnPort(port); told !== undefined; told = receiveMessageOnPort(port)) {
    reader.moveTo(told.message as SharedArrayBuffer);
    moves += 1;
  }
  return moves;
};

/** A frame that can be checked word by word: its number, its length, then the same word over and over. */
export class CheckedFrames {
  readonly #words: Int32Array;
  readonly bytes: Buffer;

  constructor(maxBytes: number) {
    this.#words = new Int32Array(Math.ceil(maxBytes / 4) + 1);
    this.bytes = Buffer.from(this.#words.buffer);
  }

  /** Fills `bytes` with frame `number`; returns its length, which is a multiple of 4. */
  make(number: number, leastBytes: number, mostBytes: number): number {
    const spread = Math.imul(number, 0x9e3779b1) >>> 0;
    const lengthBytes = (leastBytes + (spread % (mostBytes - leastBytes + 1))) & ~3;
    this.#words.fill(number, 0, lengthBytes / 4);
    this.#words[1] = lengthBytes;
    return lengthBytes;
  }

  /** The number of the frame that `bytes` holds after its 4-byte prefix, or -1 if it is torn. */
  check(lengthBytes: number): number {
    const words = this.#words;
    const end = lengthBytes / 4;
    const number = words[1] ?? -1;
    if (words[2] !== lengthBytes - 4 || this.bytes.readUInt32BE(0) !== lengthBytes - 4) return -1;
    for (let i = 3; i < end; i += 1) if (words[i] !== number) return -1;
    return number;
  }
}
