import { faultOf } from '../analytics/sound-xml.js';
import { all, at, type Element, number, parseXml, textOf, utcMs } from '../analytics/xml-tree.js';
import { s3Error } from './errors.js';

/** A list has a thousand objects at most, each of a dozen elements. */
const MAX_ELEMENTS = 20_000;
/** A name of 1,024 bytes, each encoded; what has no meaning for us is shorter. */
const MAX_WORD = 4_096;
/** Some 70 characters, as a rule; one of each part is written down. */
const MAX_ETAG = 256;
/** Of texts that say what went wrong. */
const MAX_TEXT = 200;

const documentOf = (bytes: Buffer): Element | null => {
  const text = bytes.toString('utf8').replace(/^\ufeff/, '');
  if (faultOf(text, MAX_ELEMENTS) !== null) return null;
  try {
    return parseXml(text);
  } catch {
    return null;
  }
};

const plain = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .slice(0, MAX_TEXT)
    .trim();

/** What an error says of itself; "" where it doesn't. */
export const errorIn = (bytes: Buffer): { readonly code: string; readonly message: string } => {
  const error = at(documentOf(bytes) ?? undefined, 'Error');
  return { code: plain(textOf(at(error, 'Code'))), message: plain(textOf(at(error, 'Message'))) };
};

const rootOf = (bytes: Buffer, name: string): Element => {
  const root = at(documentOf(bytes) ?? undefined, name);
  if (root === undefined) throw s3Error('s3_bad_answer', `the store's answer is no ${name}`);
  return root;
};

/** Go writes quotes as numbers (XML 1.0 §4.1). */
const withoutReferences = (text: string): string =>
  text.replaceAll(/&#(?:x([0-9a-f]{1,6})|(\d{1,7}));/gi, (_, hex?: string, decimal?: string) => {
    const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return point <= 0x10ffff ? String.fromCodePoint(point) : '';
  });

const wordIn = (element: Element, name: string): string => {
  const text = withoutReferences(textOf(at(element, name)));
  if (text.length > MAX_WORD)
    throw s3Error('s3_bad_answer', `the store's answer has a ${name} without an end`);
  if (text === '') throw s3Error('s3_bad_answer', `the store's answer has no ${name}`);
  return text;
};

const countIn = (element: Element, name: string): number => {
  const value = number(wordIn(element, name));
  if (value === null || !Number.isSafeInteger(value) || value < 0)
    throw s3Error('s3_bad_answer', `the store's answer has no number as ${name}`);
  return value;
};

/** An ETag without what stands around it. */
export const bareEtag = (text: string): string => {
  const etag = text.replace(/^(?:W\/)?"?|"$/g, '');
  if (etag === '' || etag.length > MAX_ETAG) throw s3Error('s3_bad_answer', 'the store names no ETag');
  return etag;
};

export const uploadIdIn = (bytes: Buffer): string =>
  wordIn(rootOf(bytes, 'InitiateMultipartUploadResult'), 'UploadId');

/** It may go well later; of all else it won't. */
const TROUBLES = new Set(['InternalError', 'SlowDown', 'ServiceUnavailable', 'RequestTimeout']);

/** The ETag of what was put together. A store that began to answer 200 may tell of an error still. */
export const completedEtagIn = (bytes: Buffer): string => {
  const { code } = errorIn(bytes);
  if (code !== '')
    throw s3Error(
      TROUBLES.has(code) ? 's3_unavailable' : 's3_refused',
      `the store could not join the parts: ${code}`,
    );
  return bareEtag(wordIn(rootOf(bytes, 'CompleteMultipartUploadResult'), 'ETag'));
};

export type UploadedPart = { readonly number: number; readonly etag: string; readonly bytes: number };

/** A page of a list, and where the next one begins; null: that was all. */
export type Page<Item, Next> = { readonly items: readonly Item[]; readonly next: Next | null };

export const partsIn = (bytes: Buffer): Page<UploadedPart, number> => {
  const root = rootOf(bytes, 'ListPartsResult');
  const items = all(root, 'Part').map((part) => ({
    number: countIn(part, 'PartNumber'),
    etag: bareEtag(wordIn(part, 'ETag')),
    bytes: countIn(part, 'Size'),
  }));
  const isMore = textOf(at(root, 'IsTruncated')) === 'true';
  return { items, next: isMore ? countIn(root, 'NextPartNumberMarker') : null };
};

export type ListedObject = { readonly name: string; readonly bytes: number; readonly etag: string };

/** Names come encoded as in a URL: XML can't have all characters that they may have. */
const nameIn = (element: Element, isEncoded: boolean): string => {
  const text = wordIn(element, 'Key');
  try {
    return isEncoded ? decodeURIComponent(text.replaceAll('+', ' ')) : text;
  } catch {
    throw s3Error('s3_bad_answer', "the store's answer has a name that can't be read");
  }
};

export const objectsIn = (bytes: Buffer): Page<ListedObject, string> => {
  const root = rootOf(bytes, 'ListBucketResult');
  const isEncoded = textOf(at(root, 'EncodingType')) === 'url';
  const items = all(root, 'Contents').map((object) => ({
    name: nameIn(object, isEncoded),
    bytes: countIn(object, 'Size'),
    etag: bareEtag(wordIn(object, 'ETag')),
  }));
  const isMore = textOf(at(root, 'IsTruncated')) === 'true';
  return { items, next: isMore ? wordIn(root, 'NextContinuationToken') : null };
};

export type ListedUpload = {
  readonly name: string;
  readonly uploadId: string;
  /** Null: it doesn't say. */
  readonly begunMs: number | null;
};

/** Uploads that were begun and are not complete; the first page of them is enough. */
export const uploadsIn = (bytes: Buffer): ListedUpload[] => {
  const root = rootOf(bytes, 'ListMultipartUploadsResult');
  const isEncoded = textOf(at(root, 'EncodingType')) === 'url';
  return all(root, 'Upload').map((upload) => ({
    name: nameIn(upload, isEncoded),
    uploadId: wordIn(upload, 'UploadId'),
    begunMs: utcMs(textOf(at(upload, 'Initiated'))),
  }));
};
