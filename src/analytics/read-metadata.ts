import { messageOf } from '../base/errors.js';
import type { Metadata, Refusal } from './metadata.js';
import { noticesOf } from './notices.js';
import { scenesOf } from './scenes.js';
import { faultOf } from './sound-xml.js';
import { at, parseXml } from './xml-tree.js';

/** Of one document: a hundred objects, each with a long outline, take half of it. */
export const MAX_DOCUMENT_BYTES = 128 * 1024;

/** What a metadata document says (ONVIF Analytics §5), or why it isn't read. Never throws, whatever it is given. */
export const readMetadata = (bytes: Uint8Array): Metadata | Refusal => {
  if (bytes.length > MAX_DOCUMENT_BYTES) return { refused: 'too large' };
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
  const fault = faultOf(text);
  if (fault !== null) return { refused: fault };
  try {
    const root = at(parseXml(text), 'MetadataStream');
    if (root === undefined) return { refused: 'no MetadataStream' };
    return { scenes: scenesOf(root), notices: noticesOf(root) };
  } catch (error) {
    return { refused: messageOf(error).slice(0, 100) };
  }
};
