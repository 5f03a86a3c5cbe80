import { brotliCompressSync, constants } from 'node:zlib';

/** What takes minutes at the best quality, for a tenth less. */
const LARGE_BYTES = 4_000_000;
const LARGE_QUALITY = 5;

/** As well as it goes in a build. */
export const compressed = (content: string | Uint8Array): Buffer => {
  const quality = content.length > LARGE_BYTES ? LARGE_QUALITY : constants.BROTLI_MAX_QUALITY;
  return brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } });
};
