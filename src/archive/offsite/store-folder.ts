import { createHash } from 'node:crypto';
import type { S3Address } from '../../base/s3-address.js';

/**
 * Where it is written what is in a store: of another one, be it another bucket or prefix, nothing is known by that. Who asks, and
 * how, makes it no other.
 */
export const storeFolder = ({ host, port, bucket, prefix }: S3Address): string =>
  createHash('sha256')
    .update(JSON.stringify([host, port, bucket, prefix]))
    .digest('hex')
    .slice(0, 16);

/** Whether it is the name of one of these. */
export const isStoreFolder = (name: string): boolean => /^[0-9a-f]{16}$/.test(name);
