import { AskedProcess, Unanswered } from '../base/asked-process.js';
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/log.js';
import type { DecodeJob, DecodeOutcome } from './messages.js';

export type DecoderDeps = { readonly clock: Clock; readonly log: Logger };

const entry = new URL('../../workers/pictures.js', import.meta.url);
/** ffmpeg has 10 s. */
const ANSWER_WITHIN_MS = 15_000;

/**
 * The process that runs ffmpeg. It is a process of its own since starting one stops all of its parent while the parent's
 * memory is copied: with rings of gigabytes for a tenth of a second each. It is started by the first picture, and stays.
 */
export class DecoderProcess {
  readonly #ffmpegPath: string;
  readonly #process: AskedProcess<DecodeJob, DecodeOutcome>;

  constructor(ffmpegPath: string, { clock, log }: DecoderDeps) {
    this.#ffmpegPath = ffmpegPath;
    this.#process = new AskedProcess(
      { entry, answerWithinMs: ANSWER_WITHIN_MS, stderr: 'inherit' },
      { clock, onGone: (reason) => log.error('the process that decodes pictures is gone', { reason }) },
    );
  }

  /** Never rejects. */
  async decode(job: DecodeJob): Promise<DecodeOutcome> {
    const outcome = await this.#process.ask(job, [this.#ffmpegPath]);
    return outcome instanceof Unanswered ? { fault: 'unstartable', detail: outcome.reason } : outcome;
  }

  /** Ends the process, and whatever it runs. */
  stop(): Promise<void> {
    return this.#process.stop();
  }
}
