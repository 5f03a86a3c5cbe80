import type { Clock, Timer } from '../../base/clock.js';
import { AppError } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { type KillableThread, startThread } from '../../base/thread-handle.js';
import type { ThreadRegister } from '../jobs/job-pool.js';
import type { AskerSetup, AskLimits, BoxAddress, FromAsker, ToAsker } from './messages.js';

export type BoxAnswer = Pick<Extract<FromAsker, { type: 'answer' }>, 'bytes' | 'content'>;

export type AskerThreadDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly threads: ThreadRegister;
  readonly onStale: (box: string, cameraId: string) => void;
};

/** Whoever asks other boxes. */
export type Asker = Pick<AskerThread, 'start' | 'stop' | 'tell' | 'ask'>;
export type SpawnAsker = (setup: AskerSetup, deps: AskerThreadDeps) => Asker;

type Question = { readonly resolve: (answer: BoxAnswer) => void; readonly reject: (fault: Error) => void };

const NAME = 'archive-boxes';
const STOP_TIMEOUT_MS = 2_000;
const RESTART_MS = 1_000;

/** The thread that asks other boxes (workers/archive-boxes.ts): started anew should it die. */
export class AskerThread {
  readonly #setup: AskerSetup;
  readonly #deps: AskerThreadDeps;
  readonly #questions = new Map<number, Question>();
  #thread: KillableThread<ToAsker> | null = null;
  #boxes: readonly BoxAddress[] = [];
  #nextId = 1;
  #forget: () => void = () => {};
  #restart: Timer | null = null;
  #isStopped = false;

  constructor(setup: AskerSetup, deps: AskerThreadDeps) {
    this.#setup = setup;
    this.#deps = deps;
  }

  start(): void {
    const entry = new URL('../../../workers/archive-boxes.js', import.meta.url);
    this.#thread = startThread<ToAsker, FromAsker>(
      { entry, name: NAME, workerData: this.#setup, stopTimeoutMs: STOP_TIMEOUT_MS },
      { onMessage: (message) => this.#onMessage(message), onLost: (reason) => this.#onLost(reason) },
    );
    this.#thread.send({ type: 'boxes', boxes: this.#boxes });
  }

  /** Those that are here from now on. */
  tell(boxes: readonly BoxAddress[]): void {
    this.#boxes = boxes;
    this.#thread?.send({ type: 'boxes', boxes });
  }

  /** Rejects with the code that the box says, or one of the relay's. */
  ask(box: string, question: Readonly<Record<string, unknown>>, limits: AskLimits): Promise<BoxAnswer> {
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      this.#questions.set(id, { resolve, reject });
      if (this.#thread === null) this.#giveUp();
      else this.#thread.send({ type: 'ask', id, box, question, limits });
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#restart?.cancel();
    await this.#thread?.stop();
    this.#thread = null;
    this.#forget();
    this.#giveUp();
  }

  #onMessage(message: FromAsker): void {
    if (message.type === 'thread') this.#forget = this.#deps.threads.add(NAME, message.stats);
    else if (message.type === 'stale') this.#deps.onStale(message.box, message.cameraId);
    else {
      const question = this.#questions.get(message.id);
      this.#questions.delete(message.id);
      const { fault, content, bytes } = message;
      if (fault === null) question?.resolve({ content, bytes });
      else question?.reject(new AppError(fault.code, fault.message));
    }
  }

  #onLost(reason: string): void {
    this.#thread = null;
    this.#forget();
    this.#forget = () => {};
    this.#giveUp();
    if (this.#isStopped) return;
    this.#deps.log.error('the thread that asks other boxes ended; another one begins', { reason });
    this.#restart = this.#deps.clock.after(RESTART_MS, () => this.start());
  }

  #giveUp(): void {
    for (const { reject } of this.#questions.values())
      reject(new AppError('relay_unreachable', 'nobody can be asked now'));
    this.#questions.clear();
  }
}

/** Nothing is started yet. */
export const spawnAsker: SpawnAsker = (setup, deps) => new AskerThread(setup, deps);
