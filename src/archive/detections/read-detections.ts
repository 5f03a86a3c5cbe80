import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../files/disk-fault.js';
import { Moved } from '../files/job-result.js';
import { type ByteSource, openRegular } from '../files/regular-file.js';
import { StoredBytes, type StoredPlace } from '../offsite/stored-bytes.js';
import { decodeRecord, type KeptDetection, recordTimeAt } from './detection-record.js';
import { eachRecord, isSidecar, PAGE_BYTES, pageCountOf, readPage } from './sidecar-pages.js';

/** A place among detections: behind the first `count` of this very moment. */
export type DetectionPlace = { readonly timeUs: number; readonly count: number };

/** What was seen in a recording. */
export type SidecarPlace = {
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  /** Where it is, and how large, if the disk has it no more. */
  readonly stored?: { readonly place: StoredPlace; readonly bytes: number };
};

export type ReadDetectionsInput = {
  readonly folder: string;
  /** In the order of their recordings' starts; `endMs`: of the recording. */
  readonly sidecars: readonly SidecarPlace[];
  readonly fromMs: number;
  readonly toMs: number;
  /** Objects of others are left out, and pictures without any; null: all count. */
  readonly labels: readonly string[] | null;
  readonly limit: number;
  readonly behind: DetectionPlace | null;
  readonly maxBytes?: number;
};

/** In the order of time. `next`: where to go on, since there is more or may be; null: that was all. */
export type ReadDetections = {
  readonly detections: readonly KeptDetection[];
  readonly next: DetectionPlace | null;
};

/** What is written later than what was seen after it: no later than this. */
const LATE_MS = 60_000;
const MAX_BYTES = 2 << 20;
/** So many more are read where all of them are of one moment, or of none: whatever is in a file, a job has an end. */
const MAX_MORE_BYTES = 32 << 20;
/** Behind so many pages without a record in them nothing else is looked for: it is none of what we wrote. */
const MAX_EMPTY_PAGES = 128;
const MAX_FILES = 256;

const usOf = (wallMs: number): number => Math.round(wallMs * 1_000);

/** When the first record of a page was; null: it has none. */
const timeOfPage = (fd: ByteSource, page: number): number | null => {
  const bytes = readPage(fd, page);
  let timeMs: number | null = null;
  eachRecord(bytes, page, (at) => {
    timeMs ??= recordTimeAt(bytes, at);
  });
  return timeMs;
};

/** The first page that may have something of `fromMs` or later. */
const firstPage = (fd: ByteSource, pages: number, fromMs: number): number => {
  let [low, high] = [0, pages - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const timeMs = timeOfPage(fd, middle);
    if (timeMs !== null && timeMs < fromMs - LATE_MS) low = middle;
    else high = middle - 1;
  }
  return Math.max(low, 0);
};

type PageFound = { readonly isEmpty: boolean; readonly isBehind: boolean };

/** What was found, until there is enough of it. */
class Reading {
  readonly found: KeptDetection[] = [];
  /** All that there is before this was found. */
  horizonMs = Number.POSITIVE_INFINITY;
  readonly #input: ReadDetectionsInput;
  readonly #labels: ReadonlySet<string> | null;
  #leftBytes: number;
  #newestMs = Number.NEGATIVE_INFINITY;

  constructor(input: ReadDetectionsInput) {
    this.#input = input;
    this.#labels = input.labels === null ? null : new Set(input.labels);
    this.#leftBytes = input.maxBytes ?? MAX_BYTES;
  }

  /** No more is read. */
  get isSpent(): boolean {
    return this.#leftBytes <= -MAX_MORE_BYTES;
  }

  get isOver(): boolean {
    return this.horizonMs !== Number.POSITIVE_INFINITY;
  }

  /** Ends the reading before `timeMs`, if that is anything. */
  end(timeMs: number): void {
    if (timeMs > this.#input.fromMs) this.horizonMs = timeMs;
  }

  /** `recordedToMs`: what says to be of later is what a clock said that leapt, and tells nothing of what follows it. */
  readFile(fd: ByteSource, fileBytes: number, recordedToMs: number): void {
    if (!isSidecar(fd)) return;
    const pages = pageCountOf(fileBytes);
    const { fromMs, toMs } = this.#input;
    const lastMs = recordedToMs + LATE_MS;
    let emptyPages = 0;
    for (let page = firstPage(fd, pages, fromMs); page < pages && !this.isOver; page += 1) {
      if (this.isSpent || emptyPages >= MAX_EMPTY_PAGES) return;
      const { isEmpty, isBehind } = this.#readPage(readPage(fd, page), page, toMs + LATE_MS, lastMs);
      if (isBehind) return;
      emptyPages = isEmpty ? emptyPages + 1 : 0;
      this.#leftBytes -= PAGE_BYTES;
      if (this.#leftBytes <= 0) this.end(this.#newestMs - LATE_MS);
    }
  }

  /** Returns whether it has no record, and whether it, and so what follows it, is of later. */
  #readPage(bytes: Buffer, page: number, endMs: number, lastMs: number): PageFound {
    let firstMs: number | null = null;
    let isEmpty = true;
    eachRecord(bytes, page, (at, lengthBytes) => {
      const timeMs = recordTimeAt(bytes, at);
      isEmpty = false;
      if (timeMs <= lastMs) {
        firstMs ??= timeMs;
        this.#newestMs = Math.max(this.#newestMs, timeMs);
      }
      if (timeMs < this.#input.fromMs || timeMs >= this.#input.toMs) return;
      const counted = this.#counted(decodeRecord(bytes.subarray(at, at + lengthBytes)));
      if (counted !== null) this.found.push(counted);
    });
    return { isEmpty, isBehind: firstMs !== null && firstMs > endMs };
  }

  #counted(detection: KeptDetection | null): KeptDetection | null {
    if (detection === null || this.#labels === null) return detection;
    const objects = detection.objects.filter(({ label }) => this.#labels?.has(label));
    return objects.length === 0 ? null : { ...detection, objects };
  }
}

const readFile = (path: string, recordedToMs: number, reading: Reading): void => {
  let opened: ReturnType<typeof openRegular>;
  try {
    opened = openRegular(path);
  } catch (fault) {
    // Nothing was seen then, or the recording was deleted meanwhile.
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EINVAL', 'ENXIO'].includes(codeOf(fault))) return;
    throw fault;
  }
  try {
    reading.readFile(opened.fd, opened.stat.size, recordedToMs);
  } finally {
    closeSync(opened.fd);
  }
};

/** `silent`: boxes that didn't answer; what was seen there is left out, as that of boxes is that are away. */
const readStored = (
  { place, bytes }: NonNullable<SidecarPlace['stored']>,
  recordedToMs: number,
  reading: Reading,
  silent: Set<string>,
): void => {
  const { ofBox, inStore } = place;
  if (ofBox !== undefined && inStore === undefined && silent.has(ofBox)) return;
  try {
    reading.readFile(new StoredBytes(place, bytes), bytes, recordedToMs);
  } catch (fault) {
    if (ofBox !== undefined && codeOf(fault) === 'box_unavailable') silent.add(ofBox);
    // The store has lost it, or the recording was deleted meanwhile.
    else if (codeOf(fault) !== 'not_found') throw fault;
  }
};

/** Without those that the page before had. */
const behindPlace = (sorted: readonly KeptDetection[], behind: DetectionPlace | null): KeptDetection[] => {
  let left = behind?.count ?? 0;
  return sorted.filter(({ wallMs }) => {
    if (behind === null || usOf(wallMs) > behind.timeUs) return true;
    if (usOf(wallMs) < behind.timeUs) return false;
    left -= 1;
    return left < 0;
  });
};

/** Behind the last of a page. */
const placeBehind = (page: readonly KeptDetection[], behind: DetectionPlace | null): DetectionPlace => {
  const timeUs = usOf(page.at(-1)!.wallMs);
  const count = page.filter(({ wallMs }) => usOf(wallMs) === timeUs).length;
  return { timeUs, count: count + (behind?.timeUs === timeUs ? behind.count : 0) };
};

/** What was seen in [fromMs, toMs), as far as some megabytes of sidecars have it. */
export const readDetections = (input: ReadDetectionsInput): ReadDetections => {
  const { folder, sidecars, limit, behind } = input;
  const fromMs = Math.max(input.fromMs, (behind?.timeUs ?? 0) / 1_000);
  const reading = new Reading({ ...input, fromMs });
  const silent = new Set<string>();
  for (const [index, { name, startMs, endMs, stored }] of sidecars.entries()) {
    if (index >= MAX_FILES || reading.isSpent) reading.end(startMs);
    if (reading.isOver) break;
    if (reading.isSpent) continue;
    if (stored === undefined) readFile(join(folder, name), endMs, reading);
    else readStored(stored, endMs, reading, silent);
  }
  const { horizonMs } = reading;
  const whole = reading.found.filter(({ wallMs }) => wallMs < horizonMs).sort((a, b) => a.wallMs - b.wallMs);
  const rest = behindPlace(whole, behind);
  const detections = rest.slice(0, limit);
  if (rest.length > limit) return { detections, next: placeBehind(detections, behind) };
  return { detections, next: reading.isOver ? { timeUs: usOf(horizonMs), count: 0 } : null };
};

/** What a page of detections is to clients. */
export type DetectionsText = { readonly json: Uint8Array<ArrayBuffer>; readonly next: DetectionPlace | null };

/** Job: the same as JSON, which the main thread needs only to send. */
export const listDetections = (input: ReadDetectionsInput): Moved<DetectionsText> => {
  const { detections, next } = readDetections(input);
  const views = detections.map(({ wallMs, source, objects }) => ({
    t: new Date(wallMs).toISOString(),
    source,
    objects,
  }));
  const json = new TextEncoder().encode(JSON.stringify(views));
  return new Moved({ json, next }, [json.buffer]);
};
