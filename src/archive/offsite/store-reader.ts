import type { Clock } from '../../base/clock.js';
import { AppError } from '../../base/errors.js';
import { isS3Error, s3Error } from '../../s3/errors.js';
import { S3Client } from '../../s3/s3-client.js';
import type { Answer, StoreQuestion } from './mailbox.js';
import { parseObjectName } from './object-name.js';
import { type RangeClient, RangeReader } from './range-reader.js';
import type { ReaderSetup } from './reading-thread.js';

const outcomeOf: RangeClient['outcomeOf'] = (fault) => {
  if (isS3Error(fault, 's3_not_found')) return { outcome: 'gone', isAway: false };
  // What it refuses of one object says nothing of others.
  const isAway = !(fault instanceof AppError) || fault.code === 's3_unavailable' || fault.code === 's3_clock';
  return { outcome: 'away', isAway };
};

export type StoreNews = {
  readonly onAway: () => void;
  /** What is known of a camera's copies isn't so. */
  readonly onGone: (cameraId: string) => void;
};

/** Reads ranges of objects in a store. */
export class StoreReader extends RangeReader {
  readonly #onGone: StoreNews['onGone'];

  constructor(
    client: Pick<S3Client, 'read'>,
    clock: Pick<Clock, 'after' | 'monotonicMs'>,
    { onAway, onGone }: StoreNews,
  ) {
    const late = (): Error => s3Error('s3_unavailable', "the store doesn't answer in time");
    super({ read: (...range) => client.read(...range), outcomeOf, late }, clock, onAway);
    this.#onGone = onGone;
  }

  override async answer(question: StoreQuestion): Promise<Answer> {
    const answer = await super.answer(question);
    const cameraId = answer.outcome === 'gone' ? (parseObjectName(question.object)?.cameraId ?? null) : null;
    if (cameraId !== null) this.#onGone(cameraId);
    return answer;
  }
}

export const openStoreReader = (
  { address, ca }: Pick<ReaderSetup, 'address' | 'ca'>,
  clock: Clock,
  news: StoreNews,
): StoreReader => {
  // What comes from another thread is bytes, and no Buffer any more.
  const client = new S3Client(address, { clock, ca: ca === null ? null : Buffer.from(ca) });
  return new StoreReader(client, clock, news);
};
