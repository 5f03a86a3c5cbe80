import { join } from 'node:path';
import type { Clock, MonotonicMs, Timer } from '../../base/clock.js';
import { AppError } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { Turns, type TurnsOptions } from '../../base/turns.js';
import { archiveError } from '../archive-error.js';
import { isCameraId } from '../files/archive-path.js';
import type { JobInput, JobOutput, JobRunner } from '../jobs/jobs.js';
import { copiesPath } from '../offsite/copies-file.js';
import type { Asker, BoxAnswer } from './asker-thread.js';
import { Later } from './later.js';
import type { AskLimits } from './messages.js';

export type KeptListsDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly asker: Pick<Asker, 'ask'>;
  /** For what nobody waits for. */
  readonly runner: JobRunner;
  readonly isHere: (box: string) => boolean;
  /** What is known of a camera at a box was written anew: how many recordings. */
  readonly onTaken: (box: string, cameraId: string, count: number) => void;
};

/** A wall of cameras is asked for at the same time: each question has a connection. */
const TURNS: TurnsOptions = { atOnce: 4, maxWaiting: 1_024, maxInLane: 1_024, patienceMs: 20_000 };
const NEWS_LIMITS = { withinMs: 10_000, inAllMs: 20_000, maxBytes: 0 };
/** A day may have a recording a second. */
const LIST_LIMITS = { withinMs: 20_000, inAllMs: 120_000, maxBytes: 16 << 20 };
/** A list that doesn't end is somebody's joke. */
const MAX_ROUNDS = 64;
/** Viewers don't wait for a box that didn't answer, for so long. */
const SILENT_MS = 5_000;
/** When it was heard last is written down so often. */
const HEARD_EVERY_MS = 10_000;
/** One that told nothing for so long may have recorded since. */
const CURRENT_MS = 15_000;
/** Of a camera that the box refuses to tell of, and where nothing can be written here. */
const REFUSED = { firstMs: 4_000, mostMs: 600_000 };
const UNWRITTEN = { firstMs: 4_000, mostMs: 60_000 };
const WRITING = 'writing';
const MAX_PENDING = 100_000;
const MAX_LATELY = 10_000;

/** Whether the box itself says so, and can be asked for another camera. */
const isAnswered = (fault: unknown): boolean =>
  fault instanceof AppError && !fault.code.startsWith('relay_') && fault.code !== 'archive_busy';

const busy = () => archiveError('archive_busy', 'too many lists are asked for');

const isBusy = (fault: unknown): boolean => fault instanceof AppError && fault.code === 'archive_busy';

const numbersIn = (value: unknown): number[] =>
  Array.isArray(value) ? value.filter((one): one is number => Number.isInteger(one)) : [];

/** Those that were asked for lately alone are of interest. */
const keepLatest = <Value>(known: Map<string, Value>, cameraId: string, value: Value): void => {
  known.delete(cameraId);
  known.set(cameraId, value);
  if (known.size > MAX_LATELY) known.delete(known.keys().next().value ?? '');
};

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
  /** By the monotonic clock: from when on viewers wait for it again, and for its list of a camera. */
  #againMs = 0;
  readonly #lateMs = new Map<string, number>();
  /** When it answered anything last, and told what is new. */
  #answeredMs = Number.NEGATIVE_INFINITY;
  #toldMs = Number.NEGATIVE_INFINITY;
  #isHearingAll = false;
  /** It answers, and can't say what is new. */
  #isIll = false;
  #fault: string | null = null;
  /** By the wall clock: when it told last what is new, and what of that is written. */
  #heardMs: number | null = null;
  #keptMs = Number.NEGATIVE_INFINITY;
  /** Cameras of which there is news; all that the box has, when it is heard first, come behind those. */
  readonly #news = new Set<string>();
  readonly #all = new Set<string>();
  readonly #pulls = new Map<string, Promise<void>>();
  readonly #pulledMs = new Map<string, MonotonicMs>();
  readonly #refused: Later;
  readonly #unwritten: Later;

  constructor({ box, boxesDir }: { readonly box: string; readonly boxesDir: string }, deps: KeptListsDeps) {
    this.#box = box;
    this.#folder = join(boxesDir, box);
    this.#deps = deps;
    this.#turns = new Turns(TURNS, { clock: deps.clock, busy });
    this.#refused = new Later(REFUSED, deps.clock);
    this.#unwritten = new Later(UNWRITTEN, deps.clock);
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

  /** Whether what is written of a camera is what the box has now, as far as that has told; and it was asked for within that time. */
  isCurrent(cameraId: string, withinMs: number): boolean {
    const pulledMs = this.#pulledMs.get(cameraId);
    if (pulledMs === undefined || this.#news.has(cameraId)) return false;
    const nowMs = this.#deps.clock.monotonicMs();
    return nowMs - pulledMs < withinMs && nowMs - Math.max(pulledMs, this.#toldMs) < CURRENT_MS;
  }

  /** Nothing is under way any more. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#pulls.values());
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
      // Its disk is there again: that is what each camera was refused for.
      if (this.#isIll) for (const cameraId of this.#refused.clear()) this.#all.add(cameraId);
      this.#isIll = false;
      this.#toldMs = this.#deps.clock.monotonicMs();
      this.#heardMs = this.#deps.clock.wallMs();
      if (Math.abs(this.#heardMs - this.#keptMs) >= HEARD_EVERY_MS) void this.keepHeard();
      if (this.#refused.size + this.#unwritten.size === 0) this.#see(null);
    } catch (fault) {
      this.#isIll ||= isAnswered(fault);
      this.#see(fault);
    } finally {
      this.#isPolling = false;
    }
    for (const cameraId of this.#refused.due()) this.#all.add(cameraId);
    await this.#pullAll();
  }

  /**
   * Has the list of a camera as it is now, unless the box was asked for that lately, since it last started; waits for no more than `patienceMs`, and not at
   * all for a box that didn't answer lately. Never rejects.
   */
  async refresh(cameraId: string, notWithinMs: number, patienceMs: number): Promise<void> {
    const { clock } = this.#deps;
    const nowMs = clock.monotonicMs();
    if (this.isCurrent(cameraId, notWithinMs)) return;
    if (nowMs < Math.max(this.#againMs, this.#lateMs.get(cameraId) ?? 0)) return;
    if (this.#refused.isResting(cameraId) || this.#unwritten.isResting(WRITING)) return;
    let timer: Timer | null = null;
    const late = new Promise<void>((resolve) => {
      timer = clock.after(patienceMs, () => {
        this.#beLate(cameraId);
        resolve();
      });
    });
    await Promise.race([this.#pullNow(cameraId, notWithinMs === 0), late]);
    (timer as Timer | null)?.cancel();
  }

  /** One that answers others merely has much to do, or much of this camera. */
  #beLate(cameraId: string): void {
    const nowMs = this.#deps.clock.monotonicMs();
    if (nowMs - this.#answeredMs >= SILENT_MS) this.#againMs = nowMs + SILENT_MS;
    else keepLatest(this.#lateMs, cameraId, nowMs + SILENT_MS);
  }

  async #pullNow(cameraId: string, isAnew: boolean): Promise<void> {
    try {
      if (isAnew || this.#news.has(cameraId)) await this.#pullAnew(cameraId);
      else await this.#pull(cameraId);
    } catch (fault) {
      if (isBusy(fault)) this.#beLate(cameraId);
      else if (!isAnswered(fault)) this.#againMs = this.#deps.clock.monotonicMs() + SILENT_MS;
      this.#see(fault);
    }
  }

  async #pollOnce(): Promise<boolean> {
    const question = { what: 'news', boot: this.#boot, after: this.#after };
    const { content } = await this.#ask(question, NEWS_LIMITS);
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
      for (let next = this.#next(); next !== null; next = this.#next()) {
        if (!this.#deps.isHere(this.#box) || this.#unwritten.isResting(WRITING)) return;
        try {
          await this.#pullAnew(next);
        } catch (fault) {
          // The others are tried when there was time for another question.
          if (!this.#refused.isResting(next)) throw fault;
          this.#see(fault);
        }
      }
    } catch (fault) {
      this.#see(fault);
    } finally {
      this.#isPulling = false;
    }
  }

  #next(): string | null {
    for (const wanted of [this.#news, this.#all]) for (const cameraId of wanted) return cameraId;
    return null;
  }

  /** As it is from now on: what is asked for already may have been answered before there was news. */
  async #pullAnew(cameraId: string): Promise<void> {
    await this.#pulls.get(cameraId)?.catch(() => {});
    // What is news while it is asked for is asked for again.
    this.#news.delete(cameraId);
    this.#all.delete(cameraId);
    try {
      await this.#pull(cameraId);
    } catch (fault) {
      this.#pulledMs.delete(cameraId);
      if (!this.#refused.isResting(cameraId)) this.#all.add(cameraId);
      throw fault;
    }
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
    const { clock, onTaken } = this.#deps;
    const path = copiesPath(this.#folder, cameraId);
    for (let round = 0, isMore = true; isMore && round < MAX_ROUNDS; round += 1) {
      const known = await this.#run('knownDays', { path });
      const question = { what: 'list', cameraId, days: known ?? [] };
      const { content, bytes } = await this.#ask(question, LIST_LIMITS);
      isMore = content['isMore'] === true;
      const gone = numbersIn(content['gone']);
      if (known === null || bytes.length > 0 || gone.length > 0) {
        const rows = { path, box: this.#box, bytes, gone, isAnew: known === null };
        const { count, isOther } = await this.#run('takeRows', rows, [bytes.buffer]);
        onTaken(this.#box, cameraId, count);
        // It tells more than can be written down.
        isMore &&= isOther;
      }
    }
    this.#unwritten.done(WRITING);
    this.#refused.done(cameraId);
    this.#lateMs.delete(cameraId);
    keepLatest(this.#pulledMs, cameraId, clock.monotonicMs());
  }

  async #ask(question: Readonly<Record<string, unknown>>, limits: AskLimits): Promise<BoxAnswer> {
    const heard = (): void => {
      this.#answeredMs = this.#deps.clock.monotonicMs();
    };
    try {
      const answer = await this.#deps.asker.ask(this.#box, question, limits);
      heard();
      return answer;
    } catch (fault) {
      if (isAnswered(fault) || isBusy(fault)) heard();
      if (isAnswered(fault) && typeof question['cameraId'] === 'string')
        this.#refused.refused(question['cameraId']);
      throw fault;
    }
  }

  /** What can't be written here of one camera can't be of another one. */
  async #run<Name extends 'knownDays' | 'takeRows'>(
    name: Name,
    input: JobInput<Name>,
    memory: readonly ArrayBuffer[] = [],
  ): Promise<JobOutput<Name>> {
    try {
      return await this.#deps.runner.run(name, input, memory);
    } catch (fault) {
      if (!isBusy(fault) && !this.#unwritten.isResting(WRITING)) this.#unwritten.refused(WRITING);
      throw fault;
    }
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
