import type { BoxView } from '../boxes/box-table.js';
import { Rendezvous } from './rendezvous.js';

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

  /** How many would have it before this box, of those that don't have it; null: this one takes none. */
  placeOf(
    box: string,
    cameraId: string,
    pinnedTo: string | null,
    holders: readonly { readonly by: { readonly box: string } }[],
  ): number | null {
    const order = this.#rendezvous.orderOf(cameraId).filter((name) => name !== pinnedTo);
    if (pinnedTo !== null && this.#present.has(pinnedTo)) order.unshift(pinnedTo);
    const place = order.filter((name) => holders.every(({ by }) => by.box !== name)).indexOf(box);
    return place < 0 ? null : place;
  }
}
