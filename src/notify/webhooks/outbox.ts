import type Database from 'better-sqlite3';
import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { openOutboxDatabase } from './outbox-database.js';

/** A message of one receiver that is yet to be sent. */
export type Waiting = {
  readonly id: number;
  readonly messageId: string;
  readonly body: string;
  readonly madeMs: number;
  readonly attempts: number;
};

/** What came of the last attempt. */
export type LastAttempt = {
  readonly atMs: number;
  readonly status: number | null;
  readonly detail: string;
  readonly durationMs: number;
};

/** What is known of a receiver. */
export type ReceiverState = {
  readonly failures: number;
  readonly notBeforeMs: number;
  readonly dropped: number;
  readonly last: LastAttempt | null;
};

/** What waits for one receiver: more, larger or older it never is. */
export const MAX_WAITING = 10_000;
export const MAX_WAITING_BYTES = 8_000_000;
export const MAX_AGE_MS = 72 * 3_600_000;

type Load = { count: number; bytes: number };
type WaitingRow = { id: number; message_id: string; body: string; made_ms: number; attempts: number };
type StateRow = { failures: number; not_before_ms: number; dropped: number; last: string | null };

const prepare = (db: Database.Database) => ({
  loads: db.prepare<[], { webhook: string; count: number; bytes: number }>(
    'SELECT webhook, count(*) AS count, sum(octet_length(body)) AS bytes FROM messages GROUP BY webhook',
  ),
  begin: db.prepare<[string]>(
    `INSERT OR IGNORE INTO receivers (webhook, sequence, failures, not_before_ms, dropped) VALUES (?, 0, 0, 0, 0)`,
  ),
  isThere: db
    .prepare<[string, string], number>('SELECT 1 FROM messages WHERE webhook = ? AND message_id = ?')
    .pluck(),
  nextSequence: db
    .prepare<[string], number>(
      'UPDATE receivers SET sequence = sequence + 1 WHERE webhook = ? RETURNING sequence',
    )
    .pluck(),
  add: db.prepare<[string, string, string, number]>(
    'INSERT INTO messages (webhook, message_id, body, made_ms, attempts, due_ms) VALUES (?, ?, ?, ?, 0, 0)',
  ),
  oldest: db.prepare<[string, number], { id: number; bytes: number }>(
    'SELECT id, octet_length(body) AS bytes FROM messages INDEXED BY messages_by_order WHERE webhook = ? AND id <> ? ORDER BY id LIMIT 1',
  ),
  next: db.prepare<[string, number], WaitingRow>(
    `SELECT id, message_id, body, made_ms, attempts FROM messages INDEXED BY messages_by_order
     WHERE webhook = ? AND due_ms <= ? ORDER BY id LIMIT 1`,
  ),
  nextDue: db.prepare<[string], number | null>('SELECT min(due_ms) FROM messages WHERE webhook = ?').pluck(),
  remove: db.prepare<[number], { bytes: number }>(
    'DELETE FROM messages WHERE id = ? RETURNING octet_length(body) AS bytes',
  ),
  failed: db.prepare<[number, number]>(
    'UPDATE messages SET attempts = attempts + 1, due_ms = ? WHERE id = ?',
  ),
  dueNow: db.prepare<[string]>('UPDATE messages SET due_ms = 0 WHERE webhook = ?'),
  old: db.prepare<[string, number], { id: number }>(
    'SELECT id FROM messages INDEXED BY messages_by_order WHERE webhook = ? AND made_ms < ? ORDER BY id LIMIT 500',
  ),
  state: db.prepare<[string], StateRow>(
    'SELECT failures, not_before_ms, dropped, last FROM receivers WHERE webhook = ?',
  ),
  setState: db.prepare<[number, number, string | null, string]>(
    'UPDATE receivers SET failures = ?, not_before_ms = ?, last = ? WHERE webhook = ?',
  ),
  addDropped: db.prepare<[number, string]>('UPDATE receivers SET dropped = dropped + ? WHERE webhook = ?'),
  clear: db.prepare<[string]>('DELETE FROM messages WHERE webhook = ?'),
  forget: db.prepare<[string]>('DELETE FROM receivers WHERE webhook = ?'),
  known: db.prepare<[], string>('SELECT webhook FROM receivers').pluck(),
  clampDue: db.prepare<[number]>('UPDATE messages SET due_ms = min(due_ms, ?)'),
  clampReceivers: db.prepare<[number]>('UPDATE receivers SET not_before_ms = min(not_before_ms, ?)'),
});

const nothing: ReceiverState = { failures: 0, notBeforeMs: 0, dropped: 0, last: null };

/** The messages that wait, on the disk; a copy for each receiver, so that none waits for another. */
export class Outbox {
  readonly #db: Database.Database;
  readonly #sql: ReturnType<typeof prepare>;
  readonly #log: Logger;
  readonly #loads = new Map<string, Load>();
  #isFailing = false;

  /** `latestMs`: no wait that was noted ends later; the host's clock may have been set back meanwhile. */
  constructor(path: string, { log, latestMs }: { readonly log: Logger; readonly latestMs: number }) {
    this.#log = log;
    this.#db = openOutboxDatabase(path, log);
    this.#sql = prepare(this.#db);
    for (const { webhook, count, bytes } of this.#sql.loads.all()) this.#loads.set(webhook, { count, bytes });
    this.#try(() => {
      this.#sql.clampDue.run(Math.round(latestMs));
      this.#sql.clampReceivers.run(Math.round(latestMs));
    }, undefined);
  }

  loadOf(webhook: string): Readonly<Load> {
    return this.#loads.get(webhook) ?? { count: 0, bytes: 0 };
  }

  /** Receivers of which something is known. */
  get known(): readonly string[] {
    return this.#try(() => this.#sql.known.all(), []);
  }

  /** All of `work` in one transaction; false: the disk took none of it. */
  together(work: () => void): boolean {
    const before = new Map([...this.#loads].map(([webhook, load]) => [webhook, { ...load }]));
    try {
      this.#db.transaction(work).immediate();
      this.#isFailing = false;
      return true;
    } catch (fault) {
      this.#loads.clear();
      for (const [webhook, load] of before) this.#loads.set(webhook, load);
      this.#onFault(fault);
      return false;
    }
  }

  /**
   * Adds a message that isn't there yet, and gives up the oldest where it is one too many; how many these are. To be
   * called within `together`. `busyId`: on its way now, so that it stays.
   */
  add(
    webhook: string,
    { messageId, wallMs }: { readonly messageId: string; readonly wallMs: number },
    bodyOf: (sequence: number) => string,
    busyId: number,
  ): number {
    this.#sql.begin.run(webhook);
    if (this.#sql.isThere.get(webhook, messageId) !== undefined) return 0;
    const body = bodyOf(this.#sql.nextSequence.get(webhook)!);
    this.#sql.add.run(webhook, messageId, body, Math.round(wallMs));
    const load = this.#loads.get(webhook) ?? { count: 0, bytes: 0 };
    this.#loads.set(webhook, load);
    load.count++;
    load.bytes += Buffer.byteLength(body);
    let dropped = 0;
    while (load.count > MAX_WAITING || load.bytes > MAX_WAITING_BYTES) {
      const oldest = this.#sql.oldest.get(webhook, busyId);
      if (oldest === undefined) break;
      this.#remove(webhook, oldest.id);
      dropped++;
    }
    if (dropped > 0) this.#sql.addDropped.run(dropped, webhook);
    return dropped;
  }

  /** The first that may be tried now. */
  next(webhook: string, wallMs: number): Waiting | null {
    const row = this.#try(() => this.#sql.next.get(webhook, Math.round(wallMs)), undefined);
    if (row === undefined) return null;
    return { ...row, messageId: row.message_id, madeMs: row.made_ms };
  }

  /** When the next one may be tried; null: there is none. */
  nextDueMs(webhook: string): number | null {
    return this.#try(() => this.#sql.nextDue.get(webhook) ?? null, null);
  }

  /** It is delivered, or given up. To be called within `together`. */
  remove(webhook: string, id: number, { isDropped }: { readonly isDropped: boolean }): void {
    this.#remove(webhook, id);
    if (isDropped) this.#sql.addDropped.run(1, webhook);
  }

  /** It is to be tried again. To be called within `together`. */
  failed(id: number, dueMs: number): void {
    this.#sql.failed.run(Math.round(dueMs), id);
  }

  /** What was refused is tried again at once. To be called within `together`. */
  dueNow(webhook: string): void {
    this.#sql.dueNow.run(webhook);
  }

  stateOf(webhook: string): ReceiverState {
    const row = this.#try(() => this.#sql.state.get(webhook), undefined);
    if (row === undefined) return nothing;
    const last = row.last === null ? null : (JSON.parse(row.last) as LastAttempt);
    return { failures: row.failures, notBeforeMs: row.not_before_ms, dropped: row.dropped, last };
  }

  /** To be called within `together`. */
  setState(webhook: string, { failures, notBeforeMs, last }: Omit<ReceiverState, 'dropped'>): void {
    this.#sql.begin.run(webhook);
    const text = last === null ? null : JSON.stringify(last);
    this.#sql.setState.run(failures, Math.round(notBeforeMs), text, webhook);
  }

  /** Gives up what is too old, some hundred at a time; how many these were. */
  dropOld(webhook: string, wallMs: number, busyId: number): number {
    let dropped = 0;
    this.together(() => {
      const old = this.#sql.old
        .all(webhook, Math.round(wallMs - MAX_AGE_MS))
        .filter(({ id }) => id !== busyId);
      for (const { id } of old) this.remove(webhook, id, { isDropped: true });
      dropped = old.length;
    });
    return dropped;
  }

  /** Gives up all that waits; how many these were. */
  clear(webhook: string): number {
    const { count } = this.loadOf(webhook);
    this.together(() => {
      this.#sql.clear.run(webhook);
      this.#sql.addDropped.run(count, webhook);
      this.#loads.delete(webhook);
    });
    return count;
  }

  /** There is no such receiver any more. */
  forget(webhook: string): void {
    this.together(() => {
      this.#sql.clear.run(webhook);
      this.#sql.forget.run(webhook);
      this.#loads.delete(webhook);
    });
  }

  close(): void {
    if (this.#db.open) this.#db.close();
  }

  #remove(webhook: string, id: number): void {
    const removed = this.#sql.remove.get(id);
    const load = this.#loads.get(webhook);
    if (removed === undefined || load === undefined) return;
    load.count--;
    load.bytes -= removed.bytes;
  }

  #try<Value>(work: () => Value, otherwise: Value): Value {
    try {
      return work();
    } catch (fault) {
      this.#onFault(fault);
      return otherwise;
    }
  }

  #onFault(fault: unknown): void {
    if (!this.#isFailing)
      this.#log.error('messages to webhooks could not be kept', { reason: messageOf(fault) });
    this.#isFailing = true;
  }
}
