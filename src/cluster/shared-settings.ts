import type { Change } from '../base/change.js';
import type { Clock } from '../base/clock.js';
import { AppError, messageOf } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import type { Signal } from '../base/signal.js';
import { Turns } from '../base/turns.js';
import type { Rehearsal, SharedEffects, SharedRecords } from '../store/shared/shared-records.js';
import { clusterError } from './cluster-error.js';
import { isNext, MARK_KEY, markOf, newId, newUpkeepId, nextMark, relationOf } from './cluster-mark.js';
import type { CopyMemory } from './copy-memory.js';
import { type ChangeLog, doubt, Joining, markRecord } from './joining.js';
import type { LogEntry } from './log-entry.js';
import { SettingsCopy } from './settings-copy.js';
import { StaleError } from './settings-log.js';
import { markIn, sift } from './sift.js';

export type SharedSettingsDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly records: SharedRecords;
  readonly changes: ChangeLog;
  readonly memory: CopyMemory;
  /** Keeps what this box had before a cluster's settings take its place; answers where. */
  readonly keepCopy: () => string;
};

/** How long a change is tried for: browsers wait. */
const CHANGE_MS = 5_000;
const RETRY_MS = 100;
const MAX_WAITING = 256;
/** Less than the servers take in one batch by default. */
const MAX_PUT_RIGHT = 500;

/** A change as it was tried once. */
type Attempt<T> = { readonly changeId: string; readonly rehearsal: Rehearsal<T> };

const lateError = (thrown: unknown, isInDoubt: boolean): AppError => {
  if (thrown instanceof StaleError)
    return clusterError('cluster_unavailable', 'others change something all the time: try again', thrown);
  const doubt = isInDoubt ? '; the change may be made yet: look again' : '';
  return clusterError('cluster_unavailable', `${messageOf(thrown)}${doubt}`, thrown);
};

const isUnavailable = (thrown: unknown): boolean =>
  thrown instanceof AppError && thrown.code === 'cluster_unavailable';

/** Of what the cluster has, and the own disk does not take. */
const notHereYet = (thrown: unknown): unknown => {
  if (!(thrown instanceof AppError) || thrown.code !== 'database_unavailable') return thrown;
  const message = `the change was made in the cluster; this box has it when its disk takes it: ${thrown.message}`;
  return new AppError(thrown.code, message, { cause: thrown, details: thrown.details });
};

/**
 * What was configured, alike on all boxes. The log of changes decides: a change is rehearsed on this box's copy, appended if
 * nothing came in between, and only then written to the copy; else what came is taken over, and it is rehearsed anew. So
 * each change knows all before it, whichever box it was made at, and nothing is written here that the cluster doesn't have.
 */
export class SharedSettings {
  readonly #deps: SharedSettingsDeps;
  readonly #turns: Turns;
  readonly #copy: SettingsCopy;
  readonly #joining: Joining;
  /** Null: the log was not read yet, or it is another one now. */
  #created: string | null = null;

  constructor(deps: SharedSettingsDeps) {
    this.#deps = deps;
    this.#copy = new SettingsCopy(deps);
    this.#joining = new Joining({ ...deps, copy: this.#copy });
    const busy = () => clusterError('cluster_unavailable', 'too many changes wait for the cluster');
    this.#turns = new Turns(
      { atOnce: 1, maxWaiting: MAX_WAITING, maxInLane: MAX_WAITING, patienceMs: CHANGE_MS },
      { clock: deps.clock, busy },
    );
  }

  /** Whether the copy is one of the cluster's settings, however old. */
  get isJoined(): boolean {
    return this.#created !== null;
  }

  /** Other boxes changed something. */
  get changed(): Signal<[effects: SharedEffects]> {
    return this.#copy.changed;
  }

  /** What a person has to know; null: all is well. */
  get fault(): string | null {
    return this.#joining.loss ?? this.#copy.foreign.fault;
  }

  readonly change: Change = (work) => this.#turns.run('change', () => this.#change(work));

  /** Takes over what is new. Throws `cluster_unavailable`, `cluster_key_wrong`. */
  follow(): Promise<void> {
    return this.#turns.run('follow', () => this.#catchUp());
  }

  /** The same, asks whether it is still the same log, and puts right what others have done to it. */
  check(): Promise<void> {
    return this.#turns.run('follow', async () => {
      await this.#compare();
      await this.#catchUp();
      await this.#putRight();
    });
  }

  async #change<T>(work: () => T): Promise<T> {
    const { clock, records } = this.#deps;
    const untilMs = clock.monotonicMs() + CHANGE_MS;
    /** Each may have been made, also if there was no answer: then the mark says so. */
    const attempts: Attempt<T>[] = [];
    /** Where it was refused last, and nothing newer could be read since. */
    let staleAt = -1;
    /** Perhaps it is another log now. */
    let isStuck = false;
    for (;;) {
      try {
        if (isStuck) {
          isStuck = false;
          await this.#compare();
        }
        if (!this.isJoined || attempts.length > 0) {
          isStuck = true;
          await this.#catchUp(attempts.at(-1)?.rehearsal.keptSessionIds);
          isStuck = false;
        }
        const made = attempts.find(({ changeId }) => this.#copy.mark?.changes.includes(changeId));
        if (made !== undefined) return made.rehearsal.result;
        const attempt = { changeId: newId(), rehearsal: records.rehearse(work) };
        if (attempt.rehearsal.records.length === 0) return attempt.rehearsal.result;
        attempts.push(attempt);
        await this.#append(attempt);
        return attempt.rehearsal.result;
      } catch (thrown) {
        const isStale = thrown instanceof StaleError;
        if (!isStale && !isUnavailable(thrown)) throw thrown;
        if (clock.monotonicMs() >= untilMs) throw lateError(thrown, attempts.length > 0);
        if (isStale) {
          isStuck = this.#copy.sequence === staleAt;
          staleAt = this.#copy.sequence;
        }
        if (!isStale || isStuck) await this.#pause();
      }
    }
  }

  async #append({ changeId, rehearsal }: Attempt<unknown>): Promise<void> {
    const { mark: before, sequence: expected } = this.#copy;
    const mark = nextMark(before, changeId);
    const all = [...rehearsal.records, markRecord(mark)];
    const sequence = await this.#deps.changes.append(all, expected, changeId);
    this.#copy.foreign.heal(all.map(({ key }) => key));
    try {
      // Where the disk doesn't take it, it is read again from the log, as what others changed.
      this.#copy.apply(rehearsal.records, { sequence, mark }, rehearsal.keptSessionIds);
    } catch (thrown) {
      throw notHereYet(thrown);
    }
  }

  async #compare(): Promise<void> {
    if (!this.isJoined) return;
    const { changes } = this.#deps;
    const { created, lastSequence } = await changes.state();
    const { sequence, mark } = this.#copy;
    if (created !== this.#created || lastSequence < sequence) this.#created = null;
    if (!this.isJoined || sequence === 0) return;
    // Servers that lost the end of the log may have given the same numbers to others.
    const there = await changes.entryFrom(sequence);
    if (there?.sequence !== sequence || there.key !== MARK_KEY || there.text === null) return;
    if (markOf(JSON.parse(there.text))?.changes.at(-1) !== mark?.changes.at(-1)) this.#created = null;
  }

  async #catchUp(keptSessionIds: readonly string[] = []): Promise<void> {
    const { changes } = this.#deps;
    if (!this.isJoined) return this.#join();
    const told = await this.#confirmed();
    if (told !== null) await this.#takeOver(told, keptSessionIds);
    // What was told need not be all.
    if (this.isJoined) await this.#takeOver(await changes.readAfter(this.#copy.sequence), keptSessionIds);
  }

  /** What was told of the next change, if the log has that: what is said again of one that was put back has not. */
  async #confirmed(): Promise<LogEntry[] | null> {
    const { changes } = this.#deps;
    const { sequence, mark: before } = this.#copy;
    const told = changes.toldAfter(sequence);
    const last = told?.at(-1);
    const mark = told === null ? null : markIn(told);
    if (last === undefined || last.changeId === null || mark === null || before === null) return null;
    if (!isNext(mark, before, last.changeId)) return null;
    const there = markIn(await changes.readAfter(last.sequence - 1));
    const isSameLife = there?.cluster === mark.cluster && there.putBacks === mark.putBacks;
    return isSameLife && there.changes.includes(last.changeId) ? told : null;
  }

  async #takeOver(entries: readonly LogEntry[], keptSessionIds: readonly string[]): Promise<void> {
    const copy = this.#copy;
    const last = entries.at(-1);
    if (last === undefined) return copy.announce();
    const sifted = sift(entries, copy.position);
    const { mark, records, foreignKeys, isInDoubt } = sifted;
    const relation = mark === null || copy.mark === null ? null : relationOf(copy.mark, mark);
    if (mark !== null && relation !== 'same' && relation !== 'ahead') return this.#join();
    const isOther = mark?.cluster !== copy.mark?.cluster || mark?.putBacks !== copy.mark?.putBacks;
    if (mark !== null && copy.mark !== null && isOther) return this.#join();
    if (isInDoubt && !copy.foreign.isOld(MARK_KEY, this.#deps.clock.monotonicMs())) {
      copy.seeForeign([MARK_KEY], () => false);
      throw doubt();
    }
    copy.foreign.heal([...records.map(({ key }) => key), ...(mark === null ? [] : [MARK_KEY])]);
    const isUnchanged = relation === 'same' || (mark === null && !isInDoubt);
    copy.seeForeign(foreignKeys, (key) => isUnchanged || sifted.unchangedKeys.has(key));
    if (mark === null) copy.passOver(last.sequence);
    else copy.announce(copy.apply(records, { sequence: last.sequence, mark }, keptSessionIds));
  }

  async #join(): Promise<void> {
    this.#created = null;
    this.#created = await this.#joining.join();
  }

  /** Writes what this box has over what is foreign. */
  async #putRight(): Promise<void> {
    const { changes, records, clock, log } = this.#deps;
    const isHere = (key: string): boolean => key === MARK_KEY || records.text(key) !== null;
    const due = this.#copy.foreign.due(clock.monotonicMs(), MAX_PUT_RIGHT, isHere);
    if (due.length === 0) return;
    const ours = due.filter((key) => key !== MARK_KEY).map((key) => ({ key, text: records.text(key) }));
    const changeId = newUpkeepId();
    const mark = nextMark(this.#copy.mark, changeId);
    try {
      const all = [...ours, markRecord(mark)];
      const sequence = await changes.append(all, this.#copy.sequence, changeId);
      this.#copy.foreign.heal(due);
      this.#copy.apply(ours, { sequence, mark });
    } catch (thrown) {
      // Another box was first, maybe with the same.
      if (thrown instanceof StaleError) return;
      throw thrown;
    }
    log.warn("what was written over by somebody without CLUSTER_KEY was put back from this box's copy", {
      count: due.length,
    });
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => this.#deps.clock.after(RETRY_MS, resolve));
  }
}
