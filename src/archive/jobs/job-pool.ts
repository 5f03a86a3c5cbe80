import { Piscina } from 'piscina';
import type { Clock, Timer } from '../../base/clock.js';
import { AppError } from '../../base/errors.js';
import { archiveError } from '../archive-error.js';
import type { JobOutcome } from '../files/job-result.js';
import type { JobInput, JobName, JobOutput, JobRequest, JobRunner } from './jobs.js';

export type JobPoolOptions = {
  readonly threads: number;
  /** Those of them that are there from the start and stay: the first job needn't wait for one. Else none. */
  readonly lastingThreads?: number;
  /** Jobs that may wait for a thread; one more is refused. */
  readonly maxWaiting: number;
  /** From the call to the answer; null: whoever calls can wait. */
  readonly patienceMs: number | null;
  /** From the moment that a thread takes the job. */
  readonly deadlineMs: number;
};

/** For what viewers wait for. */
export const FOREGROUND: JobPoolOptions = {
  threads: 2,
  lastingThreads: 1,
  maxWaiting: 64,
  patienceMs: 15_000,
  deadlineMs: 15_000,
};

/** For recovery and for retention, a pool each: time for a whole file on a slow disk, however many are before it. */
export const BACKGROUND: JobPoolOptions = {
  threads: 1,
  maxWaiting: 64,
  patienceMs: null,
  deadlineMs: 600_000,
};

/** For lists of other boxes: each box's have turns of their own (others/kept-lists.ts), and there may be many boxes. */
export const LISTS: JobPoolOptions = { ...BACKGROUND, maxWaiting: 4_096 };

/** For what viewers wait for that the disk has no more: these threads wait for the network. */
export const STORED: JobPoolOptions = { ...FOREGROUND, threads: 4, lastingThreads: 0 };

/** For what other boxes ask: whoever watches here has his own. */
export const ASKED: JobPoolOptions = { ...FOREGROUND, lastingThreads: 0 };

/** Counts the threads of the process; the function returned is called when the thread has ended. */
export type ThreadRegister = { add(name: string, figures: SharedArrayBuffer | null): () => void };

export type JobPoolDeps = {
  readonly clock: Clock;
  readonly threads?: ThreadRegister;
  /** Why nothing may be done now; null: it may. Asked at the call, and again when a thread is free. */
  readonly whyNot?: () => string | null;
  /** The module that the threads run; a test has one that hangs. */
  readonly entry?: URL;
};

type Job = {
  readonly request: JobRequest;
  readonly memory: readonly ArrayBuffer[];
  readonly resolve: (value: unknown) => void;
  readonly reject: (fault: unknown) => void;
  patience: Timer | null;
  deadline: Timer | null;
};

/** A thread costs some 5 MB; it starts within 50 ms when it is wanted again. */
const IDLE_MS = 30_000;
const STOP_TIMEOUT_MS = 2_000;

/**
 * Piscina asks `require` for the entry before it imports it, and Node aborts the whole process if a thread is
 * terminated while `require` links a module. Where `require` refuses modules, the entry is imported.
 */
const NO_REQUIRE_OF_MODULES = '--no-experimental-require-module';

const faultOf = (outcome: Extract<JobOutcome, { isDone: false }>): Error => {
  const { code, isOurs, message, details } = outcome;
  if (isOurs) return new AppError(code, message, { details });
  if (code === '') return new Error(message);
  return archiveError('archive_unavailable', `the archive's disk fails (${code})`, { reason: message });
};

/**
 * Runs jobs in a few threads of their own, so that a disk that hangs holds these and nothing else: not the main
 * thread, nor the pool that names, passwords and other files need. A job past its deadline is given up by whoever
 * waits, but keeps its thread until the system call returns: killing the thread could not end that, and each one
 * started in its place would hang as well.
 */
export class JobPool implements JobRunner {
  readonly #options: JobPoolOptions;
  readonly #clock: Clock;
  readonly #pool: Piscina;
  readonly #whyNot: () => string | null;
  readonly #waiting: Job[] = [];
  /** What to call when a thread has ended, by its id. */
  readonly #ends = new Map<number, () => void>();
  #running = 0;
  #stopping: Promise<boolean> | null = null;

  constructor(options: JobPoolOptions, deps: JobPoolDeps) {
    this.#options = options;
    this.#clock = deps.clock;
    this.#whyNot = deps.whyNot ?? (() => null);
    this.#pool = new Piscina({
      filename: (deps.entry ?? new URL('../../../workers/tasks.js', import.meta.url)).href,
      name: 'runTask',
      minThreads: options.lastingThreads ?? 0,
      maxThreads: options.threads,
      idleTimeout: IDLE_MS,
      recordTiming: false,
      // Of the process's own options just that: Node starts no thread that is given one of V8's.
      execArgv: [
        ...process.execArgv.filter((option) => option === '--enable-source-maps'),
        NO_REQUIRE_OF_MODULES,
      ],
    });
    // A thread that dies without a job has nobody to tell; the next job gets a new one.
    this.#pool.on('error', () => {});
    const { threads } = deps;
    if (threads === undefined) return;
    // A thread that ends is still in the pool's list while it says so.
    const recount = (): void => queueMicrotask(() => this.#count(threads));
    this.#pool.on('workerCreate', recount).on('workerDestroy', recount);
  }

  /** Rejects with `archive_busy` if too many wait, with `archive_unavailable` past the deadline or on a disk fault. */
  run<Name extends JobName>(
    name: Name,
    input: JobInput<Name>,
    memory: readonly ArrayBuffer[] = [],
  ): Promise<JobOutput<Name>> {
    if (this.#stopping !== null) {
      return Promise.reject(archiveError('archive_unavailable', 'the service is stopping'));
    }
    const refusal = this.#refusal();
    if (refusal !== null) return Promise.reject(refusal);
    const { threads, maxWaiting, patienceMs } = this.#options;
    if (this.#running >= threads && this.#waiting.length >= maxWaiting) {
      return Promise.reject(archiveError('archive_busy', 'the archive has too much to do; try again'));
    }
    return new Promise<JobOutput<Name>>((resolve, reject) => {
      const job: Job = {
        request: { name, input },
        memory,
        resolve: resolve as (value: unknown) => void,
        reject,
        patience: null,
        deadline: null,
      };
      if (patienceMs !== null) job.patience = this.#clock.after(patienceMs, () => this.#giveUp(job));
      this.#waiting.push(job);
      this.#next();
    });
  }

  /** Ends the threads. False: one of them hangs in a system call; process.exit would wait for it for ever. */
  stop(): Promise<boolean> {
    this.#stopping ??= this.#stopOnce();
    return this.#stopping;
  }

  async #stopOnce(): Promise<boolean> {
    for (const job of this.#waiting.splice(0)) {
      job.patience?.cancel();
      job.reject(archiveError('archive_unavailable', 'the service is stopping'));
    }
    let timer: Timer | null = null;
    const late = new Promise<boolean>((resolve) => {
      timer = this.#clock.after(STOP_TIMEOUT_MS, () => resolve(false));
    });
    const isEnded = await Promise.race([this.#pool.destroy().then(() => true), late]);
    (timer as Timer | null)?.cancel();
    return isEnded;
  }

  #count(register: ThreadRegister): void {
    const ids = new Set(this.#pool.threads.map(({ threadId }) => threadId));
    for (const [id, end] of this.#ends) {
      if (ids.has(id)) continue;
      end();
      this.#ends.delete(id);
    }
    for (const id of ids) {
      if (!this.#ends.has(id)) this.#ends.set(id, register.add('archive', null));
    }
  }

  #giveUp(job: Job): void {
    const at = this.#waiting.indexOf(job);
    if (at >= 0) this.#waiting.splice(at, 1);
    job.reject(archiveError('archive_unavailable', "the archive's disk doesn't answer in time"));
  }

  #refusal(): Error | null {
    const why = this.#whyNot();
    return why === null ? null : archiveError('archive_unavailable', `there are no recordings now: ${why}`);
  }

  #next(): void {
    while (this.#stopping === null && this.#running < this.#options.threads) {
      const job = this.#waiting.shift();
      if (job === undefined) return;
      const refusal = this.#refusal();
      if (refusal !== null) {
        job.patience?.cancel();
        job.reject(refusal);
        continue;
      }
      this.#running += 1;
      void this.#run(job);
    }
  }

  async #run(job: Job): Promise<void> {
    job.deadline = this.#clock.after(this.#options.deadlineMs, () => this.#giveUp(job));
    try {
      const outcome = (await this.#pool.run(job.request, { transferList: [...job.memory] })) as JobOutcome;
      if (outcome.isDone) job.resolve(outcome.value);
      else job.reject(faultOf(outcome));
    } catch (fault) {
      // The thread died, or is being stopped.
      job.reject(
        archiveError('archive_unavailable', 'the work on the archive was cut off', { reason: String(fault) }),
      );
    } finally {
      job.patience?.cancel();
      job.deadline.cancel();
      this.#running -= 1;
      this.#next();
    }
  }
}
