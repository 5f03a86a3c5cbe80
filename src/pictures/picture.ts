import { createHash } from 'node:crypto';

/** A picture as clients get it. */
export type Picture = {
  readonly jpeg: Buffer;
  readonly etag: string;
  /** When the camera took it. */
  readonly takenMs: number;
};

export const pictureOf = (bytes: Uint8Array, takenMs: number): Picture => {
  const jpeg = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { jpeg, takenMs, etag: `"${createHash('sha1').update(jpeg).digest('base64url')}"` };
};
