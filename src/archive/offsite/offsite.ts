import type { Clock, Timer } from '../../base/clock.js';
import type { Logger } from '../../base/log.js';
import { type KillableThread, startThread, type ThreadEvents } from '../../base/thread-handle.js';
import { archiveError } from '../archive-error.js';
import type { ThreadRegister } from '../jobs/job-pool.js';
import { copiesPath, otherBoxes, otherDir } from './copies-file.js';
import { makeMailbox } from './mailbox.js';
import type {
  CopierSetup,
  CopyExpiry,
  CopyState,
  FromCopier,
  Held,
  Partly,
  ToCopier,
  Unwanted,
} from './messages.js';
import { ReadingThread } from './reading-thread.js';

export type CopierThread = KillableThread<ToCopier>;

export type SpawnCopier = (setup: CopierSetup, events: ThreadEvents<FromCopier>) => CopierThread;

export type OffsiteDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly spawn: SpawnCopier;
  readonly threads: ThreadRegister;
  /** Of which recordings it isn't decided yet whether they stay; read anew every few seconds. */
  readonly held: () => Held;
  /** By which claim its camera was held when a recording began. */
  readonly epochAt: (cameraId: string, startMs: number) => number;
};

/** What deletes recordings has to tell of it. */
export type Copies = Pick<Offsite, 'expire' | 'forget' | 'keeps' | 'localDays' | 'pathOf' | 'replace'>;

const NAME = 'archive-copier';
const STOP_TIMEOUT_MS = 5_000;
const HELD_MS = 10_000;
/** A thread that died is started again after this; one that can't even begin after twice as long each time. */
const RESTART_MS = 5_000;
const LONGEST_RESTART_MS = 300_000;
/** The disk that it writes to may be slow. */
const ANSWER_MS = 15_000;

/** Starts workers/archive-copier.ts in a thread of its own. */
export const spawnCopier: SpawnCopier = (setup, events) => {
  const entry = new URL('../../../workers/archive-copier.js', import.meta.url);
  return startThread({ entry, name: NAME, workerData: setup, stopTimeoutMs: STOP_TIMEOUT_MS }, events);
};

type Question = { readonly answer: (count: number | null) => void; readonly timer: Timer };

/** The main thread's side of copying recordings into a store. */
export class Offsite {
  /** After how many days recordings leave the disk that are in the store; null: they stay as long as there is room. */
  readonly localDays: number | null;
  /** By which jobs ask for what is in the store. */
  readonly mailbox = makeMailbox();
  readonly #setup: CopierSetup;
  readonly #deps: OffsiteDeps;
  readonly #reading: ReadingThread;
  readonly #questions = new Map<number, Question>();
  #thread: CopierThread | null = null;
  #state: CopyState | null = null;
  /** What the threads before did. */
  #before = { copied: 0, copiedBytes: 0, deleted: 0, failed: 0 };
  #forgetThread: () => void = () => {};
  #nextId = 1;
  #timer: Timer | null = null;
  #restart: Timer | null = null;
  #restartMs = RESTART_MS;
  /** Nothing was heard of the thread since it began. */
  #isLost = true;
  #isStopped = false;
  /** By what was written before this start. */
  readonly #otherBoxes: readonly string[];

  constructor(setup: CopierSetup, localDays: number | null, deps: OffsiteDeps) {
    this.#setup = setup;
    this.#deps = deps;
    this.localDays = localDays;
    this.#otherBoxes = otherBoxes(setup.copiesDir);
    const { address, ca } = setup;
    const onAway = (): void => this.#thread?.send({ type: 'doubt' });
    const onGone = (cameraId: string): void => this.#thread?.send({ type: 'relist', cameraId });
    const setUp = { address, ca, mailbox: this.mailbox };
    this.#reading = new ReadingThread(setUp, { ...deps, onAway, onGone });
  }

  /** As far as it was heard; null: nothing was yet. */
  get state(): CopyState | null {
    return this.#state;
  }

  /** Why nothing is copied now; null: it is. */
  get fault(): string | null {
    if (this.#isLost) return 'the thread that copies does not answer';
    return this.#state?.fault ?? null;
  }

  /** Why nothing is deleted there now; null: it is. */
  get deletionFault(): string | null {
    return this.#state?.deletionFault ?? null;
  }

  /** Whether the store did what it was asked last. */
  get isUp(): boolean {
    return !this.#isLost && this.#state?.isUp === true;
  }

  /** The store can't be reached, as far as that is known. */
  get isAway(): boolean {
    return this.#state?.isAway === true;
  }

  start(): void {
    this.#timer = this.#deps.clock.every(HELD_MS, () => this.#hold());
    this.#spawn();
    this.#reading.start();
  }

  /** Where it is written what of a camera is in the store. */
  pathOf(cameraId: string): string {
    return copiesPath(this.#setup.copiesDir, cameraId);
  }

  /** Other boxes of the cluster that put recordings there. */
  get otherBoxes(): readonly string[] {
    return this.#state?.otherBoxes ?? this.#otherBoxes;
  }

  /** Where it is written what of a camera one of them put there. */
  otherPathOf(box: string, cameraId: string): string {
    return copiesPath(otherDir(this.#setup.copiesDir, box), cameraId);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#restart?.cancel();
    await Promise.all([this.#thread?.stop(), this.#reading.stop()]);
    this.#forgetThread();
    this.#giveUp();
  }

  /** A recording was closed. */
  look(): void {
    this.#thread?.send({ type: 'look' });
  }

  /** Whether the store may have recordings of a camera. */
  keeps(cameraId: string): boolean {
    const kept = this.#state?.kept ?? {};
    return this.#isLost || !Object.hasOwn(kept, cameraId) || kept[cameraId]! > 0;
  }

  /** What is older than its camera keeps it is to go there, too. */
  expire(expiry: CopyExpiry): void {
    this.#thread?.send({ type: 'expire', expiry });
  }

  /** What is kept of them is in the store once their pieces are: then they are to go there. */
  replace(cameraId: string, wholes: readonly Partly[]): void {
    this.#thread?.send({ type: 'replace', cameraId, wholes });
  }

  /** They are to go there; resolves when that is certain, whether the store is there or not: how many are known. */
  async forget(cameraId: string, unwanted: Unwanted): Promise<number> {
    const count = await new Promise<number | null>((answer) => {
      const id = this.#nextId++;
      const timer = this.#deps.clock.after(ANSWER_MS, () => this.#answer(id, null));
      this.#questions.set(id, { answer, timer });
      if (this.#thread === null) this.#answer(id, null);
      else this.#thread.send({ type: 'forget', id, cameraId, unwanted });
    });
    if (count === null)
      throw archiveError('archive_unavailable', 'it can not be written now what the store is to delete');
    return count;
  }

  #spawn(): void {
    this.#restart = null;
    this.#thread = this.#deps.spawn(this.#setup, {
      onMessage: (message) => this.#onMessage(message),
      onLost: (reason) => this.#onLost(reason),
    });
    this.#hold();
  }

  #hold(): void {
    this.#thread?.send({ type: 'held', held: this.#deps.held() });
  }

  #onMessage(message: FromCopier): void {
    const { log, threads } = this.#deps;
    if (message.type === 'thread') this.#forgetThread = threads.add(NAME, message.stats);
    else if (message.type === 'log') log[message.level](message.message, message.fields);
    else if (message.type === 'forgotten') this.#answer(message.id, message.count);
    else if (message.type === 'epoch') this.#tellEpoch(message.id, message.cameraId, message.startMs);
    else {
      const { copied, copiedBytes, deleted, failed } = this.#before;
      const { state } = message;
      this.#isLost = false;
      this.#restartMs = RESTART_MS;
      this.#state = {
        ...state,
        copied: state.copied + copied,
        copiedBytes: state.copiedBytes + copiedBytes,
        deleted: state.deleted + deleted,
        failed: state.failed + failed,
      };
    }
  }

  #tellEpoch(id: number, cameraId: string, startMs: number): void {
    this.#thread?.send({ type: 'epoch', id, epoch: this.#deps.epochAt(cameraId, startMs) });
  }

  #onLost(reason: string): void {
    this.#thread = null;
    this.#isLost = true;
    this.#forgetThread();
    this.#forgetThread = () => {};
    if (this.#state !== null) {
      const { copied, copiedBytes, deleted, failed } = this.#state;
      this.#before = { copied, copiedBytes, deleted, failed };
    }
    this.#giveUp();
    if (this.#isStopped) return;
    this.#deps.log.error('the thread that copies recordings ended; another one begins', { reason });
    this.#restart = this.#deps.clock.after(this.#restartMs, () => this.#spawn());
    this.#restartMs = Math.min(this.#restartMs * 2, LONGEST_RESTART_MS);
  }

  #answer(id: number, count: number | null): void {
    const question = this.#questions.get(id);
    this.#questions.delete(id);
    question?.timer.cancel();
    question?.answer(count);
  }

  #giveUp(): void {
    for (const id of [...this.#questions.keys()]) this.#answer(id, null);
  }
}
