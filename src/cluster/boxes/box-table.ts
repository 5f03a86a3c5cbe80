import type { MonotonicMs, WallMs } from '../../base/clock.js';
import { type Beat, type Boot, MAX_BOXES } from './beat.js';
import { Boots } from './boots.js';
import { ClockDifference } from './clocks.js';

/** A box as another one sees it. */
export type BoxView = Omit<Beat, 'seq' | 'state' | 'box' | 'hears' | 'wallMs'> & {
  readonly name: string;
  /** The other boxes that it hears. */
  readonly hears: readonly string[];
  /** Whether it lives, as far as is known. */
  readonly isHere: boolean;
  /** It hands its cameras over, and takes none. */
  readonly isLeaving: boolean;
  /** Since when it has been here, or away: monotonic. */
  readonly sinceMs: MonotonicMs;
  /** How far its clock is ahead of that of the box that sees it; null: it isn't known. */
  readonly aheadMs: number | null;
};

/** All boxes as this one sees them. */
export type BoxesView = {
  /** Sorted by name; this one is among them. */
  readonly boxes: readonly BoxView[];
  /** Whether it may take what others have lost. */
  readonly hasMajority: boolean;
  /** Boxes that were there before this one started, and weren't heard yet. */
  readonly awaited: readonly string[];
  /** It has listened for long enough to know who is here. */
  readonly isSettled: boolean;
  /** Another box has this one's name. */
  readonly hasNamesake: boolean;
  /** It has a server, and what it says there doesn't come back to it: it can't know who is here. */
  readonly isUnheard: boolean;
};

/** What a box remembers of the others when it starts. */
export type KnownBox = {
  readonly name: string;
  /** It said goodbye. */
  readonly hasLeft: boolean;
};

export type BoxTableOptions = {
  readonly name: string;
  readonly lostMs: number;
  readonly known: readonly KnownBox[];
};

export type Moment = {
  readonly nowMs: MonotonicMs;
  readonly wallMs: WallMs;
  /** Whether this box has a server now. */
  readonly isConnected: boolean;
};

/** Whoever stood still so long has heard nothing meanwhile: the late one is the sick one. */
const STOOD_STILL_MS = 1_000;
/** One that is away for so long while a majority is here doesn't count any more; and isn't shown, after so long. */
const UNCOUNTED_AFTER_MS = 10 * 60_000;
const FORGET_AFTER_MS = 7 * 86_400_000;
/** Two of one name take turns: so long after the last word of the other there is one again. */
const NAMESAKE_MS = 5_000;
/** What a box says may take a while to be back, where it has just connected. */
const UNHEARD_MS = 5_000;

type Member = {
  beat: Beat;
  clock: ClockDifference;
  heardMs: MonotonicMs;
  sinceMs: MonotonicMs;
  isHere: boolean;
  /** Whether a majority needs it. */
  isCounted: boolean;
};

/** Who lives, by what is heard of them. It knows no clock and no servers: it is told the time whenever it is asked to look. */
export class BoxTable {
  readonly #options: BoxTableOptions;
  readonly #others = new Map<string, Member>();
  /** Known of before, not heard yet: those that may have died. */
  readonly #awaited = new Map<string, { readonly hasLeft: boolean; readonly sinceMs: MonotonicMs }>();
  /** Said goodbye lately. */
  readonly #left = new Map<string, MonotonicMs>();
  readonly #boots: Boots;
  #last: Moment | null = null;
  #connectedMs: MonotonicMs | null = null;
  /** When it heard itself last, by way of the servers. */
  #echoMs: MonotonicMs | null = null;
  /** Since when it hears without a break; null: it doesn't. */
  #listeningMs: MonotonicMs | null = null;
  #namesakeMs: MonotonicMs | null = null;
  #hasNews = true;

  constructor(options: BoxTableOptions, nowMs: MonotonicMs) {
    this.#options = options;
    this.#boots = new Boots(options.lostMs);
    for (const { name, hasLeft } of options.known.slice(0, MAX_BOXES))
      if (name !== options.name) this.#awaited.set(name, { hasLeft, sinceMs: nowMs });
  }

  hear(own: Pick<Beat, 'boot'>, beat: Beat, nowMs: MonotonicMs): void {
    const { box, boot, seq, state, hears } = beat;
    const { name } = this.#options;
    if (box === name) {
      if (boot === own.boot) this.#echoMs = nowMs;
      else this.#namesakeMs = nowMs;
      return;
    }
    const member = this.#others.get(box);
    const isSameBoot = member?.beat.boot === boot;
    // What was said before is said again by somebody else.
    if (isSameBoot ? seq <= member.beat.seq : !this.#boots.isNew(beat, member?.isHere === true)) return;
    this.#boots.heard(beat, nowMs);
    // And so is what was said to nobody, or to those that were here before: whoever lives hears this box, and says so in a moment.
    if (!hears.some((heard) => heard.box === name && heard.boot === own.boot)) return;
    if (member !== undefined && !isSameBoot) this.#boots.end(member.beat);
    if (state === 'gone') {
      this.#boots.end(beat);
      if (member === undefined) return;
      this.#others.delete(box);
      this.#left.set(box, nowMs);
      this.#hasNews = true;
      return;
    }
    if (member === undefined) {
      if (this.#others.size < MAX_BOXES - 1) this.#meet(beat, nowMs);
      return;
    }
    if (!isSameBoot || !member.isHere) member.sinceMs = nowMs;
    this.#hasNews ||=
      !isSameBoot || !member.isHere || member.beat.state !== state || member.beat.capacity !== beat.capacity;
    if (!isSameBoot) member.clock = new ClockDifference();
    Object.assign(member, { beat, heardMs: nowMs, isHere: true, isCounted: true });
    this.#compare(member, nowMs);
  }

  #compare({ beat: { wallMs }, clock }: Member, nowMs: MonotonicMs): void {
    const last = this.#last;
    if (wallMs !== null && last !== null) clock.add(wallMs, last.wallMs + nowMs - last.nowMs);
  }

  /** It is gone for good: it isn't counted, waited for or shown any more, unless it is heard again. One that is here stays. */
  forget(name: string, nowMs: MonotonicMs): void {
    if (this.#others.get(name)?.isHere === true) return;
    const wasKnown = this.#others.delete(name) || this.#awaited.delete(name);
    if (!wasKnown) return;
    this.#left.set(name, nowMs);
    this.#hasNews = true;
  }

  /** True: something is another than it was told last. */
  look(moment: Moment): boolean {
    const last = this.#last;
    this.#last = moment;
    const { nowMs, wallMs, isConnected } = moment;
    this.#connectedMs = isConnected ? (this.#connectedMs ?? nowMs) : null;
    if (!isConnected) this.#echoMs = null;
    const passedMs = last === null ? 0 : nowMs - last.nowMs;
    // The monotonic clock stands still while a machine sleeps.
    const sleptMs = last === null ? 0 : wallMs - last.wallMs - passedMs;
    const stoodStill = passedMs > STOOD_STILL_MS || Math.abs(sleptMs) > STOOD_STILL_MS;
    if (!this.#isHearing || stoodStill) {
      this.#listeningMs = null;
      for (const member of this.#others.values()) member.heardMs = nowMs;
    } else {
      if (this.#listeningMs === null) for (const member of this.#others.values()) member.heardMs = nowMs;
      this.#listeningMs ??= nowMs;
      this.#judge(nowMs);
    }
    const hadNews = this.#hasNews;
    this.#hasNews = false;
    return hadNews;
  }

  view(
    own: Omit<BoxView, 'isHere' | 'sinceMs' | 'hears' | 'name' | 'aheadMs'>,
    startedMs: MonotonicMs,
  ): BoxesView {
    const { name, lostMs } = this.#options;
    const nowMs = this.#last?.nowMs ?? startedMs;
    const boxes = [...this.#others.values()].map(viewOf);
    boxes.push({ ...own, name, isHere: true, sinceMs: startedMs, hears: this.#living, aheadMs: 0 });
    return {
      boxes: boxes.sort((a, b) => (a.name < b.name ? -1 : 1)),
      hasMajority: this.#hasMajority,
      awaited: [...this.#awaited.keys()],
      isSettled: this.#listeningMs !== null && nowMs - this.#listeningMs >= lostMs,
      hasNamesake: this.#namesakeMs !== null && nowMs - this.#namesakeMs < NAMESAKE_MS,
      isUnheard: this.#connectedMs !== null && nowMs - this.#connectedMs >= UNHEARD_MS && !this.#isHearing,
    };
  }

  /** What it says of whom it hears: those first that it takes for living. */
  get hears(): Boot[] {
    const living = [...this.#others.values()].filter(({ isHere }) => isHere).map(({ beat }) => beat);
    const heard = this.#boots.heardAt(this.#last?.nowMs ?? null);
    const all = new Map([...living, ...heard].map(({ box, boot }) => [boot, { box, boot }]));
    return [...all.values()].slice(0, MAX_BOXES);
  }

  /** The other boxes that live. */
  get #living(): string[] {
    return [...this.#others.values()].filter(({ isHere }) => isHere).map(({ beat }) => beat.box);
  }

  /** Whoever doesn't hear itself hears nobody. */
  get #isHearing(): boolean {
    if (this.#last === null || this.#echoMs === null) return false;
    return this.#last.nowMs - this.#echoMs < this.#options.lostMs;
  }

  /** For the next start. */
  get known(): KnownBox[] {
    const all = new Map<string, boolean>();
    for (const [name, { isCounted }] of this.#others) all.set(name, !isCounted);
    for (const [name, { hasLeft }] of this.#awaited) all.set(name, hasLeft);
    for (const name of this.#left.keys()) if (!all.has(name)) all.set(name, true);
    return [...all].map(([name, hasLeft]) => ({ name, hasLeft })).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  get #hasMajority(): boolean {
    const missed = [...this.#awaited.values()].filter(({ hasLeft }) => !hasLeft).length;
    const counted = [...this.#others.values()].filter(({ isCounted }) => isCounted).length;
    const known = 1 + counted + missed;
    const here = 1 + this.#living.length;
    // Of two there is none without the other: the servers have one, or nobody could be heard.
    return 2 * here > known || (known === 2 && this.#isHearing);
  }

  #meet(beat: Beat, nowMs: MonotonicMs): void {
    const since = { heardMs: nowMs, sinceMs: nowMs };
    const member = { beat, clock: new ClockDifference(), ...since, isHere: true, isCounted: true };
    this.#others.set(beat.box, member);
    this.#compare(member, nowMs);
    this.#awaited.delete(beat.box);
    this.#left.delete(beat.box);
    this.#hasNews = true;
  }

  #judge(nowMs: MonotonicMs): void {
    for (const member of this.#others.values()) {
      if (!member.isHere || nowMs - member.heardMs < this.#options.lostMs) continue;
      member.isHere = false;
      member.sinceMs = nowMs;
      this.#hasNews = true;
    }
    if (!this.#hasMajority) return;
    for (const [name, member] of this.#others) {
      if (member.isHere) continue;
      const awayMs = nowMs - member.sinceMs;
      if (awayMs >= UNCOUNTED_AFTER_MS) member.isCounted = false;
      if (awayMs >= FORGET_AFTER_MS) this.#forget(this.#others, name);
    }
    for (const [name, { sinceMs }] of this.#awaited)
      if (nowMs - sinceMs >= UNCOUNTED_AFTER_MS) this.#forget(this.#awaited, name);
    for (const [name, sinceMs] of this.#left)
      if (nowMs - sinceMs >= UNCOUNTED_AFTER_MS) this.#forget(this.#left, name);
  }

  #forget(from: Map<string, unknown>, name: string): void {
    from.delete(name);
    this.#hasNews = true;
  }
}

const viewOf = ({ beat, clock: { aheadMs }, isHere, sinceMs }: Member): BoxView => {
  const { box, seq: _, wallMs: __, state, hears, ...told } = beat;
  const names = hears.map((heard) => heard.box);
  return { ...told, name: box, hears: names, isHere, isLeaving: state === 'leaving', sinceMs, aheadMs };
};
