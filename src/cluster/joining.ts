import type { Clock } from '../base/clock.js';
import { type AppError, messageOf } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import type { SharedRecord, SharedRecords } from '../store/shared/shared-records.js';
import { clusterError } from './cluster-error.js';
import {
  type ClusterMark,
  isUntouched,
  MARK_KEY,
  newId,
  newUpkeepId,
  nextMark,
  relationOf,
} from './cluster-mark.js';
import type { CopyMemory, CopyState } from './copy-memory.js';
import type { LogEntry, LogRecord } from './log-entry.js';
import type { SettingsCopy } from './settings-copy.js';
import { type LogState, StaleError } from './settings-log.js';
import { markIn, type Sifted, sift } from './sift.js';

/** What of the log is needed here. */
export type ChangeLog = {
  state(): Promise<LogState>;
  readAfter(sequence: number): Promise<LogEntry[]>;
  entryFrom(sequence: number): Promise<LogEntry | null>;
  toldAfter(sequence: number): LogEntry[] | null;
  append(records: readonly LogRecord[], expected: number, changeId: string): Promise<number>;
};

export type JoiningDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly records: SharedRecords;
  readonly changes: ChangeLog;
  readonly memory: CopyMemory;
  readonly copy: SettingsCopy;
  readonly keepCopy: () => string;
};

/** The whole log, beside what this box has. */
type Reading = {
  readonly sifted: Sifted;
  readonly sequence: number;
  /** Null where the log is empty. */
  readonly mark: ClusterMark | null;
  readonly theirs: ReadonlyMap<string, string>;
  readonly own: ReadonlyMap<string, string>;
  /** What the own is a copy of; null: of nothing that this cluster had. */
  readonly known: CopyState | null;
  /** This box had settings of a cluster of this name and key, which is another one now. */
  readonly isBegunAnew: boolean;
};

export const markRecord = (mark: ClusterMark): LogRecord => ({ key: MARK_KEY, text: JSON.stringify(mark) });

/** Whoever made the last change has its mark, and writes it again. */
export const doubt = (): AppError =>
  clusterError(
    'cluster_unavailable',
    'somebody without CLUSTER_KEY has written over what tells of the last changes: a box that has them puts that right',
  );

const mapOf = (records: readonly SharedRecord[]): Map<string, string> =>
  new Map(records.flatMap(({ key, text }) => (text === null ? [] : [[key, text]])));

/** Nobody has said that what the others have set is to go, and with it the recording of their cameras. */
const poorer = (theirs: number, own: number): AppError =>
  clusterError(
    'cluster_unavailable',
    `its settings were lost, and begun anew at another box: ${theirs} records, where this box has ${own} of before, which it goes on by; the guide tells how to say which count (“Many boxes”)`,
  );

const NOT_KEPT = "what this box had before can't be kept, and so the cluster's settings don't take its place";
const KEEP_RETRY_MS = 60_000;

const unsureOf = (known: CopyState | null): ((key: string) => boolean) => {
  if (known?.unsure === 'many') return () => true;
  const keys = new Set(known?.unsure);
  return (key) => keys.has(key);
};

const isOrder = (key: string): boolean => key.startsWith('gone/');

const isAlike = (one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean =>
  one.size === other.size && [...one].every(([key, text]) => other.get(key) === text);

/** Reads the whole log, and decides whose settings count: those of the cluster or, where it has none or lost them, of this box. */
export class Joining {
  readonly #deps: JoiningDeps;
  #loss: string | null = null;
  /** Where this box's own are kept, until something has taken their place. */
  #keptPath: string | null = null;
  #nextKeepMs = 0;

  constructor(deps: JoiningDeps) {
    this.#deps = deps;
  }

  /** What the cluster lost that this box had, as long as the process lives. */
  get loss(): string | null {
    return this.#loss;
  }

  /** Answers which log it is. Throws `cluster_unavailable`, `cluster_key_wrong`. */
  async join(): Promise<string> {
    const { created } = await this.#deps.changes.state();
    try {
      await this.#decide(await this.#read());
    } catch (thrown) {
      if (!(thrown instanceof StaleError)) throw thrown;
      throw clusterError('cluster_unavailable', 'another box wrote first: look again', thrown);
    }
    this.#keptPath = null;
    return created;
  }

  async #read(): Promise<Reading> {
    const { changes, records, memory, copy, clock } = this.#deps;
    const entries = await changes.readAfter(0);
    const remembered = memory.read();
    if (entries.length > 0 && entries.every(({ changeId }) => changeId === null))
      throw clusterError(
        'cluster_key_wrong',
        `nothing of what the cluster keeps can be opened (${entries[0]?.key}): CLUSTER_KEY is another than that of the cluster`,
      );
    const mark = markIn(entries);
    // Sequences and counts of another cluster tell nothing of this one's.
    const known = mark === null || mark.cluster === remembered?.mark.cluster ? remembered : null;
    const sifted = sift(entries, known);
    const isDoubtful = sifted.isInDoubt && !copy.foreign.isOld(MARK_KEY, clock.monotonicMs());
    if (mark === null && entries.length > 0 && (known === null || isDoubtful)) {
      copy.seeForeign([MARK_KEY], () => false);
      throw doubt();
    }
    return {
      ...{ sifted, known, own: records.all(), theirs: mapOf(sifted.records) },
      isBegunAnew: known === null && remembered !== null && memory.isOfThisKey,
      sequence: entries.at(-1)?.sequence ?? 0,
      mark: mark ?? (entries.length > 0 ? (known?.mark ?? null) : null),
    };
  }

  async #decide(reading: Reading): Promise<void> {
    const { log, copy } = this.#deps;
    const { sifted, known, mark, own, theirs, isBegunAnew } = reading;
    copy.foreign.keepOnly(sifted.foreignKeys);
    const relation = known === null || mark === null ? null : relationOf(known.mark, mark);
    const isUnsure = unsureOf(known);
    const isSure = (key: string): boolean => relation === 'same' && !sifted.isInDoubt && !isUnsure(key);
    copy.seeForeign(sifted.foreignKeys, isSure);
    if (mark === null ? own.size > 0 : relation === 'behind') return this.#putBack(reading);
    const isTheirsEmpty = isUntouched(theirs) && sifted.foreignKeys.length === 0;
    if (known === null && isTheirsEmpty && !isUntouched(own)) return this.#putBack(reading);
    if (isBegunAnew && theirs.size < own.size) throw poorer(theirs.size, own.size);
    if (relation === 'forked' || (isBegunAnew && !isAlike(own, theirs))) {
      const path = this.#keep();
      this.#loss = 'the cluster has lost changes that this box had: it has kept them in a file';
      log.error('the cluster has lost changes that this box had, and made others since: its own are kept', {
        path,
      });
    } else if (known === null && !isUntouched(own) && !isAlike(own, theirs))
      log.warn("the cluster's settings have taken the place of this box's own, which are kept", {
        path: this.#keep(),
      });
    copy.replaceBy(this.#wanted(reading), { sequence: reading.sequence, mark });
  }

  #wanted({ sifted, known, own }: Reading): Map<string, string> {
    const isWanted = ({ key, sequence }: { readonly key: string; readonly sequence: number }): boolean =>
      // What was ordered while this box was no member was never about its disk; what it knew already is done.
      !isOrder(key) || (known !== null && sequence > known.sequence);
    const foreign = new Set(known === null ? [] : sifted.foreignKeys);
    const kept = [...own].filter(([key]) => isOrder(key) || foreign.has(key));
    return new Map([...kept, ...mapOf(sifted.records.filter(isWanted))]);
  }

  /** Writes what this box has to the log. */
  async #putBack({ sifted, sequence: expected, mark: before, known, own, theirs }: Reading): Promise<void> {
    const { changes, records, copy, log } = this.#deps;
    const missing = records.missingIn(theirs);
    const isMissing = new Set(missing.map(({ key }) => key));
    const isUnsure = unsureOf(known);
    const isNobodys = (key: string): boolean => key !== MARK_KEY && !isMissing.has(key) && !isUnsure(key);
    const nobodys = sifted.foreignKeys.filter(isNobodys);
    const changeId = known === null ? newId() : newUpkeepId();
    const next = nextMark(known?.mark ?? before, changeId);
    // Who has read up to some number of it, of before, has to read all.
    const mark = { ...next, putBacks: next.putBacks + 1 };
    const all = [...missing, ...nobodys.map((key) => ({ key, text: own.get(key) ?? null }))];
    const sequence = await changes.append([...all, markRecord(mark)], expected, changeId);
    copy.foreign.heal([...all.map(({ key }) => key), MARK_KEY]);
    copy.apply(all, { sequence, mark });
    const cameras = [...own.keys()].filter((key) => key.startsWith('cam/')).length;
    if (known === null)
      log.info("the cluster had no settings: it has taken over this box's own", { cameras });
    else if (before === null)
      log.warn("the cluster had lost its settings: this box's copy was put back", { cameras });
    else
      log.warn("the cluster had lost its last changes: this box's copy was put back", {
        changes: known.mark.count - before.count,
      });
  }

  /** What can't be kept is not replaced; and a full disk is not filled more each second. */
  #keep(): string {
    const nowMs = this.#deps.clock.monotonicMs();
    if (nowMs < this.#nextKeepMs) throw clusterError('cluster_unavailable', NOT_KEPT);
    this.#nextKeepMs = nowMs + KEEP_RETRY_MS;
    try {
      this.#keptPath ??= this.#deps.keepCopy();
    } catch (thrown) {
      throw clusterError('cluster_unavailable', `${NOT_KEPT}: ${messageOf(thrown)}`, thrown);
    }
    this.#nextKeepMs = 0;
    return this.#keptPath;
  }
}
