import { join } from 'node:path';
import type { Clock, MonotonicMs, Timer } from '../../base/clock.js';
import { AppError } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { Turns, type TurnsOptions } from '../../base/turns.js';
import { archiveError } from '../archive-error.js';
import { isCameraId } from '../files/archive-path.js';
import type { JobRunner } from '../jobs/jobs.js';
import { copiesPath } from '../offsite/copies-file.js';
import type { AskerThread } from './asker-thread.js';

export type KeptListsDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly asker: Pick<AskerThread, 'ask'>;
  /** For what nobody waits for. */
  readonly runner: JobRunner;
  readonly isHere: (box: string) => boolean;
  /** What is known of a camera at a box was written anew: how many recordings. */
  readonly onTaken: (box: string, cameraId: string, count: number) => void;
};

/** A wall of cameras is asked for at the same time: each question has a connection. */
const TURNS: TurnsOptions = { atOnce: 4, maxWaiting: 1_024, maxInLane: 1_024, patienceMs: 20_000 };
const NEWS_LIMITS = { withinMs: 10_000, maxBytes: 0 };
/** A day may have a recording a second. */
const LIST_LIMITS = { withinMs: 20_000, maxBytes: 16 << 20 };
/** A list that doesn't end is somebody's joke. */
const MAX_ROUNDS = 64;
/** Viewers don't wait for a box that didn't answer, for so long. */
const SILENT_MS = 5_000;
/** When it was heard last is written down so often. */
const HEARD_EVERY_MS = 10_000;
const MAX_PENDING = 100_000;
const MAX_LATELY = 10_000;

/** Whether the box itself says so, and can be asked for another camera. */
const isAnswered = (fault: unknown): boolean =>
  fault instanceof AppError && !fault.code.startsWith('relay_') && fault.code !== 'archive_busy';

const busy = () => archiveError('archive_busy', 'too many lists are asked for');

const isBusy = (fault: unknown): boolean => fault instanceof AppError && fault.code === 'archive_busy';

const numbersIn = (value: unknown): number[] =>
  Array.isArray(value) ? value.filter((one): one is number => Number.isInteger(one)) : [];

/** What is written here of one other box's recordings: kept in step with what that has. */
export class KeptLists {
  readonly #box: string;
  readonly #folder: string;
  readonly #deps: KeptListsDeps;
  readonly #turns: Turns;
  /** Of its start, and how far its news is known. */
  #boot = '';
  #after = 0;
  #isPolling = false;
  #isPulling = false;
  #againMs = 0;
  #isHearingAll = false;
  #fault: string | null = null;
  /** By the wall clock: when it told last what is new, and what of that is written. */
  #heardMs: number | null = null;
  #keptMs = Number.NEGATIVE_INFINITY;
  /** Cameras of which there is news; all that the box has, when it is heard first, come behind those. */
  readonly #news = new Set<string>();
  readonly #all = new Set<string>();
  readonly #pulls = new Map<string, Promise<void>>();
  readonly #pulledMs = new Map<string, MonotonicMs>();

  constructor({ box, boxesDir }: { readonly box: string; readonly boxesDir: string }, deps: KeptListsDeps) {
    this.#box = box;
    this.#folder = join(boxesDir, box);
    this.#deps = deps;
    this.#turns = new Turns(TURNS, { clock: deps.clock, busy });
  }

  /** When it told last what is new; null: it isn't known. */
  get heardMs(): number | null {
    return this.#heardMs;
  }

  /** As it was written down. */
  recall(heardMs: number | null): void {
    this.#heardMs ??= heardMs;
  }

  /** Writes down when it was heard last, so that it is known after a restart how far what it recorded goes. */
  async keepHeard(): Promise<void> {
    const heardMs = this.#heardMs;
    if (heardMs === null || heardMs === this.#keptMs) return;
    this.#keptMs = heardMs;
    await this.#deps.runner
      .run('keepHeard', { folder: this.#folder, heardMs })
      .catch((fault: unknown) => this.#see(fault));
  }

  /** What is known of it isn't so. */
  doubt(cameraId: string): void {
    this.#news.add(cameraId);
    void this.#pullAll();
  }

  /** Asks what is new, and for that; whoever asks again meanwhile needn't. */
  async poll(): Promise<void> {
    if (this.#isPolling) return;
    this.#isPolling = true;
    try {
      while (await this.#pollOnce());
      this.#heardMs = this.#deps.clock.wallMs();
      if (Math.abs(this.#heardMs - this.#keptMs) >= HEARD_EVERY_MS) void this.keepHeard();
      this.#see(null);
    } catch (fault) {
      this.#see(fault);
    } finally {
      this.#isPolling = false;
    }
    await this.#pullAll();
  }

  /**
   * Has the list of a camera as it is now, unless the box was asked for that lately, since it last started; waits for no more than `patienceMs`, and not at
   * all for a box that didn't answer lately. Never rejects.
   */
  async refresh(cameraId: string, notWithinMs: number, patienceMs: number): Promise<void> {
    const { clock } = this.#deps;
    const nowMs = clock.monotonicMs();
    const pulledMs = this.#pulledMs.get(cameraId);
    const isFresh = pulledMs !== undefined && nowMs - pulledMs < notWithinMs;
    if (isFresh || nowMs < this.#againMs) return;
    let timer: Timer | null = null;
    const late = new Promise<void>((resolve) => {
      timer = clock.after(patienceMs, () => {
        this.#againMs = clock.monotonicMs() + SILENT_MS;
        resolve();
      });
    });
    await Promise.race([this.#pullNow(cameraId, notWithinMs), late]);
    (timer as Timer | null)?.cancel();
  }

  async #pullNow(cameraId: string, notWithinMs: number): Promise<void> {
    try {
      // One that is under way may have been asked for too soon.
      if (notWithinMs === 0) await this.#pulls.get(cameraId);
      await this.#pull(cameraId);
    } catch (fault) {
      if (!isAnswered(fault)) this.#againMs = this.#deps.clock.monotonicMs() + SILENT_MS;
      this.#see(fault);
    }
  }

  async #pollOnce(): Promise<boolean> {
    const question = { what: 'news', boot: this.#boot, after: this.#after };
    const { content } = await this.#deps.asker.ask(this.#box, question, NEWS_LIMITS);
    const { boot, upTo, cameraIds, isMore } = content;
    if (typeof boot !== 'string' || !Number.isInteger(upTo) || !Array.isArray(cameraIds))
      throw new AppError('bad_answer', 'what it tells of its recordings can not be read');
    const isFirst = boot !== this.#boot || this.#isHearingAll;
    this.#isHearingAll = isFirst && isMore === true;
    const isFurther = boot !== this.#boot || (upTo as number) > this.#after;
    if (boot !== this.#boot) this.#pulledMs.clear();
    this.#boot = boot;
    this.#after = upTo as number;
    const target = isFirst ? this.#all : this.#news;
    for (const cameraId of cameraIds)
      if (typeof cameraId === 'string' && isCameraId(cameraId) && target.size < MAX_PENDING)
        target.add(cameraId);
    return isMore === true && isFurther;
  }

  /** One camera after the other. */
  async #pullAll(): Promise<void> {
    if (this.#isPulling) return;
    this.#isPulling = true;
    try {
      const refused = new Set<string>();
      for (let next = this.#next(refused); next !== null; next = this.#next(refused)) {
        if (!this.#deps.isHere(this.#box)) return;
        try {
          // What is news while it is asked for is asked for again.
          this.#news.delete(next);
          this.#all.delete(next);
          await this.#pull(next);
        } catch (fault) {
          this.#all.add(next);
          if (!isAnswered(fault)) throw fault;
          refused.add(next);
        }
      }
    } catch (fault) {
      // It is tried again when there was time for another question.
      this.#see(fault);
    } finally {
      this.#isPulling = false;
    }
  }

  #next(refused: ReadonlySet<string>): string | null {
    for (const wanted of [this.#news, this.#all])
      for (const cameraId of wanted) if (!refused.has(cameraId)) return cameraId;
    return null;
  }

  #pull(cameraId: string): Promise<void> {
    const running = this.#pulls.get(cameraId);
    if (running !== undefined) return running;
    const pull = this.#turns
      .run('', () => this.#pullOnce(cameraId))
      .finally(() => this.#pulls.delete(cameraId));
    this.#pulls.set(cameraId, pull);
    return pull;
  }

  async #pullOnce(cameraId: string): Promise<void> {
    const { asker, clock, runner, onTaken } = this.#deps;
    const path = copiesPath(this.#folder, cameraId);
    for (let round = 0, isMore = true; isMore && round < MAX_ROUNDS; round += 1) {
      const known = await runner.run('knownDays', { path });
      const question = { what: 'list', cameraId, days: known ?? [] };
      const { content, bytes } = await asker.ask(this.#box, question, LIST_LIMITS);
      isMore = content['isMore'] === true;
      const gone = numbersIn(content['gone']);
      if (known === null || bytes.length > 0 || gone.length > 0) {
        const rows = { path, box: this.#box, bytes, gone, isAnew: known === null };
        onTaken(this.#box, cameraId, await runner.run('takeRows', rows, [bytes.buffer]));
      }
    }
    this.#remember(cameraId, clock.monotonicMs());
  }

  /** Those that were asked for lately alone are of interest. */
  #remember(cameraId: string, nowMs: MonotonicMs): void {
    this.#pulledMs.delete(cameraId);
    this.#pulledMs.set(cameraId, nowMs);
    if (this.#pulledMs.size > MAX_LATELY) this.#pulledMs.delete(this.#pulledMs.keys().next().value ?? '');
  }

  #see(fault: unknown): void {
    if (isBusy(fault)) return;
    const reason = fault === null ? null : String(fault instanceof Error ? fault.message : fault);
    const before = this.#fault;
    this.#fault = reason;
    const { log, isHere } = this.#deps;
    if (reason !== null && before === null && isHere(this.#box))
      log.warn('what another box has recorded is not known', { box: this.#box, reason });
    else if (reason === null && before !== null)
      log.info('it is known again what another box has recorded', { box: this.#box });
  }
}
