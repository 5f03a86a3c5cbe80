import type { Clock, MonotonicMs, Timer } from '../../base/clock.js';
import type { Logger } from '../../base/log.js';
import { Signal } from '../../base/signal.js';
import type { OtherBox } from '../../relay/receive/pull.js';
import type { HoldingTable } from '../../store/holdings.js';
import type { BoxesView, BoxView } from '../boxes/box-table.js';
import { Claiming } from './claiming.js';
import type { Claims } from './claims.js';
import { HeldBook } from './held-book.js';
import { Rendezvous } from './rendezvous.js';
import type { HeldRow, Report } from './report.js';
import { Reports } from './reports.js';
import { Turn } from './turn.js';
import { type Theirs, verdictOf } from './verdict.js';

/** The cameras of this box's configuration, and what becomes of those that it has. */
export type OwnedCameras = {
  list(): Iterable<{ readonly id: string; readonly box: string | null }>;
  /** Whether its pictures are on the disk or, where none are to be, there; or it is not to be connected. */
  isReady(cameraId: string): boolean;
  /** What is shown of it. */
  figures(cameraId: string): readonly unknown[];
};

export type OwnershipOptions = { readonly box: string; readonly boot: string; readonly lostMs: number };

export type OwnershipDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  /** Who is here. */
  readonly boxes: () => BoxesView;
  readonly holdings: Pick<HoldingTable, 'open' | 'begin' | 'claim' | 'end'>;
  readonly claims: Pick<Claims, 'claim'>;
  readonly wire: {
    tellAll(rows: readonly HeldRow[]): void;
    tellSome(rows: readonly HeldRow[], dropped: readonly string[]): void;
    listen(): void;
  };
};

const TICK_MS = 250;
/** At all cameras it is looked so often, and when there is news. */
const TICKS_PER_LOOK = 4;
/** Whoever stood still so long knows nothing of the others. */
const STOOD_STILL_MS = 1_000;
/** A box that says no more of its cameras than that it lives has none. */
const REPORT_WAIT_MS = 3_000;
/** A box that starts without the others goes on with what it had after so long, whoever is there. */
const ALONE_AFTER_MS = 5_000;
/** What others had is left to those who may be starting, too, for so long. */
const OTHERS_START_MS = 10_000;

/** IPv6 addresses stand in brackets there. */
const hostIn = (origin: string): string => new URL(origin).hostname.replace(/^\[|\]$/g, '');

const isSameRelay = (a: OtherBox | undefined, b: OtherBox): boolean =>
  a !== undefined && a.box === b.box && a.host === b.host && a.port === b.port;

type Held = { epoch: number; isClaimed: boolean; readonly sinceMs: MonotonicMs; wasReady: boolean };

/**
 * Which cameras this box has. All boxes follow the same rules by what each hears (README.md): nothing is agreed on, and
 * nobody decides for others. What two of them have for a while comes down to one.
 */
export class Ownership {
  /** These are this box's now, or no more, or those of another box than before. */
  readonly changed = new Signal<[cameraIds: readonly string[]]>();
  readonly #options: OwnershipOptions;
  readonly #deps: OwnershipDeps;
  readonly #reports = new Reports();
  readonly #claiming: Claiming;
  readonly #book: HeldBook;
  readonly #held = new Map<string, Held>();
  readonly #turn: Turn;
  /** What it had when it ended; those that it hasn't taken since. */
  readonly #had: Map<string, number>;
  readonly #startedMs: MonotonicMs;
  #cameras: OwnedCameras | null = null;
  #timer: Timer | null = null;
  #soon: Timer | null = null;
  #awakeMs: MonotonicMs;
  #ticks = 0;
  #stillUntilMs = 0;
  #isLeaving = false;
  #candidates = '';
  #rendezvous = new Rendezvous([]);
  #present: ReadonlySet<string> = new Set();
  readonly #winners = new Map<string, string | null>();
  /** Of cameras that others have: where those are asked for their pictures. */
  readonly #relays = new Map<string, OtherBox>();
  #whenEmpty: (() => void) | null = null;

  constructor(options: OwnershipOptions, deps: OwnershipDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#startedMs = deps.clock.monotonicMs();
    this.#awakeMs = this.#startedMs;
    this.#had = new Map(deps.holdings.open().map(({ cameraId, epoch }) => [cameraId, epoch]));
    this.#book = new HeldBook(deps);
    this.#turn = new Turn(this.#had.size > 0, deps.clock);
    this.#claiming = new Claiming({
      ...{ clock: deps.clock, log: deps.log, claims: deps.claims, by: options },
      isWanted: (cameraId) => this.#held.get(cameraId)?.isClaimed === false,
      epochOf: (cameraId) => this.#held.get(cameraId)?.epoch ?? 0,
      onClaimed: (cameraId, epoch) => this.#onClaimed(cameraId, epoch),
    });
  }

  /** Begins to take cameras. */
  begin(cameras: OwnedCameras): void {
    this.#cameras = cameras;
    this.#timer = this.#deps.clock.every(TICK_MS, () => this.#tick());
  }

  stop(): void {
    this.#timer?.cancel();
    this.#soon?.cancel();
    this.#claiming.stop();
    this.#book.write();
  }

  get count(): number {
    return this.#held.size;
  }

  /** Why cameras can't be claimed, or not be written down; null: they can. */
  get fault(): string | null {
    return this.#claiming.fault ?? this.#book.fault;
  }

  has(cameraId: string): boolean {
    return this.#held.has(cameraId);
  }

  /** The box that has it, as far as is known: of two the one whose claim is the later one; null: none. */
  boxOf(cameraId: string): string | null {
    const held = this.#held.get(cameraId);
    let found = held === undefined ? null : { box: this.#options.box, epoch: held.epoch };
    for (const { name, row } of this.#elsewhere(cameraId))
      if (found === null || row.epoch > found.epoch) found = { box: name, epoch: row.epoch };
    return found?.box ?? null;
  }

  /** Where another box that has it is asked for its pictures; null: it is this box's, or none can be asked. */
  relayOf(cameraId: string): OtherBox | null {
    return this.has(cameraId) ? null : (this.#relays.get(cameraId) ?? null);
  }

  /** What the box tells of it that has it; null: nothing. */
  figuresOf(cameraId: string): unknown {
    let found: HeldRow | null = null;
    for (const { row } of this.#elsewhere(cameraId))
      if (row.figures !== null && (found === null || row.epoch > found.epoch)) found = row;
    return found?.figures ?? null;
  }

  /** Of all cameras: those that no box has, and those that more than one has. */
  get counts(): { readonly unowned: number; readonly doubled: number } {
    let unowned = 0;
    let doubled = 0;
    for (const { id } of this.#cameras?.list() ?? []) {
      const owners = this.#elsewhere(id).length + (this.has(id) ? 1 : 0);
      if (owners === 0) unowned += 1;
      if (owners > 1) doubled += 1;
    }
    return { unowned, doubled };
  }

  hear(report: Report): void {
    if (this.#reports.hear(report, this.#deps.clock.monotonicMs())) this.lookSoon();
  }

  /** Something that counts may be another. */
  lookSoon(): void {
    if (this.#cameras === null) return;
    this.#soon ??= this.#deps.clock.after(20, () => {
      this.#soon = null;
      this.#look();
    });
  }

  /** Hands all cameras over, and takes none; resolves when others have them, or nobody could, or it takes too long. */
  async leave(withinMs: number): Promise<void> {
    this.#isLeaving = true;
    if (this.#cameras === null || this.#held.size === 0 || !this.#hasHeirs) return;
    this.#deps.log.info('this box hands its cameras over', { cameras: this.#held.size });
    await new Promise<void>((resolve) => {
      const late = this.#deps.clock.after(withinMs, resolve);
      this.#whenEmpty = () => {
        late.cancel();
        resolve();
      };
      this.lookSoon();
    });
    if (this.#held.size > 0)
      this.#deps.log.warn('some cameras were taken by no other box in time', { cameras: this.#held.size });
  }

  #tick(): void {
    this.#deps.wire.listen();
    const isTime = this.#ticks++ % TICKS_PER_LOOK === 0;
    if (this.#tellReady() || isTime) this.#look();
    else this.#noticeStandstill();
    if (isTime) this.#book.write();
    if (isTime) this.#deps.wire.tellAll([...this.#held.keys()].map((id) => this.#rowOf(id, true)));
  }

  #noticeStandstill(): void {
    const nowMs = this.#deps.clock.monotonicMs();
    // What came meanwhile isn't read yet.
    if (nowMs - this.#awakeMs > STOOD_STILL_MS) {
      this.#stillUntilMs = nowMs + this.#options.lostMs;
      this.#turn.unsettle();
    }
    this.#awakeMs = nowMs;
  }

  #look(): void {
    this.#noticeStandstill();
    const nowMs = this.#deps.clock.monotonicMs();
    const view = this.#deps.boxes();
    this.#findCandidates(view);
    this.#turn.look(view, this.#startedMs);
    const here = view.boxes.filter(({ name, isHere }) => isHere && name !== this.#options.box);
    const [mayTake, mayTakeBack] = this.#permissions(view, here, nowMs);
    const taken: string[] = [];
    const dropped: string[] = [];
    const turns: string[] = [];
    const known = new Set<string>();
    for (const { id, box } of this.#cameras!.list()) {
      known.add(id);
      const held = this.#held.get(id);
      const isReady = held !== undefined && this.#cameras!.isReady(id);
      const verdict = verdictOf({
        isWinner: this.#winnerOf(id, box) === this.#options.box,
        isLeaving: this.#isLeaving,
        mine:
          held === undefined
            ? null
            : { ...held, box: this.#options.box, isReady, heldMs: nowMs - held.sinceMs },
        theirs: this.#theirs(id, here),
      });
      if (verdict === 'take' && (mayTake || (mayTakeBack && this.#had.has(id)))) taken.push(id);
      else if (verdict === 'turn' && mayTake && this.#isHeardBy(id, here)) turns.push(id);
      else if (verdict === 'drop') dropped.push(id);
      else if (verdict === 'give_up') {
        this.#turn.refuse(id);
        dropped.push(id);
      }
    }
    for (const id of this.#held.keys()) if (!known.has(id)) dropped.push(id);
    const next = this.#isLeaving ? null : this.#turn.next(turns, (id) => this.#isTurnDone(id, here));
    if (next !== null) taken.push(next);
    const moved = this.#lookAtRelays(known, here);
    this.#drop(dropped);
    this.#take(taken);
    if (moved.length > 0) this.changed.emit(moved);
    if (this.#isLeaving && (this.#held.size === 0 || !this.#hasHeirs)) this.#whenEmpty?.();
  }

  #permissions(
    view: BoxesView,
    here: readonly BoxView[],
    nowMs: number,
  ): readonly [any: boolean, had: boolean] {
    const isKnown = here.every(
      ({ name, boot, sinceMs }) => this.#reports.isKnown(name, boot) || nowMs - sinceMs >= REPORT_WAIT_MS,
    );
    const upMs = nowMs - this.#startedMs;
    const isAwake = isKnown && nowMs >= this.#stillUntilMs;
    const areAllHere = view.awaited.length === 0 || upMs >= OTHERS_START_MS;
    const mayTake = isAwake && view.isSettled && view.hasMajority;
    return [mayTake && areAllHere, mayTake || (isAwake && upMs >= ALONE_AFTER_MS)];
  }

  #take(ids: readonly string[]): void {
    if (ids.length === 0) return;
    const nowMs = this.#deps.clock.monotonicMs();
    for (const id of ids) {
      const epoch = Math.max(this.#reports.highestEpoch(id), this.#had.get(id) ?? 0) + 1;
      this.#held.set(id, { epoch, isClaimed: false, sinceMs: nowMs, wasReady: false });
      this.#had.delete(id);
    }
    this.#deps.log.info('this box takes cameras', { cameras: ids.length, first: ids[0] });
    // Recorded first, written down and claimed then.
    this.changed.emit(ids);
    this.#tellSome(ids, []);
    for (const id of ids) this.#book.begin(id, this.#held.get(id)!.epoch);
    this.#book.write();
    this.#claiming.add(ids);
  }

  #drop(ids: readonly string[]): void {
    if (ids.length === 0) return;
    for (const id of ids) this.#held.delete(id);
    this.#deps.log.info('cameras are no more of this box', { cameras: ids.length, first: ids[0] });
    this.changed.emit(ids);
    this.#tellSome([], ids);
    for (const id of ids) this.#book.end(id);
  }

  #onClaimed(cameraId: string, epoch: number): void {
    const held = this.#held.get(cameraId);
    if (held === undefined) return;
    Object.assign(held, { epoch, isClaimed: true });
    this.#book.claim(cameraId, epoch);
    this.#tellSome([cameraId], []);
    this.lookSoon();
  }

  /** Whoever waits for that hears of it at once. Whether there was any. */
  #tellReady(): boolean {
    const news: string[] = [];
    for (const [id, held] of this.#held) {
      const isReady = this.#cameras!.isReady(id);
      if (isReady !== held.wasReady) news.push(id);
      held.wasReady = isReady;
    }
    if (news.length > 0) this.#tellSome(news, []);
    return news.length > 0;
  }

  #tellSome(ids: readonly string[], dropped: readonly string[]): void {
    this.#deps.wire.tellSome(
      ids.map((id) => this.#rowOf(id, false)),
      dropped,
    );
  }

  #rowOf(cameraId: string, withFigures: boolean): HeldRow {
    const { epoch, isClaimed } = this.#held.get(cameraId)!;
    const figures = withFigures ? this.#cameras!.figures(cameraId) : null;
    return { cameraId, epoch, isClaimed, isReady: this.#cameras!.isReady(cameraId), figures };
  }

  #elsewhere(cameraId: string): { readonly name: string; readonly box: BoxView; readonly row: HeldRow }[] {
    return this.#deps.boxes().boxes.flatMap((box) => {
      const row =
        box.isHere && box.name !== this.#options.box
          ? this.#reports.find(box.name, box.boot, cameraId)
          : null;
      return row === null ? [] : [{ name: box.name, box, row }];
    });
  }

  #theirs(cameraId: string, here: readonly BoxView[]): Theirs[] {
    const theirs: Theirs[] = [];
    for (const { name, boot, isLeaving } of here) {
      const row = this.#reports.find(name, boot, cameraId);
      if (row !== null) theirs.push({ ...row, box: name, isLeaving });
    }
    return theirs;
  }

  /**
   * Those of which pictures are asked for elsewhere than before: of whoever has it by the latest claim, and in between of
   * whoever had it, so that viewers wait where they are.
   */
  #lookAtRelays(cameraIds: ReadonlySet<string>, here: readonly BoxView[]): string[] {
    const relays = here.flatMap(({ name, boot, address, relayPort: port }) =>
      address === null || port === null ? [] : [{ boot, relay: { box: name, host: hostIn(address), port } }],
    );
    const moved: string[] = [];
    for (const id of this.#relays.keys()) if (!cameraIds.has(id)) this.#relays.delete(id);
    for (const id of cameraIds) {
      let found: OtherBox | null = null;
      let highest = Number.NEGATIVE_INFINITY;
      for (const { boot, relay } of relays) {
        const epoch = this.#reports.find(relay.box, boot, id)?.epoch ?? Number.NEGATIVE_INFINITY;
        if (epoch > highest) found = relay;
        highest = Math.max(highest, epoch);
      }
      const before = this.#relays.get(id);
      if (found === null || isSameRelay(before, found)) continue;
      this.#relays.set(id, found);
      if (!this.#held.has(id)) moved.push(id);
    }
    return moved;
  }

  /** Who has it and doesn't hear this box believes that it is away, and would take it back. */
  #isHeardBy(cameraId: string, here: readonly BoxView[]): boolean {
    return here.every(
      ({ name, boot, hears }) =>
        this.#reports.find(name, boot, cameraId) === null || hears.includes(this.#options.box),
    );
  }

  /**
   * Nobody else has it any more; or it is no more this box's. Who had it working lets go when it works here: a camera that is
   * off needn't be waited for.
   */
  #isTurnDone(cameraId: string, here: readonly BoxView[]): boolean {
    return !this.#held.has(cameraId) || this.#theirs(cameraId, here).length === 0;
  }

  /** Whether somebody is there who could take what this box has. */
  get #hasHeirs(): boolean {
    return this.#deps
      .boxes()
      .boxes.some(
        ({ name, isHere, isLeaving, capacity }) =>
          isHere && !isLeaving && capacity > 0 && name !== this.#options.box,
      );
  }

  #findCandidates({ boxes }: BoxesView): void {
    const staying = boxes.filter(
      ({ name, isHere, isLeaving }) =>
        isHere && !isLeaving && !(this.#isLeaving && name === this.#options.box),
    );
    const candidates = staying.map(({ name, capacity }) => ({ name, capacity }));
    const text = JSON.stringify(candidates);
    this.#reports.keepOnly(new Set(boxes.map(({ name }) => name)));
    if (text === this.#candidates) return;
    this.#candidates = text;
    this.#rendezvous = new Rendezvous(candidates);
    this.#present = new Set(candidates.map(({ name }) => name));
    this.#winners.clear();
    this.#turn.changed();
  }

  #winnerOf(cameraId: string, pinnedTo: string | null): string | null {
    if (pinnedTo !== null && this.#present.has(pinnedTo)) return pinnedTo;
    let winner = this.#winners.get(cameraId);
    if (winner === undefined) {
      winner = this.#rendezvous.ownerOf(cameraId);
      this.#winners.set(cameraId, winner);
    }
    return winner;
  }
}
