import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Clock, Timer } from '../base/clock.js';
import type { Logger } from '../base/log.js';
import type { DecodeFault, DecodeJob, DecodeOutcome, FromDecoder, ToDecoder } from './messages.js';

export type DecoderDeps = { readonly clock: Clock; readonly log: Logger };

type Job = { readonly settle: (outcome: DecodeOutcome) => void; readonly deadline: Timer };

const entry = fileURLToPath(new URL('../../workers/pictures.js', import.meta.url));
/** ffmpeg has 10 s; a process that hasn't answered by now hangs itself. */
const ANSWER_WITHIN_MS = 15_000;
const STOP_WITHIN_MS = 2_000;

/** What ffmpeg needs to be found and to run: nothing that is secret. */
const environment = (): NodeJS.ProcessEnv => {
  const { PATH, LD_LIBRARY_PATH } = process.env;
  return { ...(PATH && { PATH }), ...(LD_LIBRARY_PATH && { LD_LIBRARY_PATH }) };
};

/**
 * The process that runs ffmpeg. It is a process of its own since starting one stops all of its parent while the parent's
 * memory is copied: with rings of gigabytes for a tenth of a second each. It is started by the first picture, and stays.
 */
export class DecoderProcess {
  readonly #ffmpegPath: string;
  readonly #deps: DecoderDeps;
  readonly #jobs = new Map<number, Job>();
  #child: ChildProcess | null = null;
  #lastId = 0;
  #isStopped = false;

  constructor(ffmpegPath: string, deps: DecoderDeps) {
    this.#ffmpegPath = ffmpegPath;
    this.#deps = deps;
  }

  /** Never rejects. */
  decode(job: DecodeJob): Promise<DecodeOutcome> {
    if (this.#isStopped) return Promise.resolve(unstartable('the service stops'));
    let child: ChildProcess;
    try {
      child = this.#started();
    } catch (fault) {
      return Promise.resolve(unstartable(String(fault)));
    }
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      const deadline = this.#deps.clock.after(ANSWER_WITHIN_MS, () => child.kill('SIGKILL'));
      this.#jobs.set(id, { settle: resolve, deadline });
      const message: ToDecoder = { id, ...job };
      // Whether it can be sent or not: if not, the process is ending.
      child.send(message, () => {});
    });
  }

  /** Ends the process, and whatever it runs. */
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

  #started(): ChildProcess {
    if (this.#child !== null) return this.#child;
    const child = fork(entry, [this.#ffmpegPath], {
      env: environment(),
      // None of ours: a debugger's port can't be had twice.
      execArgv: [],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#child = child;
    child.on('message', (answer: FromDecoder) => this.#onAnswer(answer));
    child.once('error', (fault) => this.#onGone(child, String(fault)));
    child.once('exit', (code, signal) => this.#onGone(child, `it ended with ${signal ?? code}`));
    return child;
  }

  #onAnswer({ id, ...outcome }: FromDecoder): void {
    const job = this.#jobs.get(id);
    this.#jobs.delete(id);
    job?.deadline.cancel();
    job?.settle(outcome);
  }

  /** The next picture starts another one. */
  #onGone(child: ChildProcess, reason: string): void {
    if (this.#child !== child) return;
    this.#child = null;
    if (!this.#isStopped) this.#deps.log.error('the process that decodes pictures is gone', { reason });
    for (const { settle, deadline } of this.#jobs.values()) {
      deadline.cancel();
      settle(unstartable(reason));
    }
    this.#jobs.clear();
  }
}

const unstartable = (detail: string): DecodeFault => ({ fault: 'unstartable', detail });
