import type { ListedObject } from '../../s3/answers.js';
import { s3Error } from '../../s3/errors.js';
import type { S3Client } from '../../s3/s3-client.js';
import { nothingKnown } from '../list/inspect-files.js';
import { MAX_COPIES } from './copies-file.js';
import { type Copy, keyOf, markOf } from './copy.js';
import { objectName, parseObjectName, sidecarObject } from './object-name.js';

/** With what is beside them. */
const MAX_OBJECTS = 2 * MAX_COPIES;
/** Stores answer with a thousand at a time, or fewer. */
const MAX_PAGES = 5_000;

/** In the order of their keys; `isAll`: else there are more than can be written down, and these are the oldest. */
export type FoundCopies = { readonly copies: readonly Copy[]; readonly isAll: boolean };

/**
 * What of a camera is in the store, where nothing is written of it: it was never looked at, or what was written is damaged. Of
 * two of the same recording the later one counts.
 */
export const findCopies = async (
  client: Pick<S3Client, 'list'>,
  cameraId: string,
  signal: AbortSignal,
): Promise<FoundCopies> => {
  const objects = new Map<string, ListedObject>();
  let after: string | null = null;
  let pages = 0;
  do {
    pages += 1;
    if (pages > MAX_PAGES) throw s3Error('s3_bad_answer', "the store's list has no end");
    const page: Awaited<ReturnType<S3Client['list']>> = await client.list(`${cameraId}/`, { after, signal });
    for (const object of page.items) objects.set(object.name, object);
    after = page.next;
  } while (after !== null && objects.size < MAX_OBJECTS);
  const copies = new Map<number, Copy>();
  for (const object of objects.values()) {
    const name = parseObjectName(object.name);
    if (name?.cameraId !== cameraId || object.name !== objectName(name)) continue;
    const copy: Copy = {
      ...{ recording: name.recording, stamp: null, inspection: nothingKnown, sizeBytes: object.bytes },
      ...{ mark: markOf(object.etag), epoch: name.epoch, box: name.box, isLeaving: false },
      sidecarBytes: objects.get(sidecarObject(object.name))?.bytes ?? 0,
    };
    const other = copies.get(keyOf(copy));
    if (other === undefined || other.epoch < copy.epoch) copies.set(keyOf(copy), copy);
  }
  const sorted = [...copies.values()].sort((a, b) => keyOf(a) - keyOf(b));
  return { copies: sorted.slice(0, MAX_COPIES), isAll: after === null && sorted.length <= MAX_COPIES };
};
