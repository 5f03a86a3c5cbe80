import type { Clock } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import type { HoldingTable } from '../../store/holdings.js';

export type HeldBookDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly holdings: Pick<HoldingTable, 'begin' | 'claim' | 'end'>;
};

/** What is to be written of a camera: that it is held no more since, that it is since, or by which epoch it is. */
type Unwritten = {
  endMs: number | null;
  begun: { readonly sinceMs: number; readonly epoch: number } | null;
  epoch: number | null;
};

/**
 * Writes down which cameras this box has. A disk that takes nothing ends no recording, which may be on another one: what
 * can't be written is kept, one line for each camera, until it can.
 */
export class HeldBook {
  readonly #deps: HeldBookDeps;
  readonly #unwritten = new Map<string, Unwritten>();
  #fault: string | null = null;

  constructor(deps: HeldBookDeps) {
    this.#deps = deps;
  }

  /** Why it can't be written now; null: it can, as far as is known. */
  get fault(): string | null {
    return this.#fault === null ? null : `which cameras this box has can't be written down: ${this.#fault}`;
  }

  begin(cameraId: string, epoch: number, sinceMs: number): void {
    this.#lineOf(cameraId).begun = { sinceMs, epoch };
  }

  claim(cameraId: string, epoch: number): void {
    const line = this.#lineOf(cameraId);
    if (line.begun === null) line.epoch = epoch;
    else line.begun = { ...line.begun, epoch };
  }

  end(cameraId: string): void {
    const line = this.#lineOf(cameraId);
    line.endMs ??= line.begun?.sinceMs ?? this.#deps.clock.wallMs();
    line.begun = null;
  }

  /** Writes what isn't written yet: to be called now and then. */
  write(): void {
    if (this.#unwritten.size === 0) return;
    try {
      this.#write();
    } catch (thrown) {
      if (this.#fault === null)
        this.#deps.log.error("which cameras this box has can't be written down: it will be when it can", {
          reason: messageOf(thrown),
        });
      this.#fault = messageOf(thrown);
      return;
    }
    this.#unwritten.clear();
    if (this.#fault !== null) this.#deps.log.info('which cameras this box has is written down again');
    this.#fault = null;
  }

  /** All of it may be written twice. */
  #write(): void {
    const { holdings } = this.#deps;
    const endedAt = new Map<number, string[]>();
    const begunAt = new Map<number, { cameraId: string; epoch: number }[]>();
    const claimed: { cameraId: string; epoch: number }[] = [];
    for (const [cameraId, { endMs, begun, epoch }] of this.#unwritten) {
      if (endMs !== null) addTo(endedAt, endMs, cameraId);
      if (begun !== null) addTo(begunAt, begun.sinceMs, { cameraId, epoch: begun.epoch });
      // Of what it was held by before that.
      if (epoch !== null) claimed.push({ cameraId, epoch });
    }
    if (claimed.length > 0) holdings.claim(claimed);
    for (const [untilMs, cameraIds] of endedAt) holdings.end(cameraIds, untilMs);
    for (const [sinceMs, begun] of begunAt) holdings.begin(begun, sinceMs);
  }

  #lineOf(cameraId: string): Unwritten {
    const line = this.#unwritten.get(cameraId) ?? { endMs: null, begun: null, epoch: null };
    this.#unwritten.set(cameraId, line);
    return line;
  }
}

const addTo = <Value>(lists: Map<number, Value[]>, key: number, value: Value): void => {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
};
