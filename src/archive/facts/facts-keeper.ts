import type { Clock, Timer } from '../../base/clock.js';
import { isSameStamp } from '../files/scan-folder.js';
import { forgetOldest } from '../forget-oldest.js';
import type { JobRunner } from '../jobs/jobs.js';
import { type FactsPlace, factsPath, type Learned, type LookedAt } from './learn-facts.js';

export type FactsKeeperDeps = { readonly clock: Clock; readonly runner: JobRunner };

/** First those are served who ask, and recorders begin. */
const START_MS = 60_000;
/** What changed within that is looked at later, so that its stamp is certain. */
const LOOK_MS = 10_000;
/** A job looks into recordings for so long, into so many at most: recovery waits for its end. */
const JOB_MS = 200;
const FILES_A_JOB = 512;
/** All that is kept of a camera is written anew each time: once this share of it is new or gone. */
const WRITE_SHARE = 1 / 256;
/** Of one camera so many are learned before they are kept. */
const MOST_UNWRITTEN = 4_096;
/** In mind of all cameras: some 4 MB. */
const MOST_IN_MIND = 20_000;
/** Of the time a job took, so that the disk has others' work four fifths of the time. */
const REST_SHARE = 4;
const LEAST_REST_MS = 20;
const FAILED_REST_MS = 60_000;

const isWorthKeeping = ({ inspection }: Learned): boolean => inspection.startMs !== null;

/**
 * Has what closed recordings say of their times kept, so that none of them is asked again after a restart: those of all cameras,
 * one after another, when the service starts, and of a camera when something in it is new. Where that fails, lists ask the files.
 */
export class FactsKeeper {
  readonly #place: FactsPlace;
  readonly #deps: FactsKeeperDeps;
  /** Cameras that are looked at next, and those that wait for the next look. */
  readonly #due = new Set<string>();
  readonly #soon = new Set<string>();
  /** What was learned of recordings and isn't written yet; what says nothing may be a disk that fails, and never is. By camera. */
  readonly #inMind = new Map<string, ReadonlyMap<string, Learned>>();
  #timer: Timer | null = null;
  #first: Timer | null = null;
  #rest: { readonly timer: Timer; readonly end: () => void } | null = null;
  #working: Promise<void> | null = null;
  /** Until it succeeds: no more is learned than what is in mind. */
  #isWritingFailed = false;
  #isStopped = false;

  constructor(place: FactsPlace, deps: FactsKeeperDeps) {
    this.#place = place;
    this.#deps = deps;
  }

  /** Cameras that are still to be looked at, but for those that have changed just now. */
  get waiting(): number {
    return this.#due.size + (this.#working === null && this.#first === null ? 0 : 1);
  }

  pathOf(cameraId: string): string {
    return factsPath(this.#place.factsDir, cameraId);
  }

  /** The archive is there: all cameras are looked at, a minute later. */
  start(): void {
    if (this.#isStopped) return;
    const { clock } = this.#deps;
    this.#timer ??= clock.every(LOOK_MS, () => this.#look());
    this.#first?.cancel();
    this.#first = clock.after(START_MS, () => void this.#lookAtAll());
  }

  /** Something in a camera's folder is new. */
  learnSoon(cameraId: string): void {
    this.#soon.add(cameraId);
  }

  /** Begins nothing any more. */
  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#first?.cancel();
    this.#rest?.timer.cancel();
    this.#rest?.end();
  }

  async #lookAtAll(): Promise<void> {
    try {
      const { archiveDir, factsDir } = this.#place;
      for (const cameraId of await this.#deps.runner.run('factsCameras', { archiveDir, factsDir }))
        this.#due.add(cameraId);
    } catch {
      // Neither disk has to work for it.
    }
    this.#first = null;
    this.#work();
  }

  #look(): void {
    for (const cameraId of this.#soon) this.#due.add(cameraId);
    this.#soon.clear();
    this.#work();
  }

  #work(): void {
    if (this.#isStopped) return;
    this.#working ??= this.#learnAll().finally(() => {
      this.#working = null;
    });
  }

  async #learnAll(): Promise<void> {
    for (const cameraId of this.#due) {
      if (this.#isStopped) return;
      this.#due.delete(cameraId);
      // One of the two disks fails: what is learned of the next camera could be kept no more than this.
      await this.#learn(cameraId).catch(() => this.#restFor(FAILED_REST_MS));
    }
  }

  async #learn(cameraId: string): Promise<void> {
    const { runner } = this.#deps;
    const { files, kept, gone, isEarly } = await this.#run(() =>
      runner.run('unlearned', { ...this.#place, cameraId }),
    );
    if (isEarly) this.learnSoon(cameraId);
    const before = this.#inMind.get(cameraId);
    const learned = new Map<string, Learned>();
    const due: LookedAt[] = [];
    for (const file of files) {
      const known = before?.get(file.fileName);
      if (known !== undefined && isSameStamp(known.stamp, file.stamp)) learned.set(file.fileName, known);
      else due.push(file);
    }
    try {
      // Before anything is read in vain.
      if (this.#isWritingFailed) await this.#write(cameraId, learned);
      await this.#lookInto(cameraId, due, learned);
      const count = [...learned.values()].filter(isWorthKeeping).length;
      if (count + gone > (kept + count) * WRITE_SHARE) await this.#write(cameraId, learned);
    } finally {
      // Whichever disk failed, what was read before need not be read again.
      this.#bearInMind(cameraId, learned);
    }
  }

  async #lookInto(cameraId: string, due: readonly LookedAt[], learned: Map<string, Learned>): Promise<void> {
    const { runner } = this.#deps;
    const { archiveDir } = this.#place;
    let written = 0;
    for (let first = 0; first < due.length && !this.#isStopped; ) {
      const next = due.slice(first, first + FILES_A_JOB);
      const found = await this.#run(() =>
        runner.run('lookInto', { archiveDir, cameraId, files: next, forMs: JOB_MS }),
      );
      for (const [at, inspection] of found.entries())
        learned.set(next[at]!.fileName, { ...next[at]!, inspection });
      first += found.length;
      if (learned.size - written < MOST_UNWRITTEN) continue;
      await this.#write(cameraId, learned);
      written = learned.size;
    }
  }

  /** What is written is in mind no more. */
  async #write(cameraId: string, learned: Map<string, Learned>): Promise<void> {
    if (this.#isStopped) return;
    const worth = [...learned.values()].filter(isWorthKeeping);
    this.#isWritingFailed = true;
    await this.#run(() => this.#deps.runner.run('keepFacts', { ...this.#place, cameraId, learned: worth }));
    this.#isWritingFailed = false;
    for (const { fileName } of worth) learned.delete(fileName);
  }

  #bearInMind(cameraId: string, learned: ReadonlyMap<string, Learned>): void {
    this.#inMind.delete(cameraId);
    if (learned.size > 0 && learned.size <= MOST_IN_MIND) this.#inMind.set(cameraId, learned);
    forgetOldest(this.#inMind, ({ size }) => size, MOST_IN_MIND, cameraId);
  }

  async #run<Result>(job: () => Promise<Result>): Promise<Result> {
    const { clock } = this.#deps;
    const begunMs = clock.monotonicMs();
    const result = await job();
    await this.#restFor(Math.max(LEAST_REST_MS, (clock.monotonicMs() - begunMs) * REST_SHARE));
    return result;
  }

  #restFor(ms: number): Promise<void> {
    if (this.#isStopped) return Promise.resolve();
    return new Promise((end) => {
      this.#rest = { timer: this.#deps.clock.after(ms, end), end };
    });
  }
}
