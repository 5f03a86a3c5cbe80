import type { ListedObject } from '../../s3/answers.js';
import { s3Error } from '../../s3/errors.js';
import type { S3Client } from '../../s3/s3-client.js';
import { nothingKnown } from '../list/inspect-files.js';
import { MAX_COPIES } from './copies-file.js';
import { type Copy, keyOf, markOf } from './copy.js';
import { dayFolder, objectName, parseObjectName, sidecarObject } from './object-name.js';

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
  /** What other boxes put there, by these. */
  readonly ofOthers: ReadonlyMap<string, readonly Copy[]>;
  /** The store's list came to its end. */
  readonly isListed: boolean;
};

export type Sought = {
  /** Whether what has this box's name was put there by this one, be it by a name that it had before. */
  readonly isOwn?: (box: string) => boolean;
  /** A day's beginning; nothing before it is looked for. */
  readonly fromMs?: number;
};

/** Of one box: of two of the same recording the later one counts. */
class OfBox {
  readonly copies = new Map<number, Copy>();
  readonly others: Copy[] = [];

  add(copy: Copy): void {
    const other = this.copies.get(keyOf(copy));
    const isLater = other === undefined || other.epoch < copy.epoch;
    if (isLater) this.copies.set(keyOf(copy), copy);
    if (other !== undefined) this.others.push(isLater ? other : copy);
  }

  get sorted(): Copy[] {
    return [...this.copies.values()].sort((a, b) => keyOf(a) - keyOf(b));
  }
}

/** What a store has of a camera: all that was put there by this box and, by boxes, by others. */
export const findCopies = async (
  client: Pick<S3Client, 'list'>,
  cameraId: string,
  signal: AbortSignal,
  { isOwn = () => true, fromMs = Number.NEGATIVE_INFINITY }: Sought = {},
): Promise<FoundCopies> => {
  const objects = new Map<string, ListedObject>();
  const behind = fromMs === Number.NEGATIVE_INFINITY ? {} : { behind: dayFolder(cameraId, fromMs) };
  let after: string | null = null;
  let pages = 0;
  do {
    pages += 1;
    if (pages > MAX_PAGES) throw s3Error('s3_bad_answer', "the store's list has no end");
    const options = { after, signal, ...behind };
    const page: Awaited<ReturnType<S3Client['list']>> = await client.list(`${cameraId}/`, options);
    for (const object of page.items) objects.set(object.name, object);
    after = page.next;
  } while (after !== null && objects.size < MAX_OBJECTS);
  const own = new OfBox();
  const byOther = new Map<string, OfBox>();
  for (const object of objects.values()) {
    const name = parseObjectName(object.name);
    if (name?.cameraId !== cameraId || object.name !== objectName(name)) continue;
    if (name.recording.startMs < fromMs) continue;
    const { box } = name;
    const ofBox = isOwn(box) ? own : (byOther.get(box) ?? new OfBox());
    if (ofBox !== own) byOther.set(box, ofBox);
    ofBox.add({
      ...{ recording: name.recording, stamp: null, inspection: nothingKnown, sizeBytes: object.bytes },
      ...{ mark: markOf(object.etag), epoch: name.epoch, box, isLeaving: false },
      sidecarBytes: objects.get(sidecarObject(object.name))?.bytes ?? 0,
    });
  }
  const { sorted, others } = own;
  const isListed = after === null;
  return {
    copies: sorted.slice(0, MAX_COPIES),
    isAll: isListed && sorted.length <= MAX_COPIES && others.length <= MAX_OTHERS,
    others: others.slice(0, MAX_OTHERS),
    ofOthers: new Map([...byOther].map(([box, one]) => [box, one.sorted])),
    isListed,
  };
};
