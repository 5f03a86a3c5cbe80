import type { BoxView } from '../boxes/box-table.js';
import { Rendezvous } from './rendezvous.js';

/** A camera that somebody else is to have than those that have it. */
type Sought = {
  readonly id: string;
  readonly pinnedTo: string | null;
  readonly holders: readonly { readonly by: { readonly box: string } }[];
};

/** Whose each camera is, among the boxes that are here and stay. */
export class Shares {
  #text = '';
  #rendezvous = new Rendezvous([]);
  #present: ReadonlySet<string> = new Set();
  readonly #winners = new Map<string, string | null>();

  /** True: they are others than before. */
  see(boxes: readonly BoxView[]): boolean {
    const candidates = boxes.map(({ name, capacity }) => ({ name, capacity }));
    const text = JSON.stringify(candidates);
    if (text === this.#text) return false;
    this.#text = text;
    this.#rendezvous = new Rendezvous(candidates);
    this.#present = new Set(candidates.map(({ name }) => name));
    this.#winners.clear();
    return true;
  }

  winnerOf(cameraId: string, pinnedTo: string | null): string | null {
    if (pinnedTo !== null && this.#present.has(pinnedTo)) return pinnedTo;
    let winner = this.#winners.get(cameraId);
    if (winner === undefined) {
      winner = this.#rendezvous.ownerOf(cameraId);
      this.#winners.set(cameraId, winner);
    }
    return winner;
  }

  /**
   * How many would have it before this box, of those that don't have it; null: this one takes none. `rankOf` a box: who has a lesser
   * one is before, whatever the hash says; null: it takes no part.
   */
  placeOf(
    box: string,
    { id, pinnedTo, holders }: Sought,
    rankOf: (box: string) => number | null = () => 0,
  ): number | null {
    const rankHere = (name: string): number | null =>
      holders.some(({ by }) => by.box === name) ? null : rankOf(name);
    // Before all others of its rank.
    const pinned = pinnedTo !== null && this.#present.has(pinnedTo) ? rankHere(pinnedTo) : null;
    const rankBesides = (name: string): number | null => (name === pinnedTo ? null : rankHere(name));
    if (box === pinnedTo)
      return pinned === null
        ? null
        : [...this.#present].filter((name) => (rankBesides(name) ?? pinned) < pinned).length;
    const place = this.#rendezvous.placeOf(box, id, rankBesides);
    if (place === null || pinned === null) return place;
    return place + (pinned <= rankHere(box)! ? 1 : 0);
  }
}
