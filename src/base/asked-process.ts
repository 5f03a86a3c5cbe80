import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Clock, Timer } from './clock.js';

export type AskedProcessOptions = {
  /** What it runs: a module that calls `answerParent`. */
  readonly entry: URL;
  /** One that hasn't answered by then hangs, and is ended. */
  readonly answerWithinMs: number;
  /** Where what it writes to its standard error goes. */
  readonly stderr: 'inherit' | 'ignore';
};

export type AskedProcessDeps = {
  readonly clock: Pick<Clock, 'after'>;
  /** It ended though nobody wanted that; whoever waits for an answer is told. */
  readonly onGone: (reason: string) => void;
};

/** In the place of an answer: the process ended before it gave one, or could not be started. */
export class Unanswered {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

type Asked<Answer> = { readonly settle: (outcome: Answer | Unanswered) => void; readonly deadline: Timer };

const STOP_WITHIN_MS = 2_000;
/** Of one that was killed, and waits for a disk that is gone. */
const GONE_WITHIN_MS = 1_000;

/** What programs need to be found and to run: nothing that is secret. */
const environment = (): NodeJS.ProcessEnv => {
  const { PATH, LD_LIBRARY_PATH } = process.env;
  return { ...(PATH && { PATH }), ...(LD_LIBRARY_PATH && { LD_LIBRARY_PATH }) };
};

/**
 * A process of our own that is asked, and may fall over what it is asked without anything else doing so. The first
 * question starts it, and it stays; when it has ended the next one starts another.
 */
export class AskedProcess<Question extends object, Answer extends object> {
  readonly #options: AskedProcessOptions;
  readonly #deps: AskedProcessDeps;
  readonly #asked = new Map<number, Asked<Answer>>();
  #child: ChildProcess | null = null;
  #lastId = 0;
  #isStopped = false;

  constructor(options: AskedProcessOptions, deps: AskedProcessDeps) {
    this.#options = options;
    this.#deps = deps;
  }

  /** Answers come in any order. `args`: what it is started with, if it has to be. Never rejects. */
  ask(question: Question, args: readonly string[]): Promise<Answer | Unanswered> {
    if (this.#isStopped) return Promise.resolve(new Unanswered('the service stops'));
    let child: ChildProcess;
    try {
      child = this.#started(args);
    } catch (fault) {
      return Promise.resolve(new Unanswered(String(fault)));
    }
    const id = ++this.#lastId;
    return new Promise((settle) => {
      const deadline = this.#deps.clock.after(this.#options.answerWithinMs, () => {
        child.kill('SIGKILL');
        // One that waits for a disk that is gone doesn't end by that.
        this.#onGone(child, 'it did not answer');
      });
      this.#asked.set(id, { settle, deadline });
      // Whether it can be sent or not: if not, the process is ending.
      child.send({ ...question, id }, () => {});
    });
  }

  /** Ends it, if it runs: the next question starts another. */
  restart(): void {
    this.#child?.kill('SIGKILL');
  }

  /** Ends it, and whatever it runs, for good. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const child = this.#child;
    if (child === null) return;
    await new Promise<void>((resolve) => {
      let deadline = this.#deps.clock.after(STOP_WITHIN_MS, () => {
        child.kill('SIGKILL');
        deadline = this.#deps.clock.after(GONE_WITHIN_MS, resolve);
      });
      child.once('exit', () => {
        deadline.cancel();
        resolve();
      });
      if (child.connected) child.disconnect();
    });
  }

  #started(args: readonly string[]): ChildProcess {
    if (this.#child !== null) return this.#child;
    const child = fork(fileURLToPath(this.#options.entry), args, {
      env: environment(),
      // None of ours: a debugger's port can't be had twice.
      execArgv: [],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', this.#options.stderr, 'ipc'],
    });
    this.#child = child;
    child.on('message', (answer: Answer & { readonly id: number }) => this.#onAnswer(answer));
    child.once('error', (fault) => this.#onGone(child, String(fault)));
    child.once('exit', (code, signal) => this.#onGone(child, `it ended with ${signal ?? code}`));
    return child;
  }

  #onAnswer({ id, ...answer }: Answer & { readonly id: number }): void {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    asked?.deadline.cancel();
    asked?.settle(answer as unknown as Answer);
  }

  #onGone(child: ChildProcess, reason: string): void {
    if (this.#child !== child) return;
    this.#child = null;
    if (!this.#isStopped) this.#deps.onGone(reason);
    for (const { settle, deadline } of this.#asked.values()) {
      deadline.cancel();
      settle(new Unanswered(reason));
    }
    this.#asked.clear();
  }
}

/** In such a process: hands it what it is asked, and ends it with its parent, however that ends. */
export const answerParent = <Question>(onQuestion: (question: Question) => void, onEnd: () => void): void => {
  // The parent ends it: a terminal or a service manager that means the whole group mustn't be faster.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  process.on('disconnect', () => {
    onEnd();
    process.exit(0);
  });
  process.on('message', onQuestion);
};

/** Says something to the parent; where that is gone, to nobody. */
export const tellParent = (message: object): void => void process.send?.(message, () => {});
