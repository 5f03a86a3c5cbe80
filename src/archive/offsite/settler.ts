import { join } from 'node:path';
import { s3Error } from '../../s3/errors.js';
import type { S3Client, S3Object } from '../../s3/s3-client.js';
import { closedName } from '../files/file-name.js';
import { statFile } from '../files/scan-folder.js';
import { nothingKnown } from '../list/inspect-files.js';
import { type Copy, copyKey, markOf } from './copy.js';
import { isNow } from './copy-table.js';
import type { Notes } from './notes.js';
import { type ObjectName, objectOf, parseObjectName, sidecarObject } from './object-name.js';
import type { Outbox } from './outbox.js';
import { sourceDigest } from './send-file.js';
import { isSource, stampIn } from './source.js';
import type { Sending } from './stored-outbox.js';

export type SettlerDeps = {
  readonly client: Pick<S3Client, 'head' | 'delete' | 'list'>;
  /** For the first time: it is ended once more, later. */
  readonly endUpload: (sending: Sending, signal: AbortSignal) => Promise<void>;
  readonly notes: Notes;
  readonly outbox: Outbox;
  /** Whether a recording is older than its camera keeps it. */
  readonly isDue: (cameraId: string, startMs: number, endMs: number) => boolean;
};

/** As what was sent would be written down, as far as that is known before the store has shown it. */
export const copyOfSending = (
  { recording, epoch, box }: Omit<ObjectName, 'cameraId'>,
  sending: Sending | null,
): Copy => {
  const stamp = sending && stampIn(sending.source);
  return {
    ...{ recording, stamp, inspection: nothingKnown, sizeBytes: stamp?.sizeBytes ?? 0, mark: 0 },
    ...{ sidecarBytes: 0, epoch, box, isLeaving: false },
  };
};

/** Whether it is what was sent, or else what was a copy before. */
const isOurs = (there: S3Object, { source, mark, isUnwanted }: Sending): boolean => {
  if (mark !== null && (isUnwanted || markOf(there.etag) === mark)) return true;
  const isSameSize = there.bytes === stampIn(source)?.sizeBytes;
  return isSameSize && (there.source === null || there.source === sourceDigest(source));
};

/** What becomes of what was begun of files that are gone, or others by now. */
export class Settler {
  readonly #archiveDir: string;
  readonly #deps: SettlerDeps;

  constructor(archiveDir: string, deps: SettlerDeps) {
    this.#archiveDir = archiveDir;
    this.#deps = deps;
  }

  /** One whose file is gone is a copy if all of it is there, and nobody wants it gone; else it goes. */
  async settle(sending: Sending, signal: AbortSignal): Promise<void> {
    const { client, notes, outbox } = this.#deps;
    const { object, source, uploadId } = sending;
    const name = parseObjectName(object);
    // Beside an object: it goes with that.
    if (name === null) {
      outbox.abandon(object);
      return outbox.remove(object);
    }
    const { cameraId, recording } = name;
    const { startMs, endMs } = recording;
    const knownNow = (): Copy | null =>
      notes.read(cameraId)?.find(copyKey(startMs, endMs ?? startMs)) ?? null;
    const known = knownNow();
    if (known !== null && objectOf(cameraId, known) === object) return outbox.remove(object);
    const fileName = closedName(startMs, endMs ?? startMs);
    const stamp = statFile({ folder: join(this.#archiveDir, cameraId), fileName });
    if (!sending.isUnwanted && stamp !== null && isSource(stamp, source)) return;
    if (uploadId !== null) await this.#deps.endUpload(sending, signal);
    const there = await client.head(object, signal);
    if (there === null || !isOurs(there, sending)) {
      await this.#confirm(object, there, signal);
      return outbox.remove(object);
    }
    const beside = await client.head(sidecarObject(object), signal);
    // Somebody may have wanted it gone meanwhile. Where another object is the copy this one is none.
    const isUnwanted = outbox.of(object)?.isUnwanted !== false || knownNow() !== null;
    const isKept = !isUnwanted && stamp === null && !this.#deps.isDue(cameraId, startMs, endMs ?? startMs);
    if (isKept) {
      // It is found when the store was listed.
      if (notes.read(cameraId) === null) return;
      const { etag, bytes: sizeBytes } = there;
      const sidecarBytes = beside?.bytes ?? 0;
      const found = { ...copyOfSending(name, sending), mark: markOf(etag), sizeBytes, sidecarBytes };
      notes.change(cameraId, [isNow(found)]);
      return outbox.remove(object);
    }
    await client.delete(sidecarObject(object), signal);
    await client.delete(object, signal);
    outbox.remove(object);
  }

  /** What stands before a store that isn't there answers a HEAD, too: what is to be forgotten by that has to be so in a list. */
  async #confirm(object: string, there: S3Object | null, signal: AbortSignal): Promise<void> {
    const { items } = await this.#deps.client.list(object, { signal });
    const listed = items.find(({ name }) => name === object) ?? null;
    if (listed?.bytes === there?.bytes) return;
    throw s3Error('s3_bad_answer', 'the store does not say the same of an object as its list does');
  }
}
