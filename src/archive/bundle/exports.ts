import { randomBytes } from 'node:crypto';
import type { Clock, Timer } from '../../base/clock.js';
import { AppError } from '../../base/errors.js';
import { archiveError } from '../archive-error.js';
import type { PinnedClip } from '../export/pinned-clip.js';
import type { Gap } from '../list/intervals.js';
import { fileNameOf, zipNameOf } from './export-names.js';
import { ExportedFile, type ExportItem } from './exported-file.js';
import { HeldFacts, type Holding } from './held-facts.js';
import { ZipContent } from './zip-content.js';

export type ExportsDeps = {
  readonly clock: Clock;
  /** Throws as `Playback.pinnedClip`. */
  readonly clipOf: (item: ExportItem, username: string) => Promise<PinnedClip>;
  readonly gapsOf: (item: ExportItem) => Promise<readonly Gap[]>;
  /** What was seen in a clip of that time, as WebVTT; null: nothing, or more than `maxBytes`. */
  readonly subtitlesOf: (
    cameraId: string,
    span: { readonly fromMs: number; readonly toMs: number },
    maxBytes: number,
  ) => Promise<string | null>;
  /** Calls back once where the user loses rights, until it is released. */
  readonly hold: (username: string, cameraIds: readonly string[], onEnd: () => void) => { release(): void };
};

/** What somebody wants to take along. */
export type ExportWanted = {
  readonly username: string;
  readonly items: readonly ExportItem[];
  readonly isZipped: boolean;
  /** Nobody waits for it any more. */
  readonly signal: AbortSignal;
};

/** What can be downloaded: bytes of a clip or of all of them. */
export type ExportContent = {
  readonly contentBytes: number;
  readonly etag: string;
  readonly lastModifiedMs: number;
  read(startByte: number, endByte: number): AsyncIterable<Buffer>;
  close(): void;
};

export const EXPORT_LIFETIME_MS = 3_600_000;
const MAX_EXPORTS_OF_USER = 20;
const MAX_EXPORTS = 500;
const MAX_PLANNED_OF_USER = 2;
const MAX_DOWNLOADS_OF_USER = 8;
/** What a camera that comes and goes leaves. */
const MAX_RECORDINGS = 5_000;
/** Some hours of a camera before which something stands: with more nobody reads along. */
const MAX_SUBTITLE_BYTES = 1 << 20;
const ID_BYTES = 24;

type Hold = { release(): void };
type Opened = {
  readonly made: Export;
  readonly timer: Timer;
  readonly hold: Hold;
  readonly holding: Holding;
};

/** What was exported: it is good for an hour, and holds no more than where its bytes are. */
export class Export {
  readonly id = randomBytes(ID_BYTES).toString('base64url');
  readonly username: string;
  readonly madeMs: number;
  readonly expiresMs: number;
  readonly files: readonly ExportedFile[];
  readonly zip: ZipContent | null;
  readonly zipName: string;

  constructor(username: string, madeMs: number, files: readonly ExportedFile[], isZipped: boolean) {
    this.username = username;
    this.madeMs = madeMs;
    this.expiresMs = madeMs + EXPORT_LIFETIME_MS;
    this.files = files;
    this.zip = isZipped ? new ZipContent(files, { madeBy: username, madeMs }) : null;
    this.zipName = zipNameOf(madeMs);
  }
}

/** Exports that were made, as many as each user may have at once. */
export class Exports {
  readonly #deps: ExportsDeps;
  /** The oldest comes first. */
  readonly #open = new Map<string, Opened>();
  readonly #facts = new HeldFacts();
  readonly #planning = new Map<string, number>();
  readonly #downloads = new Map<string, number>();

  constructor(deps: ExportsDeps) {
    this.#deps = deps;
  }

  get count(): number {
    return this.#open.size;
  }

  /**
   * Throws what is wrong with items (`details.errors` tells of all), `too_many_exports`, or what the archive can't do
   * now.
   */
  async make(wanted: ExportWanted): Promise<Export> {
    const { username, isZipped } = wanted;
    this.#checkRoom(username);
    const leave = enter(this.#planning, username, MAX_PLANNED_OF_USER, 'another export is being made');
    let made: Export | null = null;
    let isWithdrawn = false;
    const cameraIds = wanted.items.map(({ cameraId }) => cameraId);
    const hold = this.#deps.hold(username, cameraIds, () => {
      isWithdrawn = true;
      if (made !== null) this.end(made.id);
    });
    const holding = this.#facts.of(username, () =>
      this.#tooMany(username, 'the exports of a user have too many recordings; end one'),
    );
    try {
      const files = await this.#filesOf(wanted, holding);
      this.#checkRoom(username);
      if (isWithdrawn) throw new AppError('token_revoked', 'the token was withdrawn: log in again');
      made = new Export(username, this.#deps.clock.wallMs(), files, isZipped);
      const { id } = made;
      const timer = this.#deps.clock.after(EXPORT_LIFETIME_MS, () => this.end(id));
      this.#open.set(id, { made, timer, hold, holding });
      return made;
    } finally {
      if (made === null) {
        hold.release();
        holding.release();
      }
      leave();
    }
  }

  /** Null where there is none, or it has ended. */
  find(id: string): Export | null {
    return this.#open.get(id)?.made ?? null;
  }

  /** What of it has this name; null: nothing. Close it, which ends its reading, too. Throws `export_gone` or `archive_busy`. */
  async content(made: Export, name: string): Promise<ExportContent | null> {
    const file = made.files.find((other) => other.name === name);
    const zip = made.zip !== null && name === made.zipName ? made.zip : null;
    if (file === undefined && zip === null) return null;
    const leave = enter(
      this.#downloads,
      made.username,
      MAX_DOWNLOADS_OF_USER,
      'too many downloads of one user at once; try again',
    );
    try {
      if (file !== undefined) return await openFile(file, leave);
      const { contentBytes, etag, lastModifiedMs } = zip!;
      const closing = new AbortController();
      const close = (): void => {
        closing.abort();
        leave();
      };
      const read = (from: number, to: number) => zip!.read(from, to, closing.signal);
      return { contentBytes, etag, lastModifiedMs, read, close };
    } catch (fault) {
      leave();
      throw fault;
    }
  }

  /** Its addresses are good no more. */
  end(id: string): void {
    const ended = this.#open.get(id);
    ended?.timer.cancel();
    ended?.hold.release();
    ended?.holding.release();
    this.#open.delete(id);
  }

  stop(): void {
    for (const id of [...this.#open.keys()]) this.end(id);
  }

  #checkRoom(username: string): void {
    if (this.#open.size >= MAX_EXPORTS) throw archiveError('archive_busy', 'there are too many exports');
    if (this.#exportsOf(username).length < MAX_EXPORTS_OF_USER) return;
    throw this.#tooMany(username, `a user has ${MAX_EXPORTS_OF_USER} exports at most; end one`);
  }

  #exportsOf(username: string): Export[] {
    return [...this.#open.values()].map(({ made }) => made).filter((made) => made.username === username);
  }

  /** There is room again when the user's oldest one ends. */
  #tooMany(username: string, message: string): AppError {
    const endMs = this.#exportsOf(username)[0]?.expiresMs ?? 0;
    const retryAfterSec = Math.max((endMs - this.#deps.clock.wallMs()) / 1000, 1);
    return archiveError('too_many_exports', message, { retryAfterSec });
  }

  async #filesOf(
    { username, items, isZipped, signal }: ExportWanted,
    holding: Holding,
  ): Promise<ExportedFile[]> {
    const files: ExportedFile[] = [];
    const faults: { readonly fault: AppError; readonly path: string }[] = [];
    const names = new Set<string>();
    let recordings = 0;
    for (const [index, item] of items.entries()) {
      if (signal.aborted) throw archiveError('archive_busy', 'nobody waits for this export');
      const clip = await this.#clipOf(item, username, (fault) =>
        faults.push({ fault, path: `items[${index}]` }),
      );
      if (clip === null) continue;
      recordings += clip.recordingCount;
      if (recordings > MAX_RECORDINGS)
        throw archiveError('range_too_large', 'this has too many recordings; ask for less at a time');
      const gaps = await this.#deps.gapsOf(item);
      holding.add(clip.recordingCount + gaps.length);
      const name = fileNameOf(item, names);
      names.add(name.toLowerCase());
      const subtitles = isZipped ? await this.#subtitlesOf(item, clip, holding) : null;
      files.push(new ExportedFile({ item, name, clip, gaps, subtitles }, this.#deps));
    }
    if (faults.length > 0) throw together(faults);
    return files;
  }

  /** Null too where all exports hold so much that there is no room for it: the clips come first. */
  async #subtitlesOf(
    { cameraId }: ExportItem,
    { beginMs, endMs }: PinnedClip,
    holding: Holding,
  ): Promise<Buffer | null> {
    const span = { fromMs: beginMs, toMs: endMs };
    const text = await this.#deps.subtitlesOf(cameraId, span, MAX_SUBTITLE_BYTES);
    if (text === null) return null;
    const bytes = Buffer.from(text);
    return holding.tryAddText(bytes.length) ? bytes : null;
  }

  /** What is wrong with an item itself doesn't keep the others from being looked at. */
  async #clipOf(
    item: ExportItem,
    username: string,
    onFault: (fault: AppError) => void,
  ): Promise<PinnedClip | null> {
    try {
      return await this.#deps.clipOf(item, username);
    } catch (fault) {
      if (!(fault instanceof AppError) || !itemFaults.includes(fault.code)) throw fault;
      onFault(fault);
      return null;
    }
  }
}

const itemFaults: readonly string[] = [
  'not_found',
  'mixed_formats',
  'range_too_large',
  'recording_unreadable',
  'recording_not_ready',
];

const together = (faults: readonly { readonly fault: AppError; readonly path: string }[]): AppError => {
  const { fault, path } = faults[0]!;
  const errors = faults.map((one) => ({ path: one.path, message: one.fault.message }));
  return new AppError(fault.code, `${path}: ${fault.message}`, { details: { ...fault.details, errors } });
};

const openFile = async (file: ExportedFile, leave: () => void): Promise<ExportContent> => {
  const clip = await file.clip.open();
  return {
    contentBytes: clip.contentBytes,
    etag: clip.etag,
    lastModifiedMs: clip.lastModifiedMs,
    read: (startByte, endByte) => clip.read(startByte, endByte),
    close: () => {
      clip.close();
      leave();
    },
  };
};

/** Counts one more of a user's, who may have so many; what it answers counts it no more. */
const enter = (
  counts: Map<string, number>,
  username: string,
  most: number,
  refusal: string,
): (() => void) => {
  const before = counts.get(username) ?? 0;
  if (before >= most) throw archiveError('archive_busy', refusal);
  counts.set(username, before + 1);
  let isIn = true;
  return () => {
    if (!isIn) return;
    isIn = false;
    const left = counts.get(username)! - 1;
    if (left === 0) counts.delete(username);
    else counts.set(username, left);
  };
};
