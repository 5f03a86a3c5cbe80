import type { ByteReader } from '../base/byte-reader.js';

const ES_DESCRIPTOR = 3;
const DECODER_CONFIG = 4;
const DECODER_SPECIFIC_INFO = 5;
/** A length is 7 bits a byte, in four bytes at most (ISO 14496-1 §8.3.3). */
const MAX_LENGTH_BYTES = 4;

const readLength = (reader: ByteReader): number => {
  let length = 0;
  for (let count = 0; count < MAX_LENGTH_BYTES; count += 1) {
    const byte = reader.u8();
    length = length * 128 + (byte & 0x7f);
    if (byte < 128) break;
  }
  return length;
};

/** The optional fields of an ES descriptor (ISO 14496-1 §7.2.6.5). */
const skipEsFields = (reader: ByteReader): void => {
  reader.skip(2);
  const flags = reader.u8();
  if ((flags & 0x80) !== 0) reader.skip(2);
  if ((flags & 0x40) !== 0) reader.skip(reader.u8());
  if ((flags & 0x20) !== 0) reader.skip(2);
};

/** The AudioSpecificConfig in the content of an esds box, as a copy; empty where there is none. */
export const readDescriptorConfig = (reader: ByteReader): Uint8Array => {
  reader.skip(4);
  while (!reader.isPastEnd && reader.remaining > 0) {
    const tag = reader.u8();
    const length = readLength(reader);
    // The outer two hold the next one behind their own fields: step in instead of over.
    if (tag === ES_DESCRIPTOR) skipEsFields(reader);
    else if (tag === DECODER_CONFIG) reader.skip(13);
    else if (tag === DECODER_SPECIFIC_INFO) return new Uint8Array(reader.view(length));
    else reader.skip(length);
  }
  return new Uint8Array(0);
};
