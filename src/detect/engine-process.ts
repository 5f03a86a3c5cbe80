import { AskedProcess, Unanswered } from '../base/asked-process.js';
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/log.js';
import type { DetectJob, DetectOutcome, EngineAnswer } from './messages.js';

export type EngineProcessDeps = { readonly clock: Clock; readonly log: Logger };

/** Finds what is in a keyframe. */
export type DetectEngine = {
  /** Never rejects. */
  detect(job: DetectJob, modelPath: string): Promise<DetectOutcome>;
  /** Decoders that were started in the place of others that died. */
  readonly decoderRestarts: number;
  stop(): Promise<void>;
};

const entry = new URL('../../workers/detect.js', import.meta.url);
/** The first one loads the model. */
const ANSWER_WITHIN_MS = 60_000;

/**
 * The process in which objects are found. Networks are foreign files that run in foreign code, which takes gigabytes or
 * falls over for some of them: nothing but detection ends with it. It is started by the first keyframe, and stays.
 */
export class EngineProcess implements DetectEngine {
  readonly #ffmpegPath: string;
  readonly #process: AskedProcess<DetectJob, EngineAnswer>;
  /** Of this process, and of those before. */
  #restarts = 0;
  #formerRestarts = 0;

  constructor(ffmpegPath: string, { clock, log }: EngineProcessDeps) {
    this.#ffmpegPath = ffmpegPath;
    const onGone = (reason: string): void => {
      this.#formerRestarts += this.#restarts;
      this.#restarts = 0;
      log.error('the process that detects objects is gone', { reason });
    };
    this.#process = new AskedProcess(
      { entry, answerWithinMs: ANSWER_WITHIN_MS, stderr: 'ignore' },
      { clock, onGone },
    );
  }

  get decoderRestarts(): number {
    return this.#formerRestarts + this.#restarts;
  }

  async detect(job: DetectJob, modelPath: string): Promise<DetectOutcome> {
    const answer = await this.#process.ask(job, [this.#ffmpegPath, modelPath]);
    if (answer instanceof Unanswered) return { fault: 'engine_lost', detail: answer.reason };
    const { decoderRestarts, ...outcome } = answer;
    this.#restarts = decoderRestarts;
    return outcome;
  }

  /** Ends the process; the next keyframe starts another one, which reads the model anew. */
  restart(): void {
    this.#process.restart();
  }

  stop(): Promise<void> {
    return this.#process.stop();
  }
}
