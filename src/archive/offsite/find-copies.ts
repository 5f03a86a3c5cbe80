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
/** Of the same recordings, at a time: each is written down before it goes. */
const MAX_OTHERS = 500;

/** In the order of their keys; `isAll`: else there are more than can be written down, and these are the oldest, or more of the same. */
export type FoundCopies = {
  readonly copies: readonly Copy[];
  readonly isAll: boolean;
  /** Of the same recordings as these: by a name that the box had before, or an earlier attempt. */
  readonly others: readonly Copy[];
};

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
  const others: Copy[] = [];
  for (const object of objects.values()) {
    const name = parseObjectName(object.name);
    if (name?.cameraId !== cameraId || object.name !== objectName(name)) continue;
    const copy: Copy = {
      ...{ recording: name.recording, stamp: null, inspection: nothingKnown, sizeBytes: object.bytes },
      ...{ mark: markOf(object.etag), epoch: name.epoch, box: name.box, isLeaving: false },
      sidecarBytes: objects.get(sidecarObject(object.name))?.bytes ?? 0,
    };
    const other = copies.get(keyOf(copy));
    const isLater = other === undefined || other.epoch < copy.epoch;
    if (isLater) copies.set(keyOf(copy), copy);
    if (other !== undefined) others.push(isLater ? other : copy);
  }
  const sorted = [...copies.values()].sort((a, b) => keyOf(a) - keyOf(b));
  const isAll = after === null && sorted.length <= MAX_COPIES && others.length <= MAX_OTHERS;
  return { copies: sorted.slice(0, MAX_COPIES), isAll, others: others.slice(0, MAX_OTHERS) };
};
