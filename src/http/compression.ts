import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Request } from 'express';

const encodings = ['br', 'gzip'] as const;
export type ContentEncoding = (typeof encodings)[number];

/** Below this the head of an answer weighs as much as what would be spared. */
const MIN_BYTES = 1_024;
/** Live playlists are small and asked for all the time: only long ones, of recordings, are worth it. */
const MIN_PLAYLIST_BYTES = 16_384;
/** More would hold a thread of the pool for long, which disks need, too. */
const MAX_BYTES = 4_194_304;
/** Half of the pool's usual threads; whoever comes beyond that is answered plainly, and waits for nobody. */
const MAX_AT_ONCE = 2;
/** Beyond these the time doubles for a few percent. */
const BROTLI_QUALITY = 4;
const GZIP_LEVEL = 4;
const CHUNK_BYTES = 65_536;

const compressors: Readonly<Record<ContentEncoding, (content: Buffer) => Promise<Buffer>>> = {
  br: (content) =>
    promisify(brotliCompress)(content, {
      chunkSize: CHUNK_BYTES,
      params: {
        [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
      },
    }),
  gzip: (content) => promisify(gzip)(content, { level: GZIP_LEVEL, chunkSize: CHUNK_BYTES }),
};

/** Whether it pays to compress an answer, whoever asks. */
export const isCompressible = (contentType: string, lengthBytes: number): boolean => {
  if (lengthBytes > MAX_BYTES) return false;
  if (/^application\/vnd\.apple\.mpegurl\b/i.test(contentType)) return lengthBytes >= MIN_PLAYLIST_BYTES;
  return lengthBytes >= MIN_BYTES && /^(?:application\/(?:[\w.-]+\+)?json|text\/plain)\b/i.test(contentType);
};

/** The best encoding that the client takes, or null. */
export const encodingFor = (request: Request): ContentEncoding | null =>
  encodings.find((encoding) => request.acceptsEncodings(encoding) === encoding) ?? null;

/** The tag of the content as it is sent: other bytes have another one (RFC 9110, section 8.8.3.3). */
export const encodedTag = (etag: string, encoding: ContentEncoding): string =>
  etag.replace(/"$/, `;${encoding}"`);

/** From here on it is the same content, however it was sent to who asks for it again, or changes it. */
export const forgetEncodings = (headers: IncomingHttpHeaders): void => {
  for (const name of ['if-none-match', 'if-match'] as const) {
    const tags = headers[name];
    if (tags !== undefined) headers[name] = tags.replaceAll(/;(?:br|gzip)"/g, '"');
  }
};

/** Compresses in the thread pool, a few at a time; content that many ask for is compressed once. */
export class Compression {
  readonly #known = new WeakMap<Buffer, Map<ContentEncoding, Promise<Buffer>>>();
  #running = 0;

  /** Null: it is to be sent as it is. */
  async of(content: Buffer, encoding: ContentEncoding): Promise<Buffer | null> {
    const ofContent = this.#known.get(content) ?? new Map<ContentEncoding, Promise<Buffer>>();
    const known = ofContent.get(encoding);
    if (known !== undefined) return await known;
    if (this.#running >= MAX_AT_ONCE) return null;
    this.#running++;
    const made = compressors[encoding](content).finally(() => {
      this.#running--;
    });
    ofContent.set(encoding, made);
    this.#known.set(content, ofContent);
    return await made;
  }
}
