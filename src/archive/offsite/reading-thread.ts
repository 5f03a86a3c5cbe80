import type { Clock, Timer } from '../../base/clock.js';
import type { Logger } from '../../base/log.js';
import type { S3Address } from '../../base/s3-address.js';
import { type KillableThread, startThread } from '../../base/thread-handle.js';
import type { ThreadRegister } from '../jobs/job-pool.js';

/** What the thread that reads in the store is started with. */
export type ReaderSetup = {
  readonly address: S3Address;
  readonly ca: Buffer | null;
  readonly mailbox: SharedArrayBuffer;
};

export type ReadingThreadDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly threads: ThreadRegister;
  readonly onAway: () => void;
  readonly onGone: (cameraId: string) => void;
};

export type FromReader =
  | { readonly type: 'thread'; readonly stats: SharedArrayBuffer }
  /** The store didn't answer: every few seconds at most. */
  | { readonly type: 'away' }
  /** It hasn't what is known to be there of a camera. */
  | { readonly type: 'gone'; readonly cameraId: string };

const NAME = 'archive-store-reader';
const STOP_TIMEOUT_MS = 2_000;
const RESTART_MS = 1_000;

/** The thread that reads in the store for those who play recordings: started anew should it die. */
export class ReadingThread {
  readonly #setup: ReaderSetup;
  readonly #deps: ReadingThreadDeps;
  #thread: KillableThread<{ readonly type: 'stop' }> | null = null;
  #forget: () => void = () => {};
  #restart: Timer | null = null;
  #isStopped = false;

  constructor(setup: ReaderSetup, deps: ReadingThreadDeps) {
    this.#setup = setup;
    this.#deps = deps;
  }

  start(): void {
    const entry = new URL('../../../workers/archive-store-reader.js', import.meta.url);
    this.#thread = startThread(
      { entry, name: NAME, workerData: this.#setup, stopTimeoutMs: STOP_TIMEOUT_MS },
      {
        onMessage: (message: FromReader) => {
          if (message.type === 'away') this.#deps.onAway();
          else if (message.type === 'gone') this.#deps.onGone(message.cameraId);
          else this.#forget = this.#deps.threads.add(NAME, message.stats);
        },
        onLost: (reason) => {
          this.#forget();
          this.#forget = () => {};
          if (this.#isStopped) return;
          this.#deps.log.error('the thread that reads in the store ended; another one begins', { reason });
          this.#restart = this.#deps.clock.after(RESTART_MS, () => this.start());
        },
      },
    );
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#restart?.cancel();
    await this.#thread?.stop();
    this.#forget();
  }
}
