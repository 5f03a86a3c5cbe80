import type { Clock } from '../../base/clock.js';
import { AppError } from '../../base/errors.js';
import { isS3Error, s3Error } from '../../s3/errors.js';
import { S3Client } from '../../s3/s3-client.js';
import { type RangeClient, RangeReader } from './range-reader.js';
import type { ReaderSetup } from './reading-thread.js';

const outcomeOf: RangeClient['outcomeOf'] = (fault) => {
  if (isS3Error(fault, 's3_not_found')) return { outcome: 'gone', isAway: false };
  // What it refuses of one object says nothing of others.
  const isAway = !(fault instanceof AppError) || fault.code === 's3_unavailable' || fault.code === 's3_clock';
  return { outcome: 'away', isAway };
};

/** Reads ranges of objects in a store. */
export class StoreReader extends RangeReader {
  constructor(
    client: Pick<S3Client, 'read'>,
    clock: Pick<Clock, 'after' | 'monotonicMs'>,
    onAway: () => void,
  ) {
    const late = (): Error => s3Error('s3_unavailable', "the store doesn't answer in time");
    super({ read: (...range) => client.read(...range), outcomeOf, late }, clock, onAway);
  }
}

export const openStoreReader = (
  { address, ca }: Pick<ReaderSetup, 'address' | 'ca'>,
  clock: Clock,
  onAway: () => void,
): StoreReader => {
  // What comes from another thread is bytes, and no Buffer any more.
  const client = new S3Client(address, { clock, ca: ca === null ? null : Buffer.from(ca) });
  return new StoreReader(client, clock, onAway);
};
