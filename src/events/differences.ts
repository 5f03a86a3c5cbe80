import { isDeepStrictEqual } from 'node:util';
import type { Clock, MonotonicMs } from '../base/clock.js';

/** Told of a thing: which fields are others now; all of them where it is new, `{deleted: true}` where it is gone. */
export type TellDifference = (id: string, set: Readonly<Record<string, unknown>>) => void;

/** A thing that changes all the time is told of this often. */
const MIN_GAP_MS = 1_000;

type Known = {
  thing: object;
  toldAtMs: MonotonicMs;
  round: number;
  /** Fields that were others since; told even if they are back, since a reader may have seen what they were. */
  owed: Set<string> | null;
};

const fieldOf = (thing: object, name: string): unknown => (thing as Record<string, unknown>)[name];

const picked = (thing: object, names: Iterable<string>): Record<string, unknown> =>
  Object.fromEntries([...names].map((name) => [name, fieldOf(thing, name)]));

/** Compares things with what they were when they were told of last, and tells what is another. */
export class Differences {
  readonly #clock: Clock;
  /** Null: all of them. */
  readonly #fields: readonly string[] | null;
  readonly #tell: TellDifference;
  #known = new Map<string, Known>();
  #round = 0;

  constructor(fields: readonly string[] | null, deps: { clock: Clock; tell: TellDifference }) {
    this.#fields = fields;
    this.#clock = deps.clock;
    this.#tell = deps.tell;
  }

  /** Begins anew: this is how things are, and nobody needs to be told. */
  begin(things: Iterable<readonly [id: string, thing: object]>): void {
    const long = -MIN_GAP_MS as MonotonicMs;
    this.#known = new Map();
    for (const [id, thing] of things)
      this.#known.set(id, { thing, toldAtMs: long, round: this.#round, owed: null });
  }

  /** Tells what is another now; false: some things changed too soon after they were told of, and are to be looked at again. */
  look(things: Iterable<readonly [id: string, thing: object]>): boolean {
    const nowMs = this.#clock.monotonicMs();
    this.#round++;
    let isAllTold = true;
    for (const [id, thing] of things) {
      const known = this.#known.get(id);
      if (known === undefined) {
        this.#known.set(id, { thing, toldAtMs: nowMs, round: this.#round, owed: null });
        this.#tell(id, picked(thing, this.#fields ?? Object.keys(thing)));
        continue;
      }
      known.round = this.#round;
      this.#compare(known, thing);
      if (known.owed === null) continue;
      if (nowMs - known.toldAtMs < MIN_GAP_MS) {
        isAllTold = false;
        continue;
      }
      this.#tell(id, picked(thing, known.owed));
      known.toldAtMs = nowMs;
      known.owed = null;
    }
    for (const [id, { round }] of this.#known) {
      if (round === this.#round) continue;
      this.#known.delete(id);
      this.#tell(id, { deleted: true });
    }
    return isAllTold;
  }

  #compare(known: Known, thing: object): void {
    if (known.thing === thing) return;
    for (const name of this.#fields ?? Object.keys(thing)) {
      const [before, now] = [fieldOf(known.thing, name), fieldOf(thing, name)];
      if (before === now || (typeof now === 'object' && isDeepStrictEqual(before, now))) continue;
      known.owed ??= new Set();
      known.owed.add(name);
    }
    known.thing = thing;
  }
}
