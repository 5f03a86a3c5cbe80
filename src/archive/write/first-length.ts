import { createHash } from 'node:crypto';

/** Of the usual length. */
const LEAST_SHARE = 0.5;

/**
 * How long a file may get that begins for any reason but that the one before was long enough. Cameras that begin together, with the service, the
 * network or the disk, would roll over together ever after: hundreds of files to close and sync at once. So each has
 * its own share of the usual length first, the same each time.
 */
export const firstLengthSeconds = (cameraId: string, fileSeconds: number): number => {
  const spread = createHash('sha256').update(cameraId).digest().readUInt32BE() / 2 ** 32;
  return fileSeconds * (LEAST_SHARE + (1 - LEAST_SHARE) * spread);
};
