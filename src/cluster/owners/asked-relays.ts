import type { OtherBox } from '../../relay/receive/pull.js';
import type { BoxView } from '../boxes/box-table.js';
import { isRather } from './reports.js';
import type { Theirs } from './verdict.js';

/** IPv6 addresses stand in brackets there. */
const hostIn = (origin: string): string => new URL(origin).hostname.replace(/^\[|\]$/g, '');

/** Where boxes are asked for pictures; null: it can't be. */
const relayOf = ({ name, address, relayPort }: BoxView): OtherBox | null =>
  address === null || relayPort === null ? null : { box: name, host: hostIn(address), port: relayPort };

const isSame = (a: OtherBox, b: OtherBox): boolean =>
  a === b || (a.box === b.box && a.host === b.host && a.port === b.port);

/**
 * Which other box is asked for a camera's pictures: whoever has it working, by the latest claim, and in between whoever had
 * it, so that viewers wait where they are; nobody, where that one can't be asked.
 */
export class AskedRelays {
  readonly #byCamera = new Map<string, OtherBox>();
  #byBox: ReadonlyMap<string, OtherBox | null> = new Map();

  of(cameraId: string): OtherBox | null {
    return this.#byCamera.get(cameraId) ?? null;
  }

  /** The other boxes that live. */
  see(here: Iterable<BoxView>): void {
    const before = this.#byBox;
    this.#byBox = new Map(
      [...here].map((box): [string, OtherBox | null] => {
        const relay = relayOf(box);
        const known = before.get(box.name) ?? null;
        return [box.name, relay !== null && known !== null && isSame(known, relay) ? known : relay];
      }),
    );
  }

  /** True: it is another one than before. */
  look(cameraId: string, theirs: readonly Theirs[]): boolean {
    let found: OtherBox | null = null;
    let best: Theirs['row'] | null = null;
    for (const { by, row } of theirs) {
      const relay = this.#byBox.get(by.box) ?? null;
      if (relay === null || (row.isTrial && !row.isReady) || (best !== null && !isRather(row, best)))
        continue;
      found = relay;
      best = row;
    }
    if (found === null) {
      // Whoever had it shows nothing any more, and who has it can't be asked: viewers are told.
      const isElsewhere = theirs.some(({ row }) => row.isReady && !row.isTrial);
      return isElsewhere && this.#byCamera.delete(cameraId);
    }
    const before = this.#byCamera.get(cameraId);
    if (before !== undefined && isSame(before, found)) return false;
    this.#byCamera.set(cameraId, found);
    return true;
  }

  get count(): number {
    return this.#byCamera.size;
  }

  keepOnly(cameraIds: ReadonlySet<string>): void {
    for (const id of this.#byCamera.keys()) if (!cameraIds.has(id)) this.#byCamera.delete(id);
  }
}
