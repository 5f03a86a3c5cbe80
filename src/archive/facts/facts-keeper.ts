import type { Clock, Timer } from '../../base/clock.js';
import type { JobRunner } from '../jobs/jobs.js';
import { type FactsPlace, factsPath, type Learned } from './learn-facts.js';

export type FactsKeeperDeps = { readonly clock: Clock; readonly runner: JobRunner };

/** First those are served who ask, and recorders begin. */
const START_MS = 60_000;
/** What changed within that is looked at later, so that its stamp is certain. */
const LOOK_MS = 10_000;
/** Recordings that one job looks into. */
const FILES_A_JOB = 32;
/** Of the time a job took, so that the disk has others' work four fifths of the time. */
const REST_SHARE = 4;
const LEAST_REST_MS = 20;

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
  #timer: Timer | null = null;
  #first: Timer | null = null;
  #rest: { readonly timer: Timer; readonly end: () => void } | null = null;
  #working: Promise<void> | null = null;
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
      await this.#learn(cameraId).catch(() => {});
    }
  }

  async #learn(cameraId: string): Promise<void> {
    const { clock, runner } = this.#deps;
    const { archiveDir, factsDir } = this.#place;
    let afterName: string | null = '';
    while (afterName !== null && !this.#isStopped) {
      const begunMs = clock.monotonicMs();
      const input = { archiveDir, factsDir, cameraId, afterName, most: FILES_A_JOB };
      const learned: Learned = await runner.run('learnFacts', input);
      if (learned.isEarly) this.learnSoon(cameraId);
      afterName = learned.lastName;
      await this.#restFor(Math.max(LEAST_REST_MS, (clock.monotonicMs() - begunMs) * REST_SHARE));
    }
  }

  #restFor(ms: number): Promise<void> {
    if (this.#isStopped) return Promise.resolve();
    return new Promise((end) => {
      this.#rest = { timer: this.#deps.clock.after(ms, end), end };
    });
  }
}
