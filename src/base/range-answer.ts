import type { IncomingMessage } from 'node:http';
import { type ByteRange, isNoneMatch, parseByteRange } from './byte-range.js';

/** What is known of content before its bytes are read. It isn't empty. */
export type ContentFacts = {
  readonly sizeBytes: number;
  /** Strong: the same tag, the same bytes. */
  readonly etag: string;
  readonly lastModifiedMs?: number;
};

/** What a request for content is answered with; `range` is null where no bytes are sent. */
export type RangeAnswer = {
  readonly status: 200 | 206 | 304 | 416;
  readonly range: ByteRange | null;
  readonly headers: Readonly<Record<string, string>>;
};

/** HTTP dates have whole seconds. */
const httpDate = (timeMs: number): string => new Date(timeMs).toUTCString();

/** RFC 9110, section 13.1.5: a range counts only for the very content that If-Range names. */
const isRangeMeant = (
  ifRange: string | string[] | undefined,
  { etag, lastModifiedMs }: ContentFacts,
): boolean =>
  ifRange === undefined ||
  ifRange === etag ||
  (lastModifiedMs !== undefined && ifRange === httpDate(lastModifiedMs));

/**
 * Decides between all of it, one range of it (RFC 9110, section 14), and nothing since the client has it. A range
 * counts for GET alone, after If-None-Match.
 */
export const rangeAnswer = (
  { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>,
  facts: ContentFacts,
): RangeAnswer => {
  const { sizeBytes, etag, lastModifiedMs } = facts;
  const validators = {
    ETag: etag,
    'Accept-Ranges': 'bytes',
    ...(lastModifiedMs === undefined ? {} : { 'Last-Modified': httpDate(lastModifiedMs) }),
  };
  if (!isNoneMatch(headers['if-none-match'], etag)) return { status: 304, range: null, headers: validators };
  const isMeant = method === 'GET' && isRangeMeant(headers['if-range'], facts);
  const asked = isMeant ? parseByteRange(headers.range, sizeBytes) : null;
  if (asked === 'unsatisfiable')
    return { status: 416, range: null, headers: { 'Content-Range': `bytes */${sizeBytes}` } };
  const range = asked ?? { first: 0, last: sizeBytes - 1 };
  const length = { ...validators, 'Content-Length': String(range.last - range.first + 1) };
  if (asked === null) return { status: 200, range, headers: length };
  const contentRange = `bytes ${range.first}-${range.last}/${sizeBytes}`;
  return { status: 206, range, headers: { ...length, 'Content-Range': contentRange } };
};
