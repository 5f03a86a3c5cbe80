import type { Clock, MonotonicMs, Timer } from '../../base/clock.js';
import type { Logger } from '../../base/log.js';
import { Signal } from '../../base/signal.js';
import type { OtherBox } from '../../relay/receive/pull.js';
import type { HoldingTable } from '../../store/holdings.js';
import type { BoxesView, BoxView } from '../boxes/box-table.js';
import { AskedRelays } from './asked-relays.js';
import { Claiming } from './claiming.js';
import type { Claims } from './claims.js';
import { Health } from './health.js';
import { type Held, heldSince, noteWork, rowOf } from './held.js';
import { HeldBook } from './held-book.js';
import type { OwnedCameras } from './owned-cameras.js';
import type { HeldRow, Report } from './report.js';
import { type HeldElsewhere, isRather, Reports } from './reports.js';
import { SecondChoice } from './second-choice.js';
import { Shares } from './shares.js';
import { StandIns } from './stand-ins.js';
import { ThreadEnders } from './thread-enders.js';
import { Turn } from './turn.js';
import { isTrying, type Own, type Theirs, verdictOf } from './verdict.js';
import { Wakefulness } from './wakefulness.js';

export type OwnershipOptions = { readonly box: string; readonly boot: string; readonly lostMs: number };

export type OwnershipDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  /** Who is here. */
  readonly boxes: () => BoxesView;
  readonly holdings: Pick<HoldingTable, 'open' | 'begin' | 'claim' | 'end'>;
  readonly claims: Pick<Claims, 'claim'>;
  readonly wire: {
    tellAll(cameraIds: readonly string[], rowOf: (cameraId: string) => HeldRow): void;
    tellSome(rows: readonly HeldRow[], dropped: readonly string[]): void;
    listen(): void;
  };
};

const TICK_MS = 250;
/** At all cameras it is looked so often, and when there is news. */
const TICKS_PER_LOOK = 4;
/** So many cameras are tried at the same time that work nowhere yet; and by a box where none does. */
const MAX_TRIALS = 100;
const FEW_TRIALS = 8;
/** So much of its time this thread has for other things than looks. */
const REST_PER_LOOK = 4;
const LOOK_SOON_MS = 20;
const MAX_REST_MS = 500;

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
  readonly #second: SecondChoice;
  readonly #standIns: StandIns;
  /** How this box's own cameras are. */
  #health = new Health();
  /** What it had when it ended, and by which epoch. */
  readonly #had: ReadonlyMap<string, number>;
  /** Of these those that nobody else was heard to have since. */
  readonly #mayBeBack: Set<string>;
  readonly #wakefulness: Wakefulness;
  #cameras: OwnedCameras | null = null;
  #timer: Timer | null = null;
  #soon: Timer | null = null;
  #ticks = 0;
  #isLeaving = false;
  /** The other boxes that live, of the view that was seen last. */
  #here: ReadonlyMap<string, BoxView> = new Map();
  #seen: BoxesView | null = null;
  #lookedForMs = 0;
  readonly #claimed = new Set<string>();
  readonly #shares = new Shares();
  readonly #relays = new AskedRelays();
  readonly #enders: ThreadEnders;
  #whenEmpty: (() => void) | null = null;

  constructor(options: OwnershipOptions, deps: OwnershipDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#wakefulness = new Wakefulness(deps.clock, options.lostMs);
    this.#had = new Map(deps.holdings.open().map(({ cameraId, epoch }) => [cameraId, epoch]));
    this.#book = new HeldBook(deps);
    this.#mayBeBack = new Set(this.#had.keys());
    this.#second = new SecondChoice(deps.clock);
    this.#standIns = new StandIns(deps.clock);
    this.#turn = new Turn(deps.clock);
    this.#enders = new ThreadEnders(deps.clock);
    this.#claiming = new Claiming({
      ...{ clock: deps.clock, log: deps.log, claims: deps.claims, by: options },
      isWanted: (cameraId) => {
        const held = this.#held.get(cameraId);
        return held !== undefined && !held.isClaimed && !held.isTrial;
      },
      epochOf: (cameraId) => this.#held.get(cameraId)?.epoch ?? 0,
      onClaimed: (cameraId, epoch) => this.#onClaimed(cameraId, epoch),
    });
  }

  /** Begins to take cameras. */
  begin(cameras: OwnedCameras): void {
    this.#cameras = cameras;
    this.#wakefulness.begin();
    this.#turn.begin(this.#had.size > 0);
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

  /** The box that has it, as far as is known: of two the one where it works, or whose claim is the later one; null: none. */
  boxOf(cameraId: string): string | null {
    const held = this.#held.get(cameraId);
    const found = this.#bestElsewhere(cameraId);
    if (found === null) return held === undefined ? null : this.#options.box;
    return held === undefined || isRather(found.row, held) ? found.by.box : this.#options.box;
  }

  /** Where another box that has it is asked for its pictures; null: it is this box's, or none can be asked. */
  relayOf(cameraId: string): OtherBox | null {
    return this.has(cameraId) ? null : this.#relays.of(cameraId);
  }

  /** What the box tells of it that has it; null: nothing. */
  figuresOf(cameraId: string): unknown {
    return this.#bestElsewhere(cameraId)?.row.figures ?? null;
  }

  /** It did at a box that had it lately: whoever takes it gives it a thread of its own. */
  endsThreads(cameraId: string): boolean {
    return this.#enders.has(cameraId);
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
    // Of a start that isn't heard to live it is said again by somebody else; or all of it is told in a second.
    const { boxes } = this.#see();
    if (!boxes.some(({ name, boot }) => name === report.box && boot === report.boot)) return;
    if (this.#reports.hear(report, this.#deps.clock.monotonicMs())) this.lookSoon();
  }

  /** Something that counts may be another. */
  lookSoon(): void {
    if (this.#cameras === null) return;
    const restMs = Math.min(Math.max(LOOK_SOON_MS, REST_PER_LOOK * this.#lookedForMs), MAX_REST_MS);
    this.#soon ??= this.#deps.clock.after(restMs, () => {
      this.#soon = null;
      this.#tellReady();
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
    if (this.#tellReady() || isTime || this.#second.takePressing()) this.#look();
    else if (this.#wakefulness.notice()) this.#turn.unsettle();
    if (isTime) this.#book.write();
    if (isTime) this.#deps.wire.tellAll([...this.#held.keys()], (id) => this.#rowOf(id, true));
  }

  #look(): void {
    if (this.#wakefulness.notice()) this.#turn.unsettle();
    const nowMs = this.#deps.clock.monotonicMs();
    const view = this.#see();
    this.#reports.doubt(nowMs);
    this.#findCandidates(view);
    this.#turn.look(view);
    const isTold = [...this.#here.values()].every(({ name, boot }) => this.#reports.isKnown(name, boot));
    const [mayTake, mayTakeBack] = this.#wakefulness.permissions(view, isTold);
    if (!this.#wakefulness.mayBeBack) this.#mayBeBack.clear();
    const taken: string[] = [];
    const tried: string[] = [];
    const kept: string[] = [];
    const dropped: string[] = [];
    const turns: string[] = [];
    const moved = this.#enders.forgetOld().filter((id) => this.#held.has(id));
    let count = 0;
    let heldCount = 0;
    const own: Own = { box: this.#options.box, isLeaving: this.#isLeaving, nowMs };
    // Where others are at a loss it may be them; where this box is, too, it is it.
    const mayTry = mayTake && !this.#health.isSuspect;
    for (const { id, box } of this.#cameras!.list()) {
      count += 1;
      const held = this.#held.get(id);
      if (held !== undefined) heldCount += 1;
      const theirs = this.#reports.of(id);
      let endsThreads = held?.endsThreads === true;
      let isSilent = false;
      for (const { row } of theirs) {
        endsThreads ||= row.endsThreads;
        isSilent ||= row.isSilent;
      }
      if (endsThreads && this.#enders.add(id) && held !== undefined) moved.push(id);
      const isWinner = this.#shares.winnerOf(id, box) === this.#options.box;
      const verdict = verdictOf(own, isWinner, held ?? null, theirs);
      const isBack = this.#mayBeBack.has(id);
      const mayTakeIt = mayTake || (mayTakeBack && isBack);
      if (this.#second.isNeeded && (verdict !== 'wait' || !mayTakeIt)) this.#second.notToTake(id);
      if (this.#second.isNeeded && !isSilent) this.#second.notSilent(id);
      if (verdict === 'take' && mayTakeIt) taken.push(id);
      else if (verdict === 'wait' && mayTakeIt) {
        const place = this.#shares.placeOf(own.box, { id, pinnedTo: box, holders: theirs });
        if (place !== null && this.#second.mayTake(id, isBack ? 1 : place)) taken.push(id);
      } else if (verdict === 'turn' && mayTry) turns.push(id);
      else if (verdict === 'stand_in' && mayTry) {
        if (this.#mayStandIn(id, box, theirs))
          this.#standIns.ask(id, theirs.find(({ row }) => row.isSilent)!.by.box);
      } else if (verdict === 'try' && mayTry) {
        if (isWinner) turns.push(id);
        if (this.#mayTry(id, box, theirs)) tried.push(id);
      } else if (verdict === 'keep') kept.push(id);
      else if (verdict === 'drop' || verdict === 'give_up') {
        this.#noteEnd(id, held!, verdict);
        dropped.push(id);
      }
      if (this.#second.isNeeded && (held?.isReady === true || theirs.some(({ row }) => row.isReady)))
        this.#second.recorded(id);
      if (theirs.length > 0 && isBack) this.#mayBeBack.delete(id);
      if (this.#relays.look(id, theirs) && held === undefined) moved.push(id);
    }
    this.#lookedForMs = this.#deps.clock.monotonicMs() - nowMs;
    // A set of 10,000 takes longer than half of the rest.
    if (heldCount < this.#held.size || this.#second.isNeeded || this.#relays.count > count)
      dropped.push(...this.#forgetUnknown());
    const next = this.#isLeaving ? null : this.#turn.next(turns, (id) => this.#isTurnDone(id));
    if (next !== null) taken.push(next);
    this.#drop(dropped);
    this.#keep(kept);
    this.#take(taken, false);
    const most = this.#health.isWorking ? MAX_TRIALS : FEW_TRIALS;
    this.#take(tried.filter((id) => id !== next).slice(0, Math.max(0, most - this.#trials)), true);
    const standsInFor = this.#standIns.choose(this.#held.values());
    this.#take([...standsInFor.keys()], true, standsInFor);
    if (moved.length > 0) this.changed.emit(moved);
    this.#tellClaimed();
    if (this.#isLeaving && (this.#held.size === 0 || !this.#hasHeirs)) this.#whenEmpty?.();
  }

  /** Of cameras that are no more: those that it has. */
  #forgetUnknown(): string[] {
    const known = new Set<string>();
    for (const { id } of this.#cameras!.list()) known.add(id);
    this.#second.keepOnly(known);
    this.#relays.keepOnly(known);
    return [...this.#held.keys()].filter((id) => !known.has(id));
  }

  /** Who is here. */
  #see(): BoxesView {
    const view = this.#deps.boxes();
    if (view === this.#seen) return view;
    this.#seen = view;
    this.#here = new Map(
      view.boxes.flatMap((box): [string, BoxView][] =>
        box.isHere && box.name !== this.#options.box ? [[box.name, box]] : [],
      ),
    );
    this.#reports.see(this.#here, new Set(view.boxes.map(({ name }) => name)));
    this.#relays.see(this.#here.values());
    return view;
  }

  #mayTry(cameraId: string, pinnedTo: string | null, theirs: readonly Theirs[]): boolean {
    return this.#second.mayTry(cameraId, () =>
      this.#shares.placeOf(this.#options.box, { id: cameraId, pinnedTo, holders: theirs }),
    );
  }

  #mayStandIn(cameraId: string, pinnedTo: string | null, theirs: readonly Theirs[]): boolean {
    const sought = { id: cameraId, pinnedTo, holders: theirs };
    return this.#second.mayStandIn(cameraId, () =>
      this.#standIns.isLeftAlone(cameraId)
        ? null
        : this.#shares.placeOf(this.#options.box, sought, (box) => this.#rankOf(box)),
    );
  }

  /** Who stands in for others first: a box where nothing works may reach nothing. */
  #rankOf(box: string): number | null {
    const health = box === this.#options.box ? this.#health : this.#reports.healthOf(box);
    if (health?.isSuspect === true) return null;
    return health?.isWorking === true ? 0 : 1;
  }

  #noteEnd(cameraId: string, held: Held, verdict: 'drop' | 'give_up'): void {
    if (held.standsInFor !== null && held.isTrial) {
      if (verdict === 'give_up') this.#standIns.failed(cameraId);
      else this.#standIns.needless(cameraId);
    } else if (held.isTrial) {
      if (verdict === 'give_up') this.#second.failed(cameraId);
    } else if (verdict === 'give_up') this.#turn.refuse(cameraId);
    else if (held.worksNoMore || held.isFailing) this.#turn.lost(cameraId);
  }

  /** Those that others have, and that work nowhere as yet. */
  get #trials(): number {
    let trials = 0;
    for (const { isTrial, standsInFor } of this.#held.values())
      if (isTrial && standsInFor === null) trials += 1;
    return trials;
  }

  /** It was tried, and works here. */
  #keep(ids: readonly string[]): void {
    if (ids.length === 0) return;
    for (const id of ids) Object.assign(this.#held.get(id)!, { isTrial: false, standsInFor: null });
    this.#deps.log.info('cameras that worked nowhere else work here', { cameras: ids.length, first: ids[0] });
    this.#tellSome(ids, []);
    this.#claiming.add(ids);
  }

  #take(ids: readonly string[], isTrial: boolean, standsInFor?: ReadonlyMap<string, string>): void {
    if (ids.length === 0) return;
    const now = [this.#deps.clock.monotonicMs(), this.#deps.clock.wallMs()] as const;
    for (const id of ids) {
      const epoch = Math.max(this.#reports.highestEpoch(id), this.#had.get(id) ?? 0) + 1;
      const standsIn = standsInFor?.get(id) ?? null;
      this.#held.set(id, heldSince(now, { epoch, isTrial, standsInFor: standsIn }));
      this.#mayBeBack.delete(id);
    }
    const what = isTrial ? 'this box tries cameras that work nowhere now' : 'this box takes cameras';
    this.#deps.log.info(what, { cameras: ids.length, first: ids[0] });
    // Recorded first, written down and claimed then.
    this.changed.emit(ids);
    this.#tellSome(ids, []);
    if (isTrial) return;
    for (const id of ids) this.#writeDown(id, this.#held.get(id)!);
    this.#book.write();
    this.#claiming.add(ids);
  }

  #drop(ids: readonly string[]): void {
    if (ids.length === 0) return;
    const written = ids.filter((id) => this.#held.get(id)!.isWrittenDown);
    for (const id of ids) this.#held.delete(id);
    this.#deps.log.info('cameras are no more of this box', { cameras: ids.length, first: ids[0] });
    this.changed.emit(ids);
    this.#tellSome([], ids);
    for (const id of written) this.#book.end(id);
  }

  #writeDown(cameraId: string, held: Held): void {
    held.isWrittenDown = true;
    this.#book.begin(cameraId, held.epoch, held.sinceWallMs);
  }

  #onClaimed(cameraId: string, epoch: number): void {
    const held = this.#held.get(cameraId);
    if (held === undefined) return;
    Object.assign(held, { epoch, isClaimed: true });
    this.#book.claim(cameraId, epoch);
    this.#claimed.add(cameraId);
    this.lookSoon();
  }

  /** All that were since the last look. */
  #tellClaimed(): void {
    const ids = [...this.#claimed].filter((id) => this.#held.has(id));
    this.#claimed.clear();
    if (ids.length > 0) this.#tellSome(ids, []);
  }

  /** Whoever waits for that hears of it at once. Whether there was any. */
  #tellReady(): boolean {
    const nowMs = this.#deps.clock.monotonicMs();
    const cameras = this.#cameras!;
    const news: string[] = [];
    let hasAnswer = false;
    this.#health = new Health();
    for (const [id, held] of this.#held) {
      const ailment = { isUnauthorized: cameras.isUnauthorized(id), suspicion: cameras.suspicionOf(id) };
      if (noteWork(held, cameras.worksUntilMs(id), ailment, nowMs)) news.push(id);
      if (held.isReady && !held.isWrittenDown) this.#writeDown(id, held);
      if (held.isTrial && held.standsInFor !== null)
        hasAnswer = this.#noteAnswer(id, held, nowMs) || hasAnswer;
      this.#health.count(held, 1, held.worksNoMore);
    }
    if (news.length > 0) this.#tellSome(news, []);
    return news.length > 0 || hasAnswer;
  }

  /** Whether a camera that is tried has answered for the first time: so may the others of that box. */
  #noteAnswer(cameraId: string, held: Held, nowMs: MonotonicMs): boolean {
    if (!(held.isReady || this.#cameras!.hasAnswered(cameraId))) return false;
    const isFirst = held.answeredMs === null;
    held.answeredMs = nowMs;
    if (isFirst) this.#standIns.proven(held.standsInFor!);
    return isFirst;
  }

  #tellSome(ids: readonly string[], dropped: readonly string[]): void {
    this.#deps.wire.tellSome(
      ids.map((id) => this.#rowOf(id, false)),
      dropped,
    );
  }

  #rowOf(cameraId: string, withFigures: boolean): HeldRow {
    const figures = withFigures ? this.#cameras!.figures(cameraId) : null;
    return rowOf(cameraId, this.#held.get(cameraId)!, figures);
  }

  /** Where others have it, and don't merely try to. */
  #elsewhere(cameraId: string): readonly HeldElsewhere[] {
    this.#see();
    const all = this.#reports.of(cameraId);
    return all.some(isTrying) ? all.filter((held) => !isTrying(held)) : all;
  }

  #bestElsewhere(cameraId: string): HeldElsewhere | null {
    let best: HeldElsewhere | null = null;
    for (const held of this.#elsewhere(cameraId))
      if (best === null || isRather(held.row, best.row)) best = held;
    return best;
  }

  /**
   * Nobody else has it any more; or it is no more this box's. Who had it working lets go when it works here: a camera that is
   * off needn't be waited for.
   */
  #isTurnDone(cameraId: string): boolean {
    return !this.#held.has(cameraId) || this.#elsewhere(cameraId).length === 0;
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
    if (this.#shares.see(staying)) this.#turn.changed();
  }
}
