/** Who could take cameras. */
export type Candidate = { readonly name: string; readonly capacity: number };

/** FNV-1a of the UTF-16 units: the same at all boxes, whatever they run on. */
const seedOf = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return mixed(hash);
};

/** Every bit of a number tells on every bit of the other (the last steps of MurmurHash3). */
const mixed = (value: number): number => {
  let bits = value ^ (value >>> 16);
  bits = Math.imul(bits, 0x85ebca6b);
  bits ^= bits >>> 13;
  bits = Math.imul(bits, 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
};

type Seeded = Candidate & { readonly seed: number };

const scoreOf = (camera: number, { capacity, seed }: Seeded): number => {
  // Of both halves, as 32 bits are alike too often.
  const low = mixed(camera ^ seed);
  const high = mixed(low ^ Math.imul(camera, 0x9e3779b1)) & 0x1fffff;
  // Between 0 and 1, neither of them.
  const chance = (high * 0x1_0000_0000 + low + 0.5) / 0x20_0000_0000_0000;
  return capacity / -Math.log(chance);
};

/**
 * Highest weighted rendezvous hash: all boxes that know of the same ones give a camera to the same one, each has a share as
 * large as its capacity says, and where one comes or goes nothing moves but what it gets or had.
 */
export class Rendezvous {
  readonly #boxes: readonly Seeded[];

  constructor(boxes: readonly Candidate[]) {
    this.#boxes = boxes
      .filter(({ capacity }) => capacity > 0)
      .map((box) => ({ ...box, seed: seedOf(`box ${box.name}`) }));
  }

  /** Null: nobody takes any. */
  ownerOf(cameraId: string): string | null {
    const camera = seedOf(cameraId);
    let owner: string | null = null;
    let highest = Number.NEGATIVE_INFINITY;
    for (const box of this.#boxes) {
      const score = scoreOf(camera, box);
      if (score < highest || (score === highest && owner !== null && box.name > owner)) continue;
      highest = score;
      owner = box.name;
    }
    return owner;
  }

  /**
   * How many would have it before this box, by rank and then by hash; null: this one takes none. `rankOf`: the lesser is before; null:
   * that box takes no part.
   */
  placeOf(name: string, cameraId: string, rankOf: (name: string) => number | null): number | null {
    const own = this.#boxes.find((box) => box.name === name);
    const ownRank = rankOf(name);
    if (own === undefined || ownRank === null) return null;
    const camera = seedOf(cameraId);
    const ownScore = scoreOf(camera, own);
    let place = 0;
    for (const box of this.#boxes) {
      const rank = box === own ? null : rankOf(box.name);
      if (rank === null || rank > ownRank) continue;
      const score = rank < ownRank ? Number.POSITIVE_INFINITY : scoreOf(camera, box);
      if (score > ownScore || (score === ownScore && box.name < name)) place += 1;
    }
    return place;
  }
}
