import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Clock, systemClock } from '../../src/base/clock.js';
import { createLogger } from '../../src/base/log.js';
import { clusterError } from '../../src/cluster/cluster-error.js';
import { CopyMemory } from '../../src/cluster/copy-memory.js';
import type { ChangeLog } from '../../src/cluster/joining.js';
import type { LogEntry, LogRecord } from '../../src/cluster/log-entry.js';
import { derivedKey, SealedText } from '../../src/cluster/sealed-text.js';
import { StaleError } from '../../src/cluster/settings-log.js';
import { SharedSettings } from '../../src/cluster/shared-settings.js';
import { ToldChange, toldParts, type WrittenChange } from '../../src/cluster/told-change.js';
import { SharedRecords } from '../../src/store/shared/shared-records.js';
import { Store } from '../../src/store/store.js';
import { tempFolder } from '../support/temp-folder.js';

/** `disk`: that of the box takes nothing from when it was made until a while later. */
export type Fault = 'none' | 'away' | 'unanswered' | 'later' | 'disk';

const sealed = new SealedText(derivedKey('secret', 'site', 'settings'));

/** The log as the servers have it (of each key the last), and what becomes of each call of one box. */
export class ModelLog {
  created = 'first';
  lastSequence = 0;
  entries: LogEntry[] = [];
  /** All that was ever there. */
  readonly written: LogRecord[] = [];
  /** Whether a box hears the next message in which another one tells of a change. */
  isHeard = (): boolean => true;
  readonly #boxes: ToldChange[] = [];
  /** All that boxes told of their changes. */
  readonly #told: Buffer[] = [];

  append(records: readonly LogRecord[], expected: number, changeId: string | null): number {
    this.appendCount += 1;
    if (this.lastSequence !== expected) throw new StaleError();
    for (const record of records) this.#put({ ...record, sequence: this.lastSequence + 1, changeId });
    if (changeId !== null) this.#tell({ expected, changeId, records });
    return this.lastSequence;
  }

  /** How often it was tried to write something. */
  appendCount = 0;

  /** What somebody without the key does. */
  vandalize(...keys: string[]): void {
    for (const key of keys) this.#put({ key, text: null, sequence: this.lastSequence + 1, changeId: null });
  }

  /** What is put back by `restore`. */
  snapshot(): readonly [number, LogEntry[]] {
    return [this.lastSequence, this.entries];
  }

  restore([lastSequence, entries]: readonly [number, LogEntry[]]): void {
    Object.assign(this, { lastSequence, entries });
  }

  #tell(change: WrittenChange): void {
    for (const message of toldParts(sealed, change, 1_000)) {
      this.#told.push(message);
      for (const box of this.#boxes) if (this.isHeard()) box.take(message);
    }
  }

  /** What somebody does who has heard everything, and has no key: says one of it again. */
  sayAgain(nth: number): void {
    for (const box of this.#boxes) box.take(this.#told[nth]!);
  }

  get toldCount(): number {
    return this.#told.length;
  }

  #put(entry: LogEntry): void {
    this.written.push(entry);
    this.lastSequence = entry.sequence;
    this.entries = [...this.entries.filter(({ key }) => key !== entry.key), entry];
  }

  /** `faultOf` says what happens to the next thing that is written. */
  as(faultOf: () => Fault, setDisk: (isWritable: boolean) => void): ChangeLog {
    const away = () => clusterError('cluster_unavailable', 'nobody answers');
    let isAway = false;
    const told = new ToldChange(sealed);
    this.#boxes.push(told);
    return {
      state: async () => {
        if (isAway) throw away();
        return { created: this.created, lastSequence: this.lastSequence };
      },
      entryFrom: async (sequence) => {
        if (isAway) throw away();
        return this.entries.find((entry) => entry.sequence >= sequence) ?? null;
      },
      toldAfter: (sequence) => told.after(sequence),
      readAfter: async (sequence) => {
        if (isAway) throw away();
        return this.entries.filter((entry) => entry.sequence > sequence);
      },
      append: async (records, expected, changeId) => {
        const fault = faultOf();
        if (fault === 'none') return this.append(records, expected, changeId);
        if (fault === 'disk') {
          const sequence = this.append(records, expected, changeId);
          setDisk(false);
          setTimeout(() => setDisk(true), 1);
          return sequence;
        }
        if (fault === 'unanswered') this.append(records, expected, changeId);
        // What was on its way may be stored when nobody waits for it any more.
        if (fault === 'later')
          setTimeout(() => {
            try {
              this.append(records, expected, changeId);
            } catch (thrown) {
              assert.ok(thrown instanceof StaleError);
            }
          }, 2);
        isAway = true;
        setTimeout(() => {
          isAway = false;
        }, 1);
        throw away();
      },
    };
  }
}

/** `keyCheck` is another one where the box has another CLUSTER_NAME or CLUSTER_KEY than before. */
export const openBox = (
  folder: string,
  log: ModelLog,
  { faultOf = () => 'none', keyCheck = 'key' }: { faultOf?: () => Fault; keyCheck?: string } = {},
) => {
  const lines: string[] = [];
  /** By how much it is later here than it is. */
  const time = { laterMs: 0 };
  const clock: Clock = {
    ...systemClock,
    monotonicMs: () => (systemClock.monotonicMs() + time.laterMs) as ReturnType<Clock['monotonicMs']>,
  };
  const store = new Store(join(folder, 'framering.db'));
  const settings = store.share((db) => {
    const setDisk = (isWritable: boolean) => db.open && db.pragma(`query_only = ${isWritable ? 0 : 1}`);
    return new SharedSettings({
      ...{ clock, log: createLogger((_level, message) => lines.push(message)) },
      records: new SharedRecords(db),
      changes: log.as(faultOf, setDisk),
      memory: new CopyMemory(store.facts, keyCheck),
      keepCopy: () => {
        const path = join(folder, 'before.db');
        store.copyTo(path);
        return path;
      },
    });
  });
  return { store, settings, lines, time };
};

export const box = (t: TestContext, log: ModelLog, faultOf?: () => Fault) => {
  const folder = tempFolder(t);
  const opened = openBox(folder, log, faultOf && { faultOf });
  t.after(() => opened.store.close());
  return { ...opened, folder };
};

export const admin = { username: 'root', password_hash: 'h', role: 'admin' } as const;
export const tag = (id: string, name = id) => ({ id, name, color: '#000000' });
