import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Clock, Timer } from '../base/clock.js';
import type { Logger } from '../base/log.js';
import type { DetectFault, DetectJob, DetectOutcome, FromEngine, ToEngine } from './messages.js';

export type EngineProcessDeps = { readonly clock: Clock; readonly log: Logger };

/** Finds what is in a keyframe. */
export type DetectEngine = {
  /** Never rejects. */
  detect(job: DetectJob, modelPath: string): Promise<DetectOutcome>;
  /** Decoders that were started in the place of others that died. */
  readonly decoderRestarts: number;
  stop(): Promise<void>;
};

type Job = { readonly settle: (outcome: DetectOutcome) => void; readonly deadline: Timer };

const entry = fileURLToPath(new URL('../../workers/detect.js', import.meta.url));
/** The first one loads the model. */
const ANSWER_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 2_000;

/** What ffmpeg and the network need to be found and to run: nothing that is secret. */
const environment = (): NodeJS.ProcessEnv => {
  const { PATH, LD_LIBRARY_PATH } = process.env;
  return { ...(PATH && { PATH }), ...(LD_LIBRARY_PATH && { LD_LIBRARY_PATH }) };
};

/**
 * The process in which objects are found. Networks are foreign files that run in foreign code, which takes gigabytes or
 * falls over for some of them: nothing but detection ends with it. It is started by the first keyframe, and stays.
 */
export class EngineProcess implements DetectEngine {
  readonly #ffmpegPath: string;
  readonly #deps: EngineProcessDeps;
  readonly #jobs = new Map<number, Job>();
  #child: ChildProcess | null = null;
  #lastId = 0;
  #isStopped = false;
  /** Of this process, and of those before. */
  #restarts = 0;
  #formerRestarts = 0;

  constructor(ffmpegPath: string, deps: EngineProcessDeps) {
    this.#ffmpegPath = ffmpegPath;
    this.#deps = deps;
  }

  get decoderRestarts(): number {
    return this.#formerRestarts + this.#restarts;
  }

  detect(job: DetectJob, modelPath: string): Promise<DetectOutcome> {
    if (this.#isStopped) return Promise.resolve(lost('the service stops'));
    let child: ChildProcess;
    try {
      child = this.#started(modelPath);
    } catch (fault) {
      return Promise.resolve(lost(String(fault)));
    }
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      const deadline = this.#deps.clock.after(ANSWER_WITHIN_MS, () => child.kill('SIGKILL'));
      this.#jobs.set(id, { settle: resolve, deadline });
      const message: ToEngine = { id, ...job };
      // Whether it can be sent or not: if not, the process is ending.
      child.send(message, () => {});
    });
  }

  /** Ends the process; the next keyframe starts another one, which reads the model anew. */
  restart(): void {
    this.#child?.kill('SIGKILL');
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    const child = this.#child;
    if (child === null) return;
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    const deadline = this.#deps.clock.after(STOP_WITHIN_MS, () => child.kill('SIGKILL'));
    if (child.connected) child.disconnect();
    await gone;
    deadline.cancel();
  }

  #started(modelPath: string): ChildProcess {
    if (this.#child !== null) return this.#child;
    const child = fork(entry, [this.#ffmpegPath, modelPath], {
      env: environment(),
      // None of ours: a debugger's port can't be had twice.
      execArgv: [],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#child = child;
    child.on('message', (answer: FromEngine) => this.#onAnswer(answer));
    child.once('error', (fault) => this.#onGone(child, String(fault)));
    child.once('exit', (code, signal) => this.#onGone(child, `it ended with ${signal ?? code}`));
    return child;
  }

  #onAnswer({ id, decoderRestarts, ...outcome }: FromEngine): void {
    this.#restarts = decoderRestarts;
    const job = this.#jobs.get(id);
    this.#jobs.delete(id);
    job?.deadline.cancel();
    job?.settle(outcome);
  }

  #onGone(child: ChildProcess, reason: string): void {
    if (this.#child !== child) return;
    this.#child = null;
    this.#formerRestarts += this.#restarts;
    this.#restarts = 0;
    if (!this.#isStopped) this.#deps.log.error('the process that detects objects is gone', { reason });
    for (const { settle, deadline } of this.#jobs.values()) {
      deadline.cancel();
      settle(lost(reason));
    }
    this.#jobs.clear();
  }
}

const lost = (detail: string): DetectFault => ({ fault: 'engine_lost', detail });
