import { disk } from './write/disk.js';

/** Words of the shared memory. */
const word = { epoch: 0, device: 1, inode: 2 } as const;

/** What makes a folder the very same one, whatever its path leads to now. */
export type FolderIdentity = { readonly dev: bigint; readonly ino: bigint };

/** Code of the error for a path that leads to another folder than the archive's, or to none. */
export const ROOT_LOST = 'ERR_ARCHIVE_LOST';

/** The folder that the archive is, as the main thread found it, in memory that all threads share. */
export class RootState {
  readonly memory: SharedArrayBuffer;
  readonly #words: BigUint64Array;
  #lastEpoch = 0n;

  constructor() {
    this.memory = new SharedArrayBuffer(Object.keys(word).length * 8);
    this.#words = new BigUint64Array(this.memory);
  }

  /** The folder is there; or, null: recorders are to leave it alone. */
  set(folder: FolderIdentity | null): void {
    Atomics.store(this.#words, word.epoch, 0n);
    if (folder === null) return;
    Atomics.store(this.#words, word.device, folder.dev);
    Atomics.store(this.#words, word.inode, folder.ino);
    this.#lastEpoch += 1n;
    Atomics.store(this.#words, word.epoch, this.#lastEpoch);
  }
}

/** The same as recorders see it. */
export class RecorderRoot {
  readonly dir: string;
  readonly #words: BigUint64Array;

  constructor(dir: string, memory: SharedArrayBuffer) {
    this.dir = dir;
    this.#words = new BigUint64Array(memory);
  }

  /** 0: the folder is not there; another number each time that it is again, or another one took its place. */
  get epoch(): bigint {
    return Atomics.load(this.#words, word.epoch);
  }

  /** Asked before anything is made in it: a mount that is lost leaves an ordinary folder that would take everything. */
  async assertThere(): Promise<void> {
    const { dev, ino } = await disk.identityOf(this.dir);
    const isSame =
      this.epoch !== 0n &&
      dev === Atomics.load(this.#words, word.device) &&
      ino === Atomics.load(this.#words, word.inode);
    if (!isSame) throw rootLost();
  }
}

export const rootLost = (): Error =>
  Object.assign(new Error('the folder of the recordings is not there'), { code: ROOT_LOST });
