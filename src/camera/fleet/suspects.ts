import type { Clock, MonotonicMs } from '../../base/clock.js';

/** Cameras that share a thread which no other camera may enter. */
export type Cell = {
  readonly members: ReadonlySet<string>;
  /** One that ended threads elsewhere is alone in it. */
  readonly isToldOf: boolean;
  /** Since when its thread is tried out; null: there is no room for it yet. */
  openSinceMs: MonotonicMs | null;
};

/** `suspected`: threads died with it just now, and it is being found out which camera that was; `found_out`: this one. */
export type Suspicion = 'none' | 'suspected' | 'found_out';

/** A camera that gets no thread now. */
export type HeldOff = { readonly delayMs: number; readonly reason: string };

type Suspect = {
  /** When a thread last died with it here. */
  lastDeathMs: MonotonicMs;
  cell: Cell | null;
  /** When it was told that it ends threads elsewhere; null: it wasn't. */
  toldMs: MonotonicMs | null;
  /** Threads of its own that it has ended: more than none, and it is found out. */
  ownDeaths: number;
  heldUntilMs: MonotonicMs;
  /** It needs no thread now, and so leaves its cell to whoever waits for one. */
  isResting: boolean;
};

/** Two threads that die with a camera within this time make it a suspect. */
const WINDOW_MS = 5 * 60_000;
/** How long its thread has to live until a suspect is cleared, and one that was found out. */
const calm = { suspectMs: WINDOW_MS, foundMs: 60 * 60_000 };
/** The same where another one waits for that thread. */
const hurried = { suspectMs: 60_000, foundMs: 5 * 60_000 };
/** Threads for suspects at a time: each costs 5 to 8 MB. Enough to find one of 128 by halves, whom nobody waits for. */
const MAX_CELLS = 8;
/** For those that ended threads elsewhere. Of more than that it rather was that box: they are as any other, and wait for nothing. */
const MAX_TOLD_CELLS = 32;
/** Threads that die one after the other do so within this time. */
const SEARCH_MS = 20_000;
/** One that was found out waits this long for its next thread, then twice as long each time. */
const FIRST_HOLD_MS = 60_000;
const MAX_HOLD_MS = 15 * 60_000;
/** How soon a suspect without a thread asks again. */
const QUEUE_POLL_MS = 5_000;

/**
 * Finds the camera that ends its thread. Nobody knows which of a dead thread's cameras it was; after the second death
 * those that were there both times are split over two threads of their own, those of the one that dies again, and so on
 * until one is alone. That one is held off; those whose thread lives are cleared after a while.
 */
export class Suspects {
  readonly #clock: Clock;
  readonly #suspects = new Map<string, Suspect>();
  /** In the order in which they were made: the first ones have threads, the others wait. */
  readonly #cells = new Set<Cell>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A thread died while it had sessions with these cameras. */
  threadDied(cameraIds: readonly string[]): void {
    const nowMs = this.#clock.monotonicMs();
    const again: string[] = [];
    for (const id of cameraIds) {
      const known = this.#suspects.get(id);
      if (known === undefined) {
        this.#suspects.set(id, unproven(nowMs, { lastDeathMs: nowMs }));
        continue;
      }
      const isRecent = nowMs - known.lastDeathMs < WINDOW_MS;
      if (isRecent || known.cell !== null) again.push(id);
      known.lastDeathMs = nowMs;
    }
    const [first] = again;
    if (first === undefined) return;
    this.#exonerate(again.find((id) => this.#suspects.get(id)?.cell != null) ?? first, cameraIds);
    for (const id of again) this.#leaveCell(id);
    if (cameraIds.length === 1) this.#convict(first, nowMs);
    else this.#halve(again.filter((id) => !this.#setApart(id)));
  }

  /** One that was told of, if there is room: else it is sought among the others. */
  #setApart(cameraId: string): boolean {
    const suspect = this.#suspects.get(cameraId);
    if (suspect === undefined || suspect.toldMs === null) return false;
    if (this.#hasToldRoom) this.#confine([cameraId]);
    else suspect.toldMs = null;
    return suspect.cell !== null;
  }

  /** It ended threads elsewhere: the next one that it gets is its own. */
  suspect(cameraId: string): void {
    const nowMs = this.#clock.monotonicMs();
    const known = this.#suspects.get(cameraId);
    if (known === undefined) {
      this.#suspects.set(cameraId, unproven(nowMs, { toldMs: nowMs }));
      return;
    }
    known.toldMs = nowMs;
    if (known.cell !== null && known.cell.members.size > 1 && this.#hasToldRoom) this.#leaveCell(cameraId);
  }

  /** It needs no thread now. When it does again it is tried at once; apart, if it is one that ends threads. */
  rest(cameraId: string): void {
    const known = this.#suspects.get(cameraId);
    if (known === undefined) return;
    const isProven = known.toldMs !== null || known.ownDeaths > 0;
    // One that is watched now and then may end a thread each time: that one died with it still counts, and so does its cell.
    const isCrowded = this.#cellsOf(false).length > MAX_CELLS;
    known.isResting = true;
    if (!isProven && !isCrowded && known.cell !== null && this.#open(known.cell)) return;
    this.#leaveCell(cameraId);
    if (!isProven) return;
    const toldMs = known.toldMs ?? known.lastDeathMs;
    Object.assign(known, { toldMs, ownDeaths: 0, heldUntilMs: known.lastDeathMs });
  }

  of(cameraId: string): Suspicion {
    const suspect = this.#suspects.get(cameraId);
    if (suspect === undefined) return 'none';
    if (suspect.ownDeaths > 0) return 'found_out';
    if (suspect.toldMs !== null) return 'none';
    const isSought = suspect.cell !== null && this.#clock.monotonicMs() - suspect.lastDeathMs < SEARCH_MS;
    return isSought ? 'suspected' : 'none';
  }

  /** The thread that the camera has to be in; null: any that is nobody's cell. */
  cellOf(cameraId: string): Cell | null {
    const suspect = this.#suspects.get(cameraId);
    if (suspect === undefined) return null;
    const isApart = suspect.ownDeaths > 0 || (suspect.toldMs !== null && this.#hasToldRoom);
    if (suspect.cell === null && isApart) this.#confine([cameraId]);
    return suspect.cell;
  }

  /** The same when the camera gets it. */
  enter(cameraId: string): Cell | null {
    const cell = this.cellOf(cameraId);
    if (cell !== null) cell.openSinceMs ??= this.#clock.monotonicMs();
    return cell;
  }

  /** Whether the camera has to wait for a thread. */
  heldOff(cameraId: string): HeldOff | null {
    const suspect = this.#suspects.get(cameraId);
    if (suspect === undefined) return null;
    suspect.isResting = false;
    const delayMs = suspect.heldUntilMs - this.#clock.monotonicMs();
    if (delayMs > 0) return { delayMs, reason: convictionOf(suspect.ownDeaths, delayMs) };
    const cell = this.cellOf(cameraId);
    if (cell === null || this.#open(cell)) return null;
    return {
      delayMs: QUEUE_POLL_MS,
      reason: 'it waits for a thread: this camera, or one beside it, ended theirs',
    };
  }

  /** Whether somebody is still suspected in there. */
  isCell(cell: Cell): boolean {
    return this.#cells.has(cell);
  }

  /** The camera is another one, or gone. */
  forget(cameraId: string): void {
    this.#leaveCell(cameraId);
    this.#suspects.delete(cameraId);
  }

  /** Clears those that have done nothing for long enough; answers who leaves a thread of suspects. */
  clear(): string[] {
    const nowMs = this.#clock.monotonicMs();
    const wanted = new Set([...this.#wantedByOthers(false), ...this.#wantedByOthers(true)]);
    const cleared: string[] = [];
    for (const [id, { lastDeathMs, cell, toldMs, ownDeaths, heldUntilMs }] of this.#suspects) {
      const sinceMs = cell === null ? Math.max(lastDeathMs, heldUntilMs, toldMs ?? 0) : cell.openSinceMs;
      if (sinceMs === null) continue;
      const { suspectMs, foundMs } = cell !== null && wanted.has(cell) ? hurried : calm;
      if (nowMs - sinceMs < (toldMs !== null || ownDeaths > 0 ? foundMs : suspectMs)) continue;
      if (cell !== null) cleared.push(id);
      this.forget(id);
    }
    return cleared;
  }

  /** As many cells as wait for a thread: first those against whom there is least, and of these the oldest. */
  #wantedByOthers(isToldOf: boolean): Cell[] {
    const cells = this.#cellsOf(isToldOf);
    const waiting = cells.length - mostOf(isToldOf);
    if (waiting <= 0) return [];
    const rank = ({ members: [first] }: Cell): number => weightOf(this.#suspects.get(first!));
    return cells
      .filter(({ openSinceMs }) => openSinceMs !== null)
      .sort((one, other) => rank(one) - rank(other) || one.openSinceMs! - other.openSinceMs!)
      .slice(0, waiting);
  }

  /** Those of its cell that had no session when its thread died. */
  #exonerate(cameraId: string, cameraIds: readonly string[]): void {
    const busy = new Set(cameraIds);
    const cell = this.#suspects.get(cameraId)?.cell;
    for (const id of cell?.members ?? [])
      if (!busy.has(id) && this.#suspects.get(id)?.cell === cell) this.forget(id);
  }

  #convict(cameraId: string, nowMs: MonotonicMs): void {
    const suspect = this.#suspects.get(cameraId);
    if (suspect === undefined) return;
    const holdMs = Math.min(MAX_HOLD_MS, FIRST_HOLD_MS * 2 ** Math.min(suspect.ownDeaths, 10));
    suspect.ownDeaths += 1;
    suspect.heldUntilMs = (nowMs + holdMs) as MonotonicMs;
  }

  #halve(cameraIds: readonly string[]): void {
    if (cameraIds.length === 0) return;
    const half = Math.ceil(cameraIds.length / 2);
    this.#confine(cameraIds.slice(0, half));
    if (half < cameraIds.length) this.#confine(cameraIds.slice(half));
  }

  #confine(cameraIds: readonly string[]): void {
    const isToldOf = cameraIds.every((id) => (this.#suspects.get(id)?.toldMs ?? null) !== null);
    const cell: Cell = { members: new Set(cameraIds), isToldOf, openSinceMs: null };
    this.#cells.add(cell);
    for (const id of cameraIds) {
      const suspect = this.#suspects.get(id);
      if (suspect !== undefined) suspect.cell = cell;
    }
  }

  #open(cell: Cell): boolean {
    if (cell.openSinceMs !== null) return true;
    const hasRoom = (): boolean => this.#cellsOf(cell.isToldOf).indexOf(cell) < mostOf(cell.isToldOf);
    if (!hasRoom()) this.#endRestingCell(cell.isToldOf);
    if (!hasRoom()) return false;
    cell.openSinceMs = this.#clock.monotonicMs();
    return true;
  }

  /** Frees a place, if there is a cell that nobody needs now. That a thread died with its members still counts. */
  #endRestingCell(isToldOf: boolean): void {
    const membersOf = (cell: Cell): string[] =>
      [...cell.members].filter((id) => this.#suspects.get(id)?.cell === cell);
    const isResting = (id: string): boolean => this.#suspects.get(id)?.isResting === true;
    const resting = this.#cellsOf(isToldOf).find((cell) => membersOf(cell).every(isResting));
    if (resting !== undefined) for (const id of membersOf(resting)) this.#leaveCell(id);
  }

  get #hasToldRoom(): boolean {
    return this.#cellsOf(true).length < MAX_TOLD_CELLS;
  }

  #cellsOf(isToldOf: boolean): Cell[] {
    return [...this.#cells].filter((cell) => cell.isToldOf === isToldOf);
  }

  #leaveCell(cameraId: string): void {
    const suspect = this.#suspects.get(cameraId);
    const cell = suspect?.cell ?? null;
    if (suspect === undefined || cell === null) return;
    suspect.cell = null;
    const isEmpty = ![...cell.members].some((id) => this.#suspects.get(id)?.cell === cell);
    if (isEmpty) this.#cells.delete(cell);
  }
}

/** How much there is against a camera. */
const weightOf = (suspect: Suspect | undefined): number => {
  if (suspect === undefined) return 0;
  return suspect.ownDeaths > 0 ? 2 : Number(suspect.toldMs !== null);
};

const mostOf = (isToldOf: boolean): number => (isToldOf ? MAX_TOLD_CELLS : MAX_CELLS);

const NEVER = Number.NEGATIVE_INFINITY as MonotonicMs;

const unproven = (nowMs: MonotonicMs, known: Partial<Suspect>): Suspect => ({
  ...{ lastDeathMs: NEVER, cell: null, toldMs: null, ownDeaths: 0, heldUntilMs: nowMs, isResting: false },
  ...known,
});

const convictionOf = (ownDeaths: number, delayMs: number): string => {
  const threads = ownDeaths === 1 ? 'the thread' : `${ownDeaths} threads`;
  return `this camera ended ${threads} that it had for itself; it is tried again in ${Math.ceil(delayMs / 1000)} s`;
};
