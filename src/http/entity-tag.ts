import { createHash } from 'node:crypto';
import { isMatch } from '../base/byte-range.js';
import { httpError } from './problem.js';
import type { Reply } from './route.js';

/** The strong ETag (RFC 9110, section 8.8.3) of content that is made anew each time. */
export const entityTagOf = (...parts: readonly (string | Buffer)[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return `"${hash.digest('base64url').slice(0, 22)}"`;
};

/** JSON that nobody keeps unasked; a client that did is told if it is still good. */
export const taggedText = (
  text: string | Buffer,
  etag: string,
  headers: Readonly<Record<string, string>> = {},
): Reply => ({
  status: 200,
  text,
  contentType: 'application/json; charset=utf-8',
  headers: { ETag: etag, ...headers },
});

/** Throws `precondition_failed` unless the client knows what it is about to replace (RFC 9110, section 13.1.1). */
export const requireMatch = (ifMatch: string, etag: string): void => {
  if (!isMatch(ifMatch, etag))
    throw httpError(
      'precondition_failed',
      'somebody has changed it meanwhile: get it again, then change that',
    );
};
