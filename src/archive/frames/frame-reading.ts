import { gapMessage } from '../../wire/gap-message.js';
import { isGone } from '../archive-error.js';
import type { RecordingSource } from '../files/recording-source.js';
import { withLength } from './frame-writer.js';
import type { Gops } from './gops.js';
import { type FramesState, firstState, type ReadFramesInput, type ReadFramesOutput } from './read-frames.js';
import type { Step } from './selection.js';
import { STREAM } from './stream-config.js';

/** GOPs that a job is told of at once. */
const GOPS_A_JOB = 64;

export type FrameReadingOptions = {
  readonly steps: readonly Step[];
  readonly keysOnly: boolean;
  /** Nothing is wanted that is decoded after this moment; null: all is. */
  readonly untilMs: number | null;
};

export type FrameReadingDeps = {
  /** Runs the job `readFrames`, unless nobody wants it any more before it begins. */
  readonly run: (input: ReadFramesInput, signal: AbortSignal) => Promise<ReadFramesOutput>;
  /** Where a file is that was renamed, since it was closed meanwhile; null: it is gone. */
  readonly relocate: (source: RecordingSource) => Promise<RecordingSource | null>;
  /** Called once, when the reading is closed. */
  readonly onClose: () => void;
};

/** An answer on its way: messages, each behind its length, read batch by batch as they are wanted. Close it at the end. */
export class FrameReading {
  readonly #options: FrameReadingOptions;
  readonly #deps: FrameReadingDeps;
  #state: FramesState = firstState();
  readonly #closing = new AbortController();

  constructor(options: FrameReadingOptions, deps: FrameReadingDeps) {
    this.#options = options;
    this.#deps = deps;
  }

  /** The messages; the next batch is read while the last one is sent. To leave the loop over them ends the reading. */
  async *read(): AsyncGenerator<Buffer, void, undefined> {
    const batches = this.#batches();
    let ahead = batches.next();
    for (;;) {
      const { done, value } = await ahead;
      if (done === true) return;
      ahead = batches.next();
      // A reader that goes away leaves the batch that was read ahead, and what went wrong with it.
      ahead.catch(() => {});
      yield value;
    }
  }

  /** Nothing more is read. */
  close(): void {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    this.#deps.onClose();
  }

  async *#batches(): AsyncGenerator<Buffer, void, undefined> {
    for (const step of this.#options.steps) {
      if ('gap' in step) {
        const { startMs, endMs, reason } = step.gap;
        yield withLength(gapMessage(STREAM.video, startMs * 1000, endMs * 1000, reason));
      } else yield* this.#gopsOf(step.gops, step.numbers);
    }
  }

  async *#gopsOf(gops: Gops, numbers: readonly number[]): AsyncGenerator<Buffer, void, undefined> {
    const { keysOnly, untilMs } = this.#options;
    let { source } = gops;
    for (let first = 0; first < numbers.length; first += GOPS_A_JOB) {
      const told = numbers.slice(first, first + GOPS_A_JOB).map((number) => gops.at(number));
      this.#state = { ...this.#state, gop: 0, fragmentBytes: 0, skipSamples: 0 };
      for (let isOver = false; !isOver; ) {
        const wanted = { gops: told, originMs: gops.originMs, keysOnly, untilMs, state: this.#state };
        const found = await this.#run({ source, ...wanted }, (moved) => {
          source = moved;
        });
        const { buffer, byteOffset, length } = found.bytes;
        this.#state = found.state;
        isOver = found.isOver;
        if (length > 0) yield Buffer.from(buffer, byteOffset, length);
      }
    }
  }

  async #run(input: ReadFramesInput, onMoved: (source: RecordingSource) => void): Promise<ReadFramesOutput> {
    const { run, relocate } = this.#deps;
    const { signal } = this.#closing;
    signal.throwIfAborted();
    try {
      return await run(input, signal);
    } catch (fault) {
      const moved = isGone(fault) && input.source.isOpen ? await relocate(input.source) : null;
      if (moved === null) throw fault;
      onMoved(moved);
      return await run({ ...input, source: moved }, signal);
    }
  }
}
