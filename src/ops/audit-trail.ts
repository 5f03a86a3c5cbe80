import type { Clock, Timer } from '../base/clock.js';
import { messageOf } from '../base/errors.js';
import { createLogger, type LogFields, type Logger } from '../base/log.js';
import { redactLine } from './redact.js';

export type TrailEntry = {
  readonly timeMs: number;
  readonly action: string;
  readonly username: string;
  readonly record: string;
};

/** Where records are kept. */
export type TrailTable<Filter, Stored> = {
  add(entries: readonly TrailEntry[]): void;
  forgetBefore(timeMs: number): void;
  keepNewest(action: string, count: number): void;
  list(filter: Filter): readonly Stored[];
};

export type AuditTrailDeps<Filter, Stored> = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly table: TrailTable<Filter, Stored>;
};

const KEPT_MS = 90 * 86_400_000;
/** Whoever floods us with one kind of record pushes out no others. */
const MAX_OF_ACTION = 20_000;
const LOOK_EVERY = 200;
/** A sync of the disk for all that came within this. */
const WRITE_AFTER_MS = 5_000;
const MAX_BATCH = 500;
const MAX_WAITING_OF_ACTION = 500;
const MAX_WAITING = 5_000;
/** A clock that leapt ahead must not cost all at once. */
const FORGET_EVERY_MS = 3_600_000;
const MAX_RECORD_CHARACTERS = 8_192;
const MAX_TEXT_CHARACTERS = 500;

/** Without its lists, if it would be too large with them. */
const shortened = (record: Record<string, unknown>): Record<string, unknown> => {
  const kept = Object.entries(record)
    .filter(([, value]) => typeof value === 'string' || typeof value === 'number')
    .slice(0, 30)
    .map(([name, value]) => [name, typeof value === 'string' ? value.slice(0, MAX_TEXT_CHARACTERS) : value]);
  return { ...Object.fromEntries(kept), is_shortened: 'true' };
};

/**
 * Keeps what the audit log says, for 90 days: records wait for a moment and are then written together. What waits is
 * bounded, and so is what is kept of each action.
 */
export class AuditTrail<Filter, Stored> {
  readonly #deps: AuditTrailDeps<Filter, Stored>;
  readonly #waiting: TrailEntry[] = [];
  readonly #waitingOf = new Map<string, number>();
  /** Records of each action since its number was looked at. */
  readonly #unlooked = new Map<string, number>();
  #lost = 0;
  #forgottenMs = Number.NEGATIVE_INFINITY;
  #timer: Timer | null = null;
  #hasFailed = false;

  constructor(deps: AuditTrailDeps<Filter, Stored>) {
    this.#deps = deps;
  }

  /** Writes to `audit`, and keeps a copy. */
  copyOf(audit: Logger): Logger {
    return createLogger((level, message, fields) => {
      audit[level](message, fields);
      this.#take(fields);
    });
  }

  /** Of what is kept; what waits is written before. */
  list(filter: Filter): readonly Stored[] {
    this.#write();
    return this.#deps.table.list(filter);
  }

  stop(): void {
    while (this.#waiting.length > 0 && this.#write());
    this.#timer?.cancel();
    this.#timer = null;
  }

  #take(fields: LogFields): void {
    const action = String(fields['action'] ?? '');
    const ofAction = this.#waitingOf.get(action) ?? 0;
    if (ofAction >= MAX_WAITING_OF_ACTION || this.#waiting.length >= MAX_WAITING) {
      this.#lost += 1;
      return;
    }
    const timeMs = this.#deps.clock.wallMs();
    this.#waiting.push({ timeMs, action, username: String(fields['user'] ?? ''), record: textOf(fields) });
    this.#waitingOf.set(action, ofAction + 1);
    this.#wait();
  }

  #wait(): void {
    this.#timer ??= this.#deps.clock.after(WRITE_AFTER_MS, () => {
      this.#timer = null;
      this.#write();
      if (this.#waiting.length > 0) this.#wait();
    });
  }

  /** Whether that went well. */
  #write(): boolean {
    const batch = this.#waiting.slice(0, MAX_BATCH);
    if (batch.length === 0) return true;
    try {
      this.#deps.table.add(batch);
    } catch (fault) {
      this.#tellFailure(fault);
      return false;
    }
    this.#hasFailed = false;
    this.#waiting.splice(0, batch.length);
    for (const { action } of batch) this.#waitingOf.set(action, this.#waitingOf.get(action)! - 1);
    if (this.#lost > 0) this.#deps.log.warn('audit records were not kept', { count: this.#lost });
    this.#lost = 0;
    this.#forget(batch);
    return true;
  }

  #forget(batch: readonly TrailEntry[]): void {
    const { clock, table } = this.#deps;
    try {
      for (const { action } of batch) {
        const count = (this.#unlooked.get(action) ?? LOOK_EVERY) + 1;
        this.#unlooked.set(action, count);
        if (count <= LOOK_EVERY) continue;
        table.keepNewest(action, MAX_OF_ACTION);
        this.#unlooked.set(action, 0);
      }
      if (clock.monotonicMs() - this.#forgottenMs < FORGET_EVERY_MS) return;
      this.#forgottenMs = clock.monotonicMs();
      table.forgetBefore(clock.wallMs() - KEPT_MS);
    } catch (fault) {
      this.#tellFailure(fault);
    }
  }

  #tellFailure(fault: unknown): void {
    if (!this.#hasFailed)
      this.#deps.log.warn('audit records can not be kept now', { reason: messageOf(fault) });
    this.#hasFailed = true;
  }
}

const textOf = (fields: LogFields): string => {
  const text = JSON.stringify(fields);
  return redactLine(text.length <= MAX_RECORD_CHARACTERS ? text : JSON.stringify(shortened({ ...fields })));
};
