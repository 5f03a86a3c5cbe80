import { createHash } from 'node:crypto';
import type { Clock, Timer } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { type FilePlace, placeKey } from '../files/archive-folders.js';
import { parseUnclosedName } from '../files/file-name.js';
import type { JobRunner } from '../jobs/jobs.js';
import type { BrokenTotal } from '../list/broken-files.js';
import type { ClusterNow } from '../offsite/messages.js';
import type { Copies } from '../offsite/offsite.js';
import { type ClockEra, ClockEras } from './clock-eras.js';
import type { Deletions, Expiry, ExpiryLimit, ProtectedSpan } from './delete-files.js';
import { EventRetention } from './event-retention.js';
import type { EventTimesOf } from './kept-spans.js';
import { logDeletions } from './log-deletions.js';
import type { LiveFiles } from './recovery.js';
import { TrustedTime } from './trusted-time.js';

/** How long a camera's recordings are kept. */
export type RetentionRule = {
  readonly cameraId: string;
  /** 0: for ever. */
  readonly retentionDays: number;
  /** How long what belongs to events is kept, where that is longer. */
  readonly eventRetentionDays?: number;
  /** Whether events are worth more than what else was recorded, where space is short. */
  readonly areEventsWorthMore?: boolean;
  /** A deleted camera's go like others'; a purged one's go at once, those too that nobody can play. */
  readonly camera: 'here' | 'deleted' | 'purged';
};

/** Outlives the service; null: nothing is known. */
export type TimeMemory = {
  /** What time deletions went by last. */
  lastMs(): number | null;
  remember(timeMs: number): void;
  /** The text of ClockEras. */
  eras(): string | null;
  rememberEras(text: string): void;
};

export type RetentionOptions = {
  readonly archiveDir: string;
  readonly minFreePercent: number;
  /** Where it is written what is in stores, and of the one that is set, if one is; unless it is given nothing ever was copied. */
  readonly stores?: { readonly storesDir: string; readonly copiesDir: string | null };
};

export type RetentionDeps = {
  readonly runner: JobRunner;
  readonly clock: Clock;
  readonly log: Logger;
  /** Read anew for each round. Folders that no rule names are kept until space is needed. */
  readonly rules: () => readonly RetentionRule[];
  readonly memory: TimeMemory;
  readonly live: LiveFiles;
  /**
   * Times whose recordings stay, whatever their age and however short space is. Read anew for each round; null: nobody knows
   * now, so that nothing goes by its age. For want of space the oldest goes still, since else nothing is recorded.
   */
  readonly spared?: () => readonly ProtectedSpan[] | null;
  /** When events were; unless it is given nobody knows. */
  readonly times?: EventTimesOf;
  /** Nothing is left of a camera that was deleted. */
  readonly onGone: (cameraId: string) => void;
  /** Where recordings are copied to; unless it is given they aren't. */
  readonly copies?: Copies | undefined;
  /** Of a box that is one of several: who is here, and what this one has. */
  readonly cluster?: (() => ClusterNow) | undefined;
};

const SHORTAGE = 'the disk is nearly full, and no closed recording is left to delete';
const EVERYTHING = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY, fileNames: [] };
const SWEEP_MS = 600_000;
const RULES_MS = 60_000;
const SPACE_MS = 10_000;
/** So long the recorder of a camera that was deleted may take to close its file. */
const CLOSING_MS = 2_000;
const DAY_MS = 86_400_000;
/** Files that one job deletes, so that other background work gets its turn. */
const FILES_A_JOB = 64;
/** Files that could not be deleted, and are left alone until the next sweep. */
const MAX_SKIPPED = 1_000;

const limitOf = ({ camera, retentionDays }: RetentionRule, time: TrustedTime): number => {
  if (camera === 'purged') return Number.POSITIVE_INFINITY;
  return retentionDays === 0 ? Number.NEGATIVE_INFINITY : time.limitMs(retentionDays * DAY_MS);
};

/** Whether what belongs to events is kept longer than the rest. */
const outlives = ({ camera, retentionDays, eventRetentionDays = 0 }: RetentionRule): boolean =>
  camera === 'here' && retentionDays > 0 && eventRetentionDays > retentionDays;

/** Of what is older than this nothing stays, but what is protected. */
const limitsOf = (rules: readonly RetentionRule[], time: TrustedTime): ExpiryLimit[] =>
  rules.map((rule) => ({
    cameraId: rule.cameraId,
    beforeMs: outlives(rule) ? time.limitMs((rule.eventRetentionDays ?? 0) * DAY_MS) : limitOf(rule, time),
  }));

const digestOf = (rules: readonly RetentionRule[]): string =>
  createHash('sha256').update(JSON.stringify(rules)).digest('base64');

/** Deletes recordings: those that are older than their camera keeps them, and the oldest of all when space is short. */
export class Retention {
  /** Recordings deleted by age and for space, and deletions that failed. */
  readonly counts = { expired: 0, evicted: 0, failed: 0 };
  /** What lies there moved aside, as of the last sweep. */
  broken: BrokenTotal = { files: 0, bytes: 0 };
  readonly #options: RetentionOptions;
  readonly #deps: RetentionDeps;
  readonly #skip = new Set<string>();
  /** Cameras that were deleted before this disk came, and have no folder on it: they may have one on another. */
  #elsewhere: ReadonlySet<string> = new Set();
  /** Tells the rules that were swept by last: of thousands of cameras they are a megabyte. */
  #sweptRules = '';
  readonly #ofEvents: EventRetention;
  #time: TrustedTime | null = null;
  #eras: ClockEras | null = null;
  #isAhead = false;
  #timers: readonly Timer[] = [];
  #soon: Timer | null = null;
  #sweeping: Promise<void> | null = null;
  #evicting: Promise<void> | null = null;
  #isStopped = false;
  #isShort = false;
  #isFailing = false;

  constructor(options: RetentionOptions, deps: RetentionDeps) {
    this.#options = options;
    this.#deps = deps;
    const { runner, log, times = () => null, copies } = deps;
    this.#ofEvents = new EventRetention(options, { runner, log, times, copies });
  }

  /** Space is short, and nothing is left that may go for it; null: it isn't, or something is. */
  get shortage(): string | null {
    return this.#isShort ? SHORTAGE : null;
  }

  /** Sweeps now, every 10 minutes and a minute after a rule changed; looks at the free space now and every 10 s. */
  start(): void {
    const { clock } = this.#deps;
    this.#timers = [
      clock.every(SWEEP_MS, () => void this.sweep()),
      clock.every(RULES_MS, () => this.#lookAtRules()),
      clock.every(SPACE_MS, () => void this.makeRoom()),
    ];
    void this.sweep();
    void this.makeRoom();
  }

  stop(): void {
    this.#isStopped = true;
    for (const timer of this.#timers) timer.cancel();
    this.#soon?.cancel();
  }

  /** The folder of the recordings is there, be it on another disk: what was deleted before may be on the one before. */
  archiveFound(): void {
    try {
      const deleted = this.#deps.rules().filter(({ camera }) => camera === 'deleted');
      this.#elsewhere = new Set(deleted.map(({ cameraId }) => cameraId));
    } catch (fault) {
      this.#deps.log.warn('could not read which cameras were deleted', { reason: messageOf(fault) });
    }
  }

  /** Deletes what is older than its camera keeps it. Joins a sweep that is under way; never rejects. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweep().finally(() => {
      this.#sweeping = null;
    });
    return this.#sweeping;
  }

  /** Deletes the oldest recordings if space is short. Joins a round that is under way; never rejects. */
  makeRoom(): Promise<void> {
    this.#evicting ??= this.#makeRoom().finally(() => {
      this.#evicting = null;
    });
    return this.#evicting;
  }

  /** Sweeps as soon as the recorder of a camera that was just deleted has closed its file. */
  sweepSoon(): void {
    this.#soon?.cancel();
    this.#soon = this.#deps.clock.after(CLOSING_MS, () => void this.sweep());
  }

  /** One that is under way goes by the rules before: then the next look finds that they have changed. */
  #lookAtRules(): void {
    try {
      const rules = this.#deps.rules();
      const isPurging = rules.some(({ camera }) => camera === 'purged');
      if (isPurging || digestOf(rules) !== this.#sweptRules) void this.sweep();
    } catch {
      // The next sweep tells why.
    }
  }

  /** Read anew for each round: one that was changed meanwhile counts at once. */
  #readRules(): readonly RetentionRule[] {
    const rules = this.#deps.rules();
    this.#sweptRules = digestOf(rules);
    return rules.filter(({ camera, retentionDays }) => camera !== 'here' || retentionDays > 0);
  }

  async #sweep(): Promise<void> {
    const { runner, log } = this.#deps;
    this.#skip.clear();
    const { archiveDir } = this.#options;
    try {
      const time = await this.#trustedTime();
      const eras = this.#lookAtClock();
      this.#expireCopies(time, eras);
      for (let isMore = true; isMore && !this.#isStopped; ) {
        const rules = this.#readRules();
        if (rules.length === 0) break;
        const limits = limitsOf(rules, time);
        const skip = [...this.#skip];
        const spared = this.#spared();
        if (spared === null) throw new Error('it is not known now which are protected');
        const input = { archiveDir, limits, eras, maxFiles: FILES_A_JOB, skip, spared };
        const round = await runner.run('deleteExpired', input);
        this.counts.expired += this.#report(round, 'retention');
        await this.#forgetGone(rules, round);
        const isFull = round.deleted.length + round.failed.length >= FILES_A_JOB;
        isMore = (isFull || (await this.#deleteUnclosed(round.unclosed))) && this.#skip.size < MAX_SKIPPED;
      }
      await this.#expireAroundEvents(time, eras);
      this.broken = await runner.run('countBroken', { archiveDir });
    } catch (fault) {
      if (!this.#isStopped) log.warn('could not delete old recordings', { reason: messageOf(fault) });
    }
    this.#rememberTime();
  }

  /** What is in a store goes by the same rules; copies are not cut, so what has an event stays whole. */
  #expireCopies(time: TrustedTime, eras: readonly ClockEra[]): void {
    const spared = this.#spared();
    if (spared === null || this.#isStopped) return;
    const { copies } = this.#deps;
    const localDays = copies?.localDays ?? null;
    const localBeforeMs = localDays === null ? null : time.limitMs(localDays * DAY_MS);
    const rules = this.#readRules();
    const limits = limitsOf(rules, time);
    const cameraIds = this.#deps.rules().map(({ cameraId }) => cameraId);
    const cluster = this.#deps.cluster?.();
    copies?.expire({ cameraIds, limits, eras, spared, localBeforeMs, cluster });
  }

  /** Of what is due but for its events, or what is protected, the rest goes. */
  async #expireAroundEvents(time: TrustedTime, eras: readonly ClockEra[]): Promise<void> {
    const mayGoOn = (): boolean => !this.#isStopped;
    for (const rule of this.#readRules()) {
      const spared = this.#spared();
      if (spared === null || this.#isStopped) return;
      const { cameraId, camera } = rule;
      const areEventsKept = outlives(rule);
      if (camera === 'purged' || !(areEventsKept || spared.some((span) => span.cameraId === cameraId)))
        continue;
      const limit = { cameraId, beforeMs: limitOf(rule, time), areEventsKept };
      this.counts.expired += this.#report(
        await this.#ofEvents.expire(limit, eras, spared, mayGoOn),
        'retention',
      );
    }
  }

  /** Of all that belongs to no event, where events are worth more; false: nobody says so, or it wasn't enough. */
  async #makeRoomOfNoEvent(eras: readonly ClockEra[]): Promise<boolean> {
    const worthMore = this.#deps.rules().filter(({ areEventsWorthMore = false }) => areEventsWorthMore);
    if (worthMore.length === 0) return false;
    const bounds = {
      minFreePercent: this.#options.minFreePercent,
      ...{ eras, skip: [...this.#skip], spared: this.#spared() ?? [] },
    };
    const cameraIds = new Set(worthMore.map(({ cameraId }) => cameraId));
    return this.#ofEvents.makeRoom(cameraIds, bounds, (round) => {
      this.counts.evicted += this.#report(round, 'space');
    });
  }

  #spared(): readonly ProtectedSpan[] | null {
    return this.#deps.spared === undefined ? [] : this.#deps.spared();
  }

  /** A purged camera's id can't be used again before that: an absent folder is enough for it, whatever disk it is. */
  async #forgetGone(rules: readonly RetentionRule[], { bare, absent }: Expiry): Promise<void> {
    const [bareIds, absentIds] = [new Set(bare), new Set(absent)];
    this.#elsewhere = new Set([...this.#elsewhere].filter((cameraId) => absentIds.has(cameraId)));
    const { copies } = this.#deps;
    for (const { cameraId, camera } of rules) {
      const isElsewhere = camera === 'deleted' && this.#elsewhere.has(cameraId);
      const isGone = bareIds.has(cameraId) || (absentIds.has(cameraId) && !isElsewhere);
      if (camera === 'here' || !isGone) continue;
      // One that is made anew under its id is another one, and gets nothing of it: all that a store has is marked first.
      const isLeft =
        camera === 'purged'
          ? !(await this.#forgetCopies(cameraId))
          : copies?.keeps(cameraId) === true || (await this.#isKeptElsewhere(cameraId));
      if (!isLeft) this.#deps.onGone(cameraId);
    }
  }

  /** What a store that isn't set now has of a camera goes by its rule once it is. */
  async #isKeptElsewhere(cameraId: string): Promise<boolean> {
    const { stores } = this.#options;
    return stores !== undefined && this.#deps.runner.run('keptInOtherStores', { ...stores, cameraId });
  }

  /** Whether it is certain that all that stores have of a camera goes; else the next sweep asks again. */
  async #forgetCopies(cameraId: string): Promise<boolean> {
    const { stores } = this.#options;
    try {
      await this.#deps.copies?.forget(cameraId, EVERYTHING);
      // What isn't set now may be set again when another camera has the id.
      if (stores !== undefined)
        await this.#deps.runner.run('forgetInOtherStores', { ...stores, cameraId, unwanted: EVERYTHING });
      return true;
    } catch (fault) {
      const reason = messageOf(fault);
      this.#deps.log.warn('it is not certain that the store deletes a camera', {
        camera_id: cameraId,
        reason,
      });
      return false;
    }
  }

  /** Of purged cameras: a file that can't be repaired would stay for ever. Returns whether there was one. */
  async #deleteUnclosed(unclosed: readonly FilePlace[]): Promise<boolean> {
    const { runner, live } = this.#deps;
    const places = unclosed.filter(
      ({ cameraId, fileName }) =>
        !live.isLive(cameraId, parseUnclosedName(fileName) ?? fileName) &&
        !this.#skip.has(placeKey({ cameraId, fileName })),
    );
    if (places.length === 0) return false;
    const { archiveDir } = this.#options;
    const round = await runner.run('deleteUnclosed', { archiveDir, places: places.slice(0, FILES_A_JOB) });
    this.#report(round, 'request');
    return round.deleted.length + round.failed.length > 0;
  }

  /** Where that fails, the next start goes by an older time: that deletes less. */
  #rememberTime(): void {
    try {
      if (this.#time !== null) this.#deps.memory.remember(this.#time.trustedMs);
      if (this.#eras !== null) this.#deps.memory.rememberEras(this.#eras.text);
    } catch (fault) {
      this.#deps.log.warn('could not store what time it is', { reason: messageOf(fault) });
    }
  }

  /** An era that begins is remembered before anything is deleted by it. */
  #lookAtClock(): readonly ClockEra[] {
    const { clock, memory } = this.#deps;
    this.#eras ??= new ClockEras(memory.eras());
    if (this.#eras.look(clock.wallMs())) memory.rememberEras(this.#eras.text);
    return this.#eras.list;
  }

  async #trustedTime(): Promise<TrustedTime> {
    const { runner, clock, memory } = this.#deps;
    this.#time ??= new TrustedTime(
      clock,
      memory.lastMs() ?? (await runner.run('newestEnd', { ...this.#options, notAfterMs: clock.wallMs() })),
    );
    this.#tellAhead(this.#time.look().aheadMs);
    return this.#time;
  }

  async #makeRoom(): Promise<void> {
    const { runner, log } = this.#deps;
    try {
      const eras = this.#lookAtClock();
      if (await this.#makeRoomOfNoEvent(eras)) {
        this.#isFailing = false;
        this.#isShort = false;
        return;
      }
      const skip = [...this.#skip];
      const bounds = { eras, maxFiles: FILES_A_JOB, skip, spared: this.#spared() ?? [] };
      const round = await runner.run('evictOldest', { ...this.#options, ...bounds });
      this.counts.evicted += this.#report(round, 'space');
      this.#tellShortage(round.freePercent, round.deleted.length);
      this.#isFailing = false;
    } catch (fault) {
      // Once, not every 10 s.
      if (!this.#isFailing && !this.#isStopped) {
        log.warn('could not look at the free space', { reason: messageOf(fault) });
      }
      this.#isFailing = true;
    }
  }

  /** Once, not at each sweep. */
  #tellAhead(aheadMs: number): void {
    if (aheadMs > 0 && !this.#isAhead) {
      this.#deps.log.warn('the clock leapt ahead: old recordings are deleted slowly until that is certain', {
        ahead_sec: Math.round(aheadMs / 1000),
      });
    }
    this.#isAhead = aheadMs > 0;
  }

  /** Once when nothing is left to delete, not every 10 s. */
  #tellShortage(freePercent: number, deleted: number): void {
    const isShort = freePercent < this.#options.minFreePercent && deleted === 0;
    if (isShort && !this.#isShort) {
      this.#deps.log.error(SHORTAGE, {
        free_percent: freePercent,
      });
    }
    this.#isShort = isShort;
  }

  #report(round: Deletions, reason: 'retention' | 'space' | 'request'): number {
    logDeletions(this.#deps.log, round, reason);
    for (const place of round.failed) {
      this.counts.failed += 1;
      if (this.#skip.size < MAX_SKIPPED) this.#skip.add(placeKey(place));
    }
    return round.deleted.length;
  }
}
