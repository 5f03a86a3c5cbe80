import type { Clock, Timer } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { parseRecordingName, parseUnclosedName } from '../files/file-name.js';
import type { JobRunner } from '../jobs/jobs.js';
import { BlindTimes, type Watched } from './blind-times.js';
import type { ClosedRecording } from './closed-within.js';
import { type Decision, decisionsText, parseDecisions } from './decisions.js';
import type { ProtectedSpan } from './delete-files.js';
import {
  type EventTimesOf,
  joined,
  POST_ROLL_MS,
  PRE_ROLL_MS,
  spansOf,
  type TimeSpan,
} from './kept-spans.js';
import { type ClockLook, MOST_SET_BACK_MS, SetClock } from './set-clock.js';

/** Outlives the service: up to which start of a recording it is decided what of them is kept, by camera. */
export type DecisionMemory = {
  /** As `decisions.ts` writes it; null: nothing was decided. */
  decided(): string | null;
  rememberDecided(text: string): void;
};

export type EventRecordingDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly runner: JobRunner;
  /** Cameras of which only what lies around events is kept; read anew for each look. */
  readonly cameraIds: () => readonly string[];
  readonly times: EventTimesOf;
  /** Times whose recordings stay, whatever is known of events; null: nobody knows now. */
  readonly spared: () => readonly ProtectedSpan[] | null;
  /** Whether what `times` knows outlives the service. */
  readonly isLasting: () => boolean;
  /** Whether what is to be seen on a camera is found out: where it isn't, no event means nothing. */
  readonly watched: (cameraId: string) => Watched;
  readonly memory: DecisionMemory;
};

const LOOK_MS = 10_000;
/** An event may be told of so late: inference takes seconds, and two keyframes; cameras report when they like. */
const LATE_MS = 60_000;
/** A camera is found to be recorded so at a look, and names have whole seconds. */
const JUST_BEGUN_MS = LOOK_MS + 2_000;
/** Recordings of a camera that are decided at a look, so that others get their turn. */
const MOST_A_LOOK = 50;
/** Of which it is known since when they are closed. */
const MOST_SEEN = 1_000;
/** Of one camera that wait to be decided on. */
const MOST_LEFT = 100;
/** Some ten minutes of looks. */
const MOST_FAULTS = 60;

/**
 * Keeps of some cameras' recordings what lies around events. They are recorded all the time, in short files; once a file
 * is closed and no event can be told of any more that has some of it, what belongs to none goes. Files are decided on in
 * their order, and once each: what was kept then is an ordinary recording.
 */
export class EventRecording {
  /** Recordings that were cut, that went as a whole, and that stayed though nobody can tell their parts. */
  readonly counts = { cut: 0, deleted: 0, unreadable: 0 };
  readonly #archiveDir: string;
  readonly #deps: EventRecordingDeps;
  readonly #decidedMs: Map<string, number>;
  /** How often the disk refused, and which recording was looked at last, by camera. */
  readonly #faults = new Map<string, number>();
  readonly #atMs = new Map<string, number>();
  /** When recordings began whose writer died, by camera. */
  readonly #leftMs = new Map<string, Set<number>>();
  /** When a closed recording was seen first, by the monotonic clock, by camera. */
  readonly #seenMs = new Map<string, ReadonlyMap<string, number>>();
  readonly #blind: BlindTimes;
  readonly #time: SetClock;
  #stored: string;
  #isStoringFailed = false;
  #timer: Timer | null = null;
  #looking: Promise<void> | null = null;
  #areLeftoversGone = false;
  #isFailing = false;
  #isStopped = false;

  constructor(options: { readonly archiveDir: string }, deps: EventRecordingDeps) {
    this.#archiveDir = options.archiveDir;
    this.#deps = deps;
    this.#stored = deps.memory.decided() ?? '{}';
    this.#blind = new BlindTimes(deps.clock.wallMs());
    const stored = [...parseDecisions(this.#stored)];
    const knownMs = stored.flatMap(([, { decidedMs, seenMs, blindMs }]) => [
      decidedMs,
      seenMs,
      ...(blindMs ?? []),
    ]);
    this.#time = new SetClock(deps.clock, knownMs.length > 0 ? Math.max(...knownMs) : null);
    this.#decidedMs = new Map(stored.map(([cameraId, { decidedMs }]) => [cameraId, decidedMs]));
    for (const [cameraId, { leftMs, blindMs, seenMs }] of stored) {
      if (leftMs.length > 0) this.#leftMs.set(cameraId, new Set(leftMs.slice(0, MOST_LEFT)));
      this.#blind.restore(cameraId, blindMs && { fromMs: blindMs[0], toMs: blindMs[1] }, seenMs);
      this.#blind.pass(cameraId, this.#decidedMs.get(cameraId)!);
    }
  }

  start(): void {
    this.#timer = this.#deps.clock.every(LOOK_MS, () => void this.look());
    void this.look();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  /**
   * A recording whose writer died stays whole: what happened at its end may be known to nobody, least of all after a power
   * cut, which costs events of the last seconds; and that may be what the recording is wanted for.
   */
  keepLeft(cameraId: string, fileName: string): void {
    const startMs = parseRecordingName(parseUnclosedName(fileName) ?? fileName)?.startMs;
    const decidedMs = this.#decidedMs.get(cameraId);
    if (startMs === undefined || decidedMs === undefined) return;
    // Those that were passed over while nothing could be seen are decided on, too.
    const left = new Set([...(this.#leftMs.get(cameraId) ?? [])].filter((leftMs) => leftMs >= decidedMs));
    if (left.size < MOST_LEFT) this.#leftMs.set(cameraId, left.add(startMs));
    this.#remember();
  }

  /**
   * What time it is for whatever is decided now. By a clock that is set ahead, as at a start in 1970, recordings are long over
   * that were made before only events were wanted, or are decided on: whatever it finds stays.
   */
  #lookAtClock(): ClockLook {
    const look = this.#time.look();
    if (look.hasLeapt)
      for (const cameraId of this.#decidedMs.keys()) this.#pass(cameraId, look.nowMs - JUST_BEGUN_MS);
    return look;
  }

  /** Whose recordings are decided on: those that were made before that was set stay as they are. */
  #follow(): void {
    const { nowMs, isBehind } = this.#lookAtClock();
    const cameraIds = new Set(this.#deps.cameraIds());
    for (const cameraId of this.#decidedMs.keys()) if (!cameraIds.has(cameraId)) this.forget(cameraId);
    for (const cameraId of cameraIds) {
      const decidedMs = this.#decidedMs.get(cameraId);
      // Where the clock was set back all that is named by this time stays until it is there again: who knows which of it was
      // made before only events were wanted. One that was ahead by more would keep all for too long, once that is certain.
      const wasAhead = decidedMs !== undefined && decidedMs > nowMs + MOST_SET_BACK_MS && !isBehind;
      if (decidedMs === undefined || wasAhead) this.#decidedMs.set(cameraId, nowMs - JUST_BEGUN_MS);
    }
  }

  /** From when on of each of these cameras it isn't decided yet which recordings stay. */
  undecided(): (readonly [cameraId: string, fromMs: number])[] {
    return this.#deps
      .cameraIds()
      .map((cameraId) => [cameraId, this.#decidedMs.get(cameraId) ?? Number.NEGATIVE_INFINITY] as const);
  }

  /** The camera is deleted: one that is made anew under its id is another one. */
  forget(cameraId: string): void {
    for (const known of [this.#decidedMs, this.#faults, this.#atMs, this.#leftMs, this.#seenMs, this.#blind])
      known.delete(cameraId);
  }

  /** Decides on what can be decided. Joins a look that is under way; never rejects. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { runner } = this.#deps;
    const archiveDir = this.#archiveDir;
    try {
      if (!this.#areLeftoversGone) await runner.run('removeCutPieces', { archiveDir });
      this.#areLeftoversGone = true;
      this.#follow();
      for (const cameraId of this.#decidedMs.keys()) {
        if (this.#isStopped) return;
        await this.#decide(cameraId).catch((fault) => this.#onFault(cameraId, fault));
      }
      this.#remember();
      if (this.#faults.size === 0) this.#isFailing = false;
    } catch (fault) {
      this.#tell(fault);
    }
  }

  /** What isn't decided on stays. One that can't be, again and again, holds up those behind it no longer. */
  #onFault(cameraId: string, fault: unknown): void {
    if (this.#isStopped) return;
    this.#tell(fault);
    const faults = (this.#faults.get(cameraId) ?? 0) + 1;
    if (faults < MOST_FAULTS) this.#faults.set(cameraId, faults);
    else this.#pass(cameraId, this.#atMs.get(cameraId) ?? this.#deps.clock.wallMs());
  }

  /** Once, not at each look. */
  #tell(fault: unknown): void {
    if (!this.#isFailing && !this.#isStopped)
      this.#deps.log.warn('recordings of no event can not be let go', { reason: messageOf(fault) });
    this.#isFailing = true;
  }

  /** Recordings that begin up to then are decided on. */
  #pass(cameraId: string, startMs: number): void {
    this.#faults.delete(cameraId);
    // It may be recorded otherwise meanwhile, or be deleted.
    const decidedMs = this.#decidedMs.get(cameraId);
    if (decidedMs === undefined) return;
    this.#decidedMs.set(cameraId, Math.max(decidedMs, startMs + 1));
    this.#blind.pass(cameraId, startMs + 1);
  }

  async #decide(cameraId: string): Promise<void> {
    const { watched, isLasting, runner } = this.#deps;
    const { nowMs, isBehind } = this.#lookAtClock();
    const decidedMs = this.#decidedMs.get(cameraId);
    if (decidedMs === undefined) return;
    if (!isBehind) this.#blind.clockIsRight(cameraId, nowMs);
    this.#blind.look(cameraId, watched(cameraId), nowMs);
    // What is known now may be forgotten when it is asked for: all of this time is kept.
    if (!isLasting()) {
      this.#decidedMs.set(cameraId, Math.max(decidedMs, nowMs));
      return;
    }
    if (isBehind) return;
    const toMs = Number.POSITIVE_INFINITY;
    const input = { archiveDir: this.#archiveDir, cameraId, fromMs: decidedMs, toMs, count: MOST_SEEN };
    const closed = await runner.run('closedWithin', input);
    const due = this.#dueOf(cameraId, closed, nowMs - LATE_MS);
    for (const [at, recording] of due.entries()) {
      if (this.#isStopped) return;
      const { fileName, startMs } = recording;
      this.#atMs.set(cameraId, startMs);
      const kept = this.#keptOf(cameraId, recording);
      if (kept === null) return;
      const names =
        kept === 'all'
          ? []
          : await this.#cut(cameraId, fileName, kept).catch(async (fault) => {
              await this.#letGoOf(cameraId, due.slice(at + 1));
              throw fault;
            });
      this.#leftMs.get(cameraId)?.delete(startMs);
      const starts = names.map((name) => parseRecordingName(name)?.startMs ?? startMs);
      this.#pass(cameraId, Math.max(startMs, ...starts));
      if (!this.#decidedMs.has(cameraId)) return;
    }
  }

  /** What of a recording is kept; null: nobody knows yet. */
  #keptOf(cameraId: string, { startMs, endMs }: ClosedRecording): 'all' | readonly TimeSpan[] | null {
    const known = this.#deps.times(cameraId, startMs - POST_ROLL_MS, endMs + PRE_ROLL_MS);
    const spared = this.#deps.spared()?.filter((span) => span.cameraId === cameraId) ?? null;
    // While an event goes on, nobody knows how long it will turn out to have been.
    if (known === null || spared === null || known.events.some(({ toMs }) => toMs === null)) return null;
    const isLeft = this.#leftMs.get(cameraId)?.has(startMs) === true;
    if (isLeft || startMs < known.sinceMs) return 'all';
    if (this.#blind.has(cameraId, { fromMs: startMs, toMs: endMs })) return 'all';
    // A camera that has more to tell than it is asked for tells the rest later.
    if (endMs > this.#blind.seenMs(cameraId)) return null;
    return joined([...spansOf(known.events), ...spared]);
  }

  /** One before them can't be cut, perhaps for want of room: those of no event go all the same, for which nothing is copied. */
  async #letGoOf(cameraId: string, behind: readonly ClosedRecording[]): Promise<void> {
    for (const recording of behind) {
      const { startMs, endMs, fileName } = recording;
      if (this.#isStopped) return;
      const kept = this.#keptOf(cameraId, recording);
      if (kept === null) return;
      if (kept === 'all' || kept.some(({ fromMs, toMs }) => fromMs <= endMs && toMs >= startMs)) continue;
      await this.#cut(cameraId, fileName, []);
    }
  }

  /** Of closed recordings in their order those of which nothing is told any more, be the clock set meanwhile or not. */
  #dueOf(cameraId: string, closed: readonly ClosedRecording[], lateMs: number): readonly ClosedRecording[] {
    const nowMs = this.#deps.clock.monotonicMs();
    const before = this.#seenMs.get(cameraId);
    const seen = new Map<string, number>();
    // How long those are closed that are there at the first look is known by their names alone.
    for (const { fileName } of closed)
      seen.set(fileName, before === undefined ? Number.NEGATIVE_INFINITY : (before.get(fileName) ?? nowMs));
    this.#seenMs.set(cameraId, seen);
    const isEarly = ({ fileName, endMs }: ClosedRecording): boolean =>
      endMs > lateMs || nowMs - seen.get(fileName)! < LATE_MS;
    const count = closed.findIndex(isEarly);
    return closed.slice(0, Math.min(count < 0 ? closed.length : count, MOST_A_LOOK));
  }

  async #cut(cameraId: string, fileName: string, kept: readonly TimeSpan[]): Promise<readonly string[]> {
    const input = { archiveDir: this.#archiveDir, cameraId, fileName, kept };
    const { outcome, names } = await this.#deps.runner.run('cutRecording', input);
    if (outcome === 'cut' || outcome === 'deleted' || outcome === 'unreadable') this.counts[outcome] += 1;
    if (outcome === 'unreadable')
      this.#deps.log.warn('a recording stays whole: it does not tell its parts', {
        camera_id: cameraId,
        file: fileName,
      });
    return names;
  }

  /** Where that fails, the next start decides once more, and comes to the same. */
  #remember(): void {
    const decisions = [...this.#decidedMs].map(([cameraId, decidedMs]): [string, Decision] => {
      const leftMs = [...(this.#leftMs.get(cameraId) ?? [])];
      const blind = this.#blind.of(cameraId);
      const blindMs = blind && ([blind.fromMs, blind.toMs] as const);
      return [cameraId, { decidedMs, leftMs, blindMs, seenMs: Math.floor(this.#blind.seenMs(cameraId)) }];
    });
    const text = decisionsText(new Map(decisions));
    if (text === this.#stored) return;
    try {
      this.#deps.memory.rememberDecided(text);
      this.#stored = text;
      this.#isStoringFailed = false;
    } catch (fault) {
      if (!this.#isStoringFailed)
        this.#deps.log.warn('could not store which recordings were decided on', { reason: messageOf(fault) });
      this.#isStoringFailed = true;
    }
  }
}
