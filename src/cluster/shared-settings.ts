import type { Change } from '../base/change.js';
import type { Clock } from '../base/clock.js';
import { AppError, messageOf } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import { Signal } from '../base/signal.js';
import { Turns } from '../base/turns.js';
import type {
  Rehearsal,
  SharedEffects,
  SharedRecord,
  SharedRecords,
} from '../store/shared/shared-records.js';
import { clusterError } from './cluster-error.js';
import { type ClusterMark, isUntouched, MARK_KEY, markOf, newId, nextMark } from './cluster-mark.js';
import { type LogEntry, type LogRecord, type LogState, StaleError } from './settings-log.js';

/** What of the log is needed here. */
export type ChangeLog = {
  state(): Promise<LogState>;
  readAfter(sequence: number): Promise<LogEntry[]>;
  append(records: readonly LogRecord[], expected: number): Promise<number>;
};

export type SharedSettingsDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly records: SharedRecords;
  readonly changes: ChangeLog;
  /** The cluster that this box belongs to; null: none yet. */
  readonly membership: { readonly cluster: string | null; join(cluster: string): void };
  /** Keeps what this box had before a cluster's settings take its place; answers where. */
  readonly keepCopy: () => string;
};

/** How long a change is tried for: browsers wait. */
const CHANGE_MS = 5_000;
const RETRY_MS = 100;
const MAX_WAITING = 256;

/** A change as it was tried once. */
type Attempt<T> = { readonly changeId: string; readonly rehearsal: Rehearsal<T> };

const markIn = (entries: readonly LogEntry[]): ClusterMark | null =>
  markOf(entries.findLast(({ key }) => key === MARK_KEY)?.text ?? null);

/** Without what is no record. */
const recordsIn = (entries: readonly LogEntry[]): SharedRecord[] =>
  entries.filter(({ key }) => key !== MARK_KEY && key !== '');

const mapOf = (records: readonly SharedRecord[]): Map<string, string> =>
  new Map(records.flatMap(({ key, text }) => (text === null ? [] : [[key, text]])));

const lateError = (thrown: unknown, isInDoubt: boolean): AppError => {
  if (thrown instanceof StaleError)
    return clusterError('cluster_unavailable', 'others change something all the time: try again', thrown);
  const doubt = isInDoubt ? '; the change may be made yet: look again' : '';
  return clusterError('cluster_unavailable', `${messageOf(thrown)}${doubt}`, thrown);
};

const isUnavailable = (thrown: unknown): boolean =>
  thrown instanceof AppError && thrown.code === 'cluster_unavailable';

/**
 * What was configured, alike on all boxes. The log of changes decides: a change is rehearsed on this box's copy, appended if
 * nothing came in between, and only then written to the copy; else what came is taken over, and it is rehearsed anew. So
 * each change knows all before it, whichever box it was made at, and nothing is written here that the cluster doesn't have.
 */
export class SharedSettings {
  /** Other boxes changed something. */
  readonly changed = new Signal<[effects: SharedEffects]>();
  readonly #deps: SharedSettingsDeps;
  readonly #turns: Turns;
  /** Null: the log was not read yet, or it is another one now. */
  #created: string | null = null;
  /** All up to here is in the copy. */
  #sequence = 0;
  #mark: ClusterMark | null = null;

  constructor(deps: SharedSettingsDeps) {
    this.#deps = deps;
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

  readonly change: Change = (work) => this.#turns.run('change', () => this.#change(work));

  /** Takes over what is new. Throws `cluster_unavailable`, `cluster_key_wrong`. */
  follow(): Promise<void> {
    return this.#turns.run('follow', () => this.#catchUp());
  }

  /** The same, and asks whether it is still the same log. */
  check(): Promise<void> {
    return this.#turns.run('follow', async () => {
      await this.#compare();
      await this.#catchUp();
    });
  }

  async #change<T>(work: () => T): Promise<T> {
    const { clock, records } = this.#deps;
    const untilMs = clock.monotonicMs() + CHANGE_MS;
    /** Each may have been made, also if there was no answer: then the mark says so. */
    const attempts: Attempt<T>[] = [];
    for (;;) {
      try {
        if (!this.isJoined || attempts.length > 0)
          await this.#catchUp(attempts.at(-1)?.rehearsal.keptSessionIds);
        const made = attempts.find(({ changeId }) => this.#mark?.changes.includes(changeId));
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
        if (!isStale) await this.#pause();
      }
    }
  }

  async #append({ changeId, rehearsal }: Attempt<unknown>): Promise<void> {
    const { changes, records, membership } = this.#deps;
    const mark = nextMark(this.#mark, changeId);
    const sequence = await changes.append(
      [...rehearsal.records, { key: MARK_KEY, text: JSON.stringify(mark) }],
      this.#sequence,
    );
    // Where the disk doesn't take it, it is read again from the log, as what others changed.
    const effects = this.#write(() => {
      if (this.#mark === null) membership.join(mark.cluster);
      return records.apply(rehearsal.records, rehearsal.keptSessionIds);
    });
    this.#sequence = sequence;
    this.#mark = mark;
    this.#tell(effects);
  }

  #write<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (thrown) {
      if (!(thrown instanceof AppError) || thrown.code !== 'database_unavailable') throw thrown;
      const message = `the change was made in the cluster; this box has it when its disk takes it: ${thrown.message}`;
      throw new AppError(thrown.code, message, { cause: thrown, details: thrown.details });
    }
  }

  async #compare(): Promise<void> {
    if (!this.isJoined) return;
    const { created, lastSequence } = await this.#deps.changes.state();
    if (created !== this.#created || lastSequence < this.#sequence) this.#created = null;
  }

  async #catchUp(keptSessionIds: readonly string[] = []): Promise<void> {
    const { changes, records } = this.#deps;
    if (!this.isJoined) return this.#load();
    const entries = await changes.readAfter(this.#sequence);
    const mark = markIn(entries);
    if (mark !== null && mark.cluster !== this.#mark?.cluster) return this.#load();
    const last = entries.at(-1);
    if (last === undefined) return;
    const effects = records.apply(recordsIn(entries), keptSessionIds);
    this.#sequence = last.sequence;
    this.#mark = mark ?? this.#mark;
    this.#tell(effects);
    if (effects.kinds.size > 0) this.changed.emit(effects);
  }

  /** Reads all, and decides whose settings count: those of the cluster or, where it has none, of this box. */
  async #load(): Promise<void> {
    const { changes, records, membership, log } = this.#deps;
    this.#created = null;
    const { created } = await changes.state();
    const entries = await changes.readAfter(0);
    this.#sequence = entries.at(-1)?.sequence ?? 0;
    this.#mark = markIn(entries);
    const theirs = mapOf(recordsIn(entries));
    const own = records.all();
    const isMember = this.#mark !== null && this.#mark.cluster === membership.cluster;
    if (this.#mark === null ? own.size > 0 : !isMember && isUntouched(theirs) && !isUntouched(own))
      await this.#giveOwn(own, theirs);
    else {
      if (!isMember && !isUntouched(own))
        log.warn("the cluster's settings have taken the place of this box's own, which are kept", {
          path: this.#deps.keepCopy(),
        });
      const effects = records.replaceBy(theirs);
      this.#tell(effects);
      if (this.#mark !== null && !isMember) membership.join(this.#mark.cluster);
      if (effects.kinds.size > 0) this.changed.emit(effects);
    }
    this.#created = created;
  }

  async #giveOwn(own: ReadonlyMap<string, string>, theirs: ReadonlyMap<string, string>): Promise<void> {
    const { changes, records, membership, log } = this.#deps;
    const gone = [...theirs.keys()].filter((key) => !own.has(key)).map((key) => ({ key, text: null }));
    const mark = nextMark(this.#mark, newId());
    const given = [...own].map(([key, text]) => ({ key, text }));
    const all = [...gone, ...given, { key: MARK_KEY, text: JSON.stringify(mark) }];
    this.#sequence = await changes.append(all, this.#sequence);
    this.#mark = mark;
    records.replaceBy(own);
    const cameras = given.filter(({ key }) => key.startsWith('cam/')).length;
    if (membership.cluster === null)
      log.info("the cluster had no settings: it has taken over this box's own", { cameras });
    else log.warn("the cluster had lost its settings: this box's copy was put back", { cameras });
    membership.join(mark.cluster);
  }

  #tell({ refused }: SharedEffects): void {
    for (const { key, reason } of refused)
      this.#deps.log.error("a setting of the cluster can't be kept here: is a box of another version?", {
        key,
        reason,
      });
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => this.#deps.clock.after(RETRY_MS, resolve));
  }
}
