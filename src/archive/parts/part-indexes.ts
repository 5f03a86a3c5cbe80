import { archiveError } from '../archive-error.js';
import type { RecordingSource } from '../files/recording-source.js';
import { type FileStamp, isSameStamp } from '../files/scan-folder.js';
import { forgetOldest } from '../forget-oldest.js';
import type { JobRunner } from '../jobs/jobs.js';
import type { Recording } from '../list/recording.js';
import type { IndexPartsOutput } from './index-parts.js';
import { RecordedParts } from './recorded-parts.js';

/** 16 MB: some hundred hours of one-second parts, or the last hours of many cameras. */
const MAX_PARTS_KNOWN = 400_000;
/** A day of parts of a fifth of a second; a file with more is somebody's joke. */
const MAX_PARTS_A_FILE = 1 << 19;

class Entry {
  readonly parts = new RecordedParts();
  /** What the parts were read from. */
  stamp: FileStamp;
  /** Where the first part begins that isn't known to be whole. */
  nextBytes = 0;
  update: Promise<void> | null = null;

  constructor(stamp: FileStamp) {
    this.stamp = stamp;
  }

  /** Parts that there is memory for: files of a few seconds have some, too. */
  get weight(): number {
    return this.parts.ptsTicks.length;
  }
}

/** Knows the whole parts of recordings. What a file was found to hold is kept until the file changes. */
export class PartIndexes {
  readonly #maxParts: number;
  readonly #runner: JobRunner;
  /** By path; the one asked for last is the last one. */
  readonly #entries = new Map<string, Entry>();

  constructor(options: { readonly maxParts?: number }, deps: { readonly runner: JobRunner }) {
    this.#maxParts = options.maxParts ?? MAX_PARTS_KNOWN;
    this.#runner = deps.runner;
  }

  /** All whole parts; of an open file that has grown, the new ones alone are read. The table is not the caller's. */
  async partsOf(recording: Recording, source: RecordingSource): Promise<RecordedParts> {
    let entry = this.#entryFor(source);
    // Another request may be at it, for what the file was then.
    while (entry.update !== null) {
      await entry.update;
      entry = this.#entryFor(source);
    }
    if (entry.parts.count > 0 && isSameStamp(entry.stamp, source.stamp)) return entry.parts;
    entry.update = this.#update(entry, recording, source).finally(() => {
      entry.update = null;
    });
    await entry.update;
    forgetOldest(this.#entries, ({ weight }) => weight, this.#maxParts, source.path);
    return entry.parts;
  }

  #entryFor({ path, stamp, isOpen }: RecordingSource): Entry {
    const known = this.#entries.get(path);
    const isGrown =
      known !== undefined &&
      isOpen &&
      known.stamp.ino === stamp.ino &&
      known.stamp.sizeBytes <= stamp.sizeBytes;
    const isGood = isGrown || (known !== undefined && isSameStamp(known.stamp, stamp));
    const entry = isGood ? known : new Entry(stamp);
    this.#entries.delete(path);
    this.#entries.set(path, entry);
    return entry;
  }

  async #update(entry: Entry, { startMs }: Recording, source: RecordingSource): Promise<void> {
    try {
      const known = entry.parts.count;
      await this.#readOn(entry, source);
      entry.parts.setWallTimes(known, startMs);
      entry.stamp = source.stamp;
    } catch (fault) {
      // Whatever was read may be of another file.
      if (this.#entries.get(source.path) === entry) this.#entries.delete(source.path);
      throw fault;
    }
  }

  async #readOn(entry: Entry, source: RecordingSource): Promise<void> {
    for (let fromBytes: number | null = entry.nextBytes; fromBytes !== null; ) {
      const found: IndexPartsOutput = await this.#runner.run('indexParts', { source, fromBytes });
      const { parts, nextBytes } = found;
      const isLastWhole = !source.isOpen && nextBytes === null;
      const wholeParts = Math.max(isLastWhole ? parts.count : parts.count - 1, 0);
      entry.parts.addAll(parts, wholeParts);
      entry.parts.isOneOpen = wholeParts < parts.count;
      if (entry.parts.isOneOpen) entry.nextBytes = parts.startBytes[wholeParts]!;
      if (entry.parts.count > MAX_PARTS_A_FILE) {
        throw archiveError('recording_unreadable', 'the recording has too many parts');
      }
      fromBytes = nextBytes;
    }
  }
}
