import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { Signal } from '../../base/signal.js';
import { eventIdOf, eventIdText } from './event.js';

const MAX_FILES = 20_000;
const MAX_FILE_BYTES = 512_000;
/** 20,000 of the usual 30 to 50 KB; the largest that are taken would be ten times that. */
const MAX_BYTES = 1 << 30;
/** Files whose sizes are asked for at once. */
const STATS_AT_ONCE = 16;
/** Files of which it is looked at a time whether their events are still there. */
const LOOK_AT = 2_000;
/** Of them in a turn: the database answers for each. */
const LOOK_AT_ONCE = 100;
const SUFFIX = '.jpg';

/**
 * Pictures of events, one file each, beside their database. They may be deleted at any time; the oldest go where there are
 * too many or too large ones, and each goes with its event, some minutes later.
 */
export class PictureFiles {
  /** An event has a picture, or another one. */
  readonly added = new Signal<[id: number, jpeg: Uint8Array]>();
  readonly #folder: string;
  readonly #log: Logger;
  readonly #maxFiles: number;
  readonly #maxBytes: number;
  /** The sizes of those of each event that has one, oldest first. */
  readonly #sizes = new Map<number, number>();
  #bytes = 0;
  /** When what was there at the start counts with its size. */
  measured: Promise<void> = Promise.resolve();
  readonly #lookAt: number;
  /** So many of them, from the oldest on, were looked at. */
  #looked = 0;
  #isFailing = false;

  constructor(
    folder: string,
    options: {
      readonly log: Logger;
      readonly maxFiles?: number;
      readonly maxBytes?: number;
      readonly lookAt?: number;
    },
  ) {
    const { log, maxFiles = MAX_FILES, maxBytes = MAX_BYTES, lookAt = LOOK_AT } = options;
    this.#lookAt = lookAt;
    this.#folder = folder;
    this.#log = log;
    this.#maxFiles = maxFiles;
    this.#maxBytes = maxBytes;
  }

  /** Finds what is there. Without a folder there are just no pictures. */
  async start(): Promise<void> {
    await this.#try(async () => {
      await mkdir(this.#folder, { recursive: true });
      const ids: number[] = [];
      for (const name of await readdir(this.#folder)) {
        const id = name.endsWith(SUFFIX) ? eventIdOf(name.slice(0, -SUFFIX.length)) : null;
        if (id !== null) ids.push(id);
        // Left by a process that died while it wrote.
        else if (name.endsWith('.new')) await rm(join(this.#folder, name), { force: true });
      }
      for (const id of ids.sort((a, b) => a - b)) this.#keep(id, 0);
      // A cold disk may take minutes for all of them: nobody waits for that.
      this.measured = this.#try(() => this.#measure(ids));
    });
  }

  get count(): number {
    return this.#sizes.size;
  }

  /** What they take on the disk. */
  get bytes(): number {
    return this.#bytes;
  }

  /** In the place of the one before, if there was one. Never rejects. */
  async put(id: number, jpeg: Uint8Array): Promise<void> {
    if (jpeg.length > MAX_FILE_BYTES) return;
    this.added.emit(id, jpeg);
    await this.#try(async () => {
      const path = this.#pathOf(id);
      await writeFile(`${path}.new`, jpeg, { mode: 0o600 });
      await rename(`${path}.new`, path);
      this.#keep(id, jpeg.length);
      for (const oldest of this.#sizes.keys()) {
        if (this.#sizes.size <= this.#maxFiles && this.#bytes <= this.#maxBytes) break;
        await this.#remove(oldest);
      }
    });
  }

  /** Null: there is none. */
  async find(id: number): Promise<{ readonly jpeg: Buffer; readonly etag: string } | null> {
    if (!this.#sizes.has(id)) return null;
    try {
      const jpeg = await readFile(this.#pathOf(id));
      return { jpeg, etag: `"${createHash('sha256').update(jpeg).digest('base64url').slice(0, 22)}"` };
    } catch {
      return null;
    }
  }

  /** Takes a bounded look at whether the events are still there whose pictures these are. */
  async sweep(isThere: (id: number) => boolean): Promise<void> {
    await this.#try(async () => {
      if (this.#looked >= this.#sizes.size) this.#looked = 0;
      const ids = [...this.#sizes.keys()].slice(this.#looked, this.#looked + this.#lookAt);
      for (let at = 0; at < ids.length; at += LOOK_AT_ONCE) {
        const some = ids.slice(at, at + LOOK_AT_ONCE);
        const gone = some.filter((id) => !isThere(id));
        this.#looked += some.length - gone.length;
        for (const id of gone) await this.#remove(id);
        await nextTurn();
      }
    });
  }

  #pathOf(id: number): string {
    return join(this.#folder, `${eventIdText(id)}${SUFFIX}`);
  }

  async #measure(ids: readonly number[]): Promise<void> {
    for (let at = 0; at < ids.length; at += STATS_AT_ONCE) {
      const some = ids.slice(at, at + STATS_AT_ONCE);
      const found = await Promise.all(some.map((id) => stat(this.#pathOf(id)).catch(() => null)));
      // One that was replaced or removed meanwhile is known.
      for (const [index, id] of some.entries())
        if (this.#sizes.get(id) === 0) this.#keep(id, found[index]?.size ?? MAX_FILE_BYTES);
    }
  }

  #keep(id: number, bytes: number): void {
    this.#bytes += bytes - (this.#sizes.get(id) ?? 0);
    this.#sizes.set(id, bytes);
  }

  async #remove(id: number): Promise<void> {
    this.#bytes -= this.#sizes.get(id) ?? 0;
    this.#sizes.delete(id);
    await rm(this.#pathOf(id), { force: true });
  }

  /** The log tells once of a disk that takes nothing. */
  async #try(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#isFailing = false;
    } catch (fault) {
      if (!this.#isFailing)
        this.#log.warn('pictures of events could not be kept', { reason: messageOf(fault) });
      this.#isFailing = true;
    }
  }
}
