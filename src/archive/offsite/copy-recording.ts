import { closeSync, fstatSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.js';
import { s3Error } from '../../s3/errors.js';
import type { S3Client } from '../../s3/s3-client.js';
import { closedName } from '../files/file-name.js';
import { openRegular } from '../files/regular-file.js';
import { type FileStamp, isSameStamp, statFile } from '../files/scan-folder.js';
import { sidecarName } from '../files/sidecar-name.js';
import { type Inspection, inspectFiles } from '../list/inspect-files.js';
import { type Due, nameOf } from './backlog.js';
import { MAX_COPIES } from './copies-file.js';
import { type Copy, copyKey, keyOf, markOf } from './copy.js';
import { isNow } from './copy-table.js';
import type { Departures } from './departures.js';
import type { Notes } from './notes.js';
import { objectName, objectOf, sidecarObject } from './object-name.js';
import type { Outbox } from './outbox.js';
import { type FileSender, type SentFile, TAKEN } from './send-file.js';
import { sourceOf } from './source.js';

export type RecordingCopierDeps = {
  readonly clock: Clock;
  readonly client: Pick<S3Client, 'head'>;
  readonly sender: Pick<FileSender, 'send' | 'sendBeside'>;
  readonly notes: Notes;
  readonly outbox: Outbox;
  readonly departures: Pick<Departures, 'watch' | 'isDue'>;
  /** By which claim its camera was held when a recording began. */
  readonly epochOf: (cameraId: string, startMs: number) => Promise<number>;
};

/** It is a copy now; it is none, since the recording is gone or another one; or it has time until then, by the monotonic clock. */
export type CopyOutcome = 'copied' | 'gone' | { readonly untilMs: number };

/** What was closed may get detections of its last seconds still. */
const SETTLED_MS = 60_000;
const MOST_EPOCHS = 10;

const stampOf = (fd: number): FileStamp => {
  const { ino, size: sizeBytes, mtimeMs, ctimeMs } = fstatSync(fd);
  return { ino, sizeBytes, mtimeMs, ctimeMs };
};

/** A recording that is copied. */
type Opened = {
  readonly folder: string;
  readonly fileName: string;
  readonly fd: number;
  readonly stamp: FileStamp;
  /** Names that it has in all. */
  readonly links: number;
};

/** Copies one recording, with what was seen in it, and writes down that it is there once the store has shown it. */
export class RecordingCopier {
  readonly #options: { readonly archiveDir: string; readonly box: string };
  readonly #deps: RecordingCopierDeps;

  constructor(options: { readonly archiveDir: string; readonly box: string }, deps: RecordingCopierDeps) {
    this.#options = options;
    this.#deps = deps;
  }

  async copy(due: Due, signal: AbortSignal): Promise<CopyOutcome> {
    const { clock } = this.#deps;
    const folder = join(this.#options.archiveDir, due.cameraId);
    const fileName = closedName(due.startMs, due.endMs);
    const seen = statFile({ folder, fileName });
    if (seen === null) return 'gone';
    const settledMs = Math.abs(clock.wallMs() - Math.max(seen.mtimeMs, seen.ctimeMs));
    if (settledMs < SETTLED_MS) return { untilMs: clock.monotonicMs() + SETTLED_MS - settledMs };
    const { fd } = openRegular(join(folder, fileName));
    try {
      const opened = { folder, fileName, fd, stamp: stampOf(fd), links: fstatSync(fd).nlink };
      return await this.#copyOpened(due, opened, signal);
    } finally {
      closeSync(fd);
    }
  }

  async #copyOpened(due: Due, opened: Opened, signal: AbortSignal): Promise<'copied' | 'gone'> {
    const { client, departures, notes, outbox } = this.#deps;
    const { folder, fileName, fd, stamp } = opened;
    const { cameraId } = due;
    const recording = nameOf(due);
    const isUnwanted = departures.watch(cameraId, fileName);
    const request = { fileName, sizeBytes: stamp.sizeBytes, fromBytes: 0 };
    const [inspection] = inspectFiles({ folder, files: [request] });
    const before = this.#before(due);
    if (before !== null) await this.#assertNoLess(cameraId, before, stamp, inspection!, signal);
    const file: SentFile = { fd, sizeBytes: stamp.sizeBytes, source: sourceOf(stamp) };
    const { epoch, object, etag } = await this.#send(
      due,
      file,
      { before, startMs: inspection!.startMs ?? due.startMs },
      signal,
    );
    const besideBytes = before !== null && objectOf(cameraId, before) === object ? before.sidecarBytes : 0;
    // What was there beside it stays.
    const sidecarBytes = (await this.#sendSidecar(object, folder, due, signal)) || besideBytes;
    const there = await client.head(object, signal);
    if (there?.bytes !== stamp.sizeBytes || there.etag !== etag) {
      this.#unwant(object);
      throw s3Error('s3_damaged', 'what the store has is not what was sent');
    }
    if (this.#isNoMore(due, opened, isUnwanted())) {
      this.#unwant(object);
      return 'gone';
    }
    const copy = {
      ...{ recording, stamp, inspection: inspection!, sizeBytes: stamp.sizeBytes, mark: markOf(etag) },
      ...{ sidecarBytes, epoch, box: this.#options.box, isLeaving: false },
    };
    this.#unwantBefore(cameraId, copy, object);
    notes.change(cameraId, [isNow(copy)]);
    outbox.remove(object);
    return 'copied';
  }

  /** What is known of it in the store. Throws where nothing more can be written down of its camera. */
  #before({ cameraId, startMs, endMs }: Due): Copy | null {
    const copies = this.#deps.notes.read(cameraId);
    const before = copies?.find(copyKey(startMs, endMs)) ?? null;
    if (before === null && (copies?.count ?? 0) >= MAX_COPIES)
      throw new Error('no more copies of this camera can be written down');
    return before;
  }

  /** A file that was cut, or is damaged, doesn't take the place of a copy that has more. */
  async #assertNoLess(
    cameraId: string,
    before: Copy,
    { sizeBytes }: FileStamp,
    { endMs }: Inspection,
    signal: AbortSignal,
  ): Promise<void> {
    const hadMs = before.inspection.endMs ?? Number.NEGATIVE_INFINITY;
    if (sizeBytes >= before.sizeBytes && (endMs ?? Number.NEGATIVE_INFINITY) >= hadMs) return;
    const there = await this.#deps.client.head(objectOf(cameraId, before), signal);
    if (there?.bytes === before.sizeBytes && markOf(there.etag) === before.mark)
      throw new Error('the disk has less of it than the store, which keeps what it has');
  }

  /** By that of its claim, or the first one behind it whose name nobody else's object has. */
  async #send(
    { cameraId, ...times }: Due,
    file: SentFile,
    { before, startMs }: { readonly before: Copy | null; readonly startMs: number },
    signal: AbortSignal,
  ): Promise<{ epoch: number; object: string; etag: string }> {
    const { box } = this.#options;
    const first = await this.#deps.epochOf(cameraId, startMs);
    for (let epoch = first; epoch < first + MOST_EPOCHS; epoch += 1) {
      const object = objectName({ cameraId, recording: times, epoch, box });
      const isKnown = before !== null && objectOf(cameraId, before) === object;
      const etag = await this.#deps.sender.send(object, file, signal, isKnown ? before.mark : null);
      if (etag !== TAKEN) return { epoch, object, etag };
    }
    throw s3Error('s3_refused', 'the store has other objects of its name');
  }

  /** It goes before anything else is copied. */
  #unwant(object: string): void {
    const { outbox } = this.#deps;
    const sending = outbox.of(object);
    if (sending !== null) outbox.set({ ...sending, isUnwanted: true });
  }

  /** What was there of this recording until now, also by the name that this box had then. */
  #unwantBefore(cameraId: string, copy: Copy, object: string): void {
    const { notes, outbox } = this.#deps;
    const before = notes.read(cameraId)?.find(keyOf(copy)) ?? null;
    if (before === null) return;
    const { stamp, mark } = before;
    const other = objectOf(cameraId, before);
    const source = stamp === null ? '' : sourceOf(stamp);
    if (other === object) return;
    outbox.abandon(other);
    outbox.set({ object: other, source, mark, uploadId: null, parts: {}, isUnwanted: true });
  }

  /** Whether what was sent is no recording any more. One that the disk lost for want of space is. */
  #isNoMore(
    { cameraId, startMs, endMs }: Due,
    { folder, fileName, fd, stamp, links }: Opened,
    isUnwanted: boolean,
  ) {
    if (isUnwanted || this.#deps.departures.isDue(cameraId, startMs, endMs)) return true;
    const now = statFile({ folder, fileName });
    // By another name it has its own turn. A snapshot that shares the file keeps it when it is deleted here.
    return now === null ? fstatSync(fd).nlink >= links : !isSameStamp(now, stamp);
  }

  /** What was seen in it, beside it; how long that is. */
  async #sendSidecar(object: string, folder: string, { startMs }: Due, signal: AbortSignal): Promise<number> {
    const fileName = sidecarName(startMs);
    if ((statFile({ folder, fileName })?.sizeBytes ?? 0) === 0) return 0;
    const { fd } = openRegular(join(folder, fileName));
    try {
      const stamp = stampOf(fd);
      const { sizeBytes } = stamp;
      await this.#deps.sender.sendBeside(
        sidecarObject(object),
        { fd, sizeBytes, source: sourceOf(stamp) },
        signal,
      );
      return sizeBytes;
    } finally {
      closeSync(fd);
    }
  }
}
