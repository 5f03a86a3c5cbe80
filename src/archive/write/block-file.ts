import { codeOf } from '../files/disk-fault.js';
import { BLOCK_BYTES, DIRECT_FLAGS, type DirectDisk } from './direct-disk.js';
import { disk } from './disk.js';

/** Of a recording. */
export const FILE_MODE = 0o640;
const BOX_HEAD_BYTES = 8;

/** Ends a stage's content at a block's border, by a `free` box (ISO 14496-12 §8.1.2); returns where that is. */
export const padToBlock = (stage: Buffer, filledBytes: number): number => {
  let padBytes = -filledBytes & (BLOCK_BYTES - 1);
  if (padBytes === 0) return filledBytes;
  if (padBytes < BOX_HEAD_BYTES) padBytes += BLOCK_BYTES;
  const end = filledBytes + padBytes;
  stage.writeUInt32BE(padBytes, filledBytes);
  stage.write('free', filledBytes + 4, 'latin1');
  // What a stage held before is another camera's.
  stage.fill(0, filledBytes + BOX_HEAD_BYTES, end);
  return end;
};

/** A file that is written a few whole blocks at a time, directly as long as that works. */
export class BlockFile {
  readonly #path: string;
  readonly #direct: DirectDisk;
  /** The one it was made with. */
  readonly #descriptor: number;
  /** Stays open when it isn't used any more: a sync may still be using it. */
  #directDescriptor: number | null = null;
  #canDirect = false;
  /** The last write went past the page cache. */
  isDirect = false;

  private constructor(path: string, direct: DirectDisk, descriptor: number) {
    this.#path = path;
    this.#direct = direct;
    this.#descriptor = descriptor;
  }

  /** Makes the file; throws EEXIST where there is one. */
  static async create(path: string, direct: DirectDisk): Promise<BlockFile> {
    const file = new BlockFile(path, direct, await disk.open(path, 'wx', FILE_MODE));
    await file.#goDirect();
    return file;
  }

  /** Writes whole blocks from a stage, at a block's border. */
  async write(stage: Buffer, lengthBytes: number, position: number): Promise<void> {
    this.isDirect = this.#canDirect && this.#direct.isWanted;
    try {
      await this.#writeAll(stage, lengthBytes, position);
    } catch (fault) {
      // Blocks of this disk are larger than anybody's, or its system takes O_DIRECT and does not mean it.
      if (!this.isDirect || codeOf(fault) !== 'EINVAL') throw fault;
      this.#canDirect = false;
      this.isDirect = false;
      await this.#writeAll(stage, lengthBytes, position);
    }
  }

  /** Ends the file at `position` and puts the last bytes there, however many. */
  async end(bytes: Buffer, position: number): Promise<void> {
    this.isDirect = false;
    await this.truncate(position);
    await this.#writeAll(bytes, bytes.length, position);
  }

  async truncate(lengthBytes: number): Promise<void> {
    await disk.ftruncate(this.#used, lengthBytes);
  }

  async sync(): Promise<void> {
    await disk.fdatasync(this.#used);
  }

  async close(): Promise<void> {
    let fault: unknown = null;
    for (const descriptor of [this.#directDescriptor, this.#descriptor]) {
      if (descriptor === null) continue;
      await disk.close(descriptor).catch((thrown: unknown) => {
        fault = thrown;
      });
    }
    if (fault !== null) throw fault;
  }

  get #used(): number {
    return this.isDirect && this.#directDescriptor !== null ? this.#directDescriptor : this.#descriptor;
  }

  async #writeAll(bytes: Buffer, lengthBytes: number, position: number): Promise<void> {
    if ((await disk.writeAt(this.#used, bytes, lengthBytes, position)) < lengthBytes) {
      throw Object.assign(new Error('the disk took only a part'), { code: 'ENOSPC' });
    }
  }

  /** A second descriptor, since a file that can't be opened like this would have been made all the same. */
  async #goDirect(): Promise<void> {
    if (DIRECT_FLAGS === null) return;
    try {
      this.#directDescriptor = await disk.open(this.#path, DIRECT_FLAGS);
      this.#canDirect = true;
    } catch {
      // Not on this file system: then by its cache.
    }
  }
}
