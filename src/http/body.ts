import type { IncomingMessage } from 'node:http';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { httpError } from './problem.js';

/** What a body may measure where the route doesn't say otherwise: a tag, folder or user, every character escaped. */
export const DEFAULT_BODY_LIMIT_BYTES = 16_384;

const isJson = (request: IncomingMessage): boolean =>
  /^application\/(?:[a-z0-9!#$&^_.+-]+\+)?json\s*(?:;|$)/i.test(request.headers['content-type'] ?? '');

const hasBody = (request: Request): boolean =>
  request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;

/** The error in our words: the parser's own would quote the body, which may hold a password. */
const translated = (thrown: unknown, limitBytes: number): unknown => {
  const { type, status } = thrown as { type?: string; status?: number };
  switch (type) {
    case 'entity.too.large':
      return httpError('body_too_large', `the body may have ${limitBytes} bytes at most`);
    case 'encoding.unsupported':
    case 'charset.unsupported':
      return httpError('unsupported_media_type', 'the body must be in UTF-8, plain or compressed by gzip');
    case 'entity.parse.failed':
      return httpError('invalid_json', 'the body is not valid JSON');
    case undefined:
      // What can't be decompressed has a status alone.
      return status === 400 ? httpError('bad_request', 'the body can not be decompressed') : thrown;
    default:
      return httpError('bad_request', 'the body can not be read');
  }
};

/** How a body of a media type is told from others, and read. */
const formatOf = (
  mediaType: string | undefined,
  limitBytes: number,
): { isFit: (request: IncomingMessage) => boolean; parse: RequestHandler } => {
  if (mediaType === undefined)
    return { isFit: isJson, parse: express.json({ limit: limitBytes, strict: false, type: isJson }) };
  const isFit = (request: IncomingMessage): boolean =>
    (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() === mediaType;
  return { isFit, parse: express.text({ limit: limitBytes, type: isFit }) };
};

/** Makes the function that reads a request's body: JSON, or text of a media type; undefined if it has none. */
export const createBodyReader = (limitBytes: number, mediaType?: string) => {
  const { isFit, parse } = formatOf(mediaType, limitBytes);
  return async (request: Request, response: Response): Promise<unknown> => {
    if (hasBody(request) && !isFit(request))
      throw httpError('unsupported_media_type', `the body must be ${mediaType ?? 'application/json'}`);
    await new Promise<void>((resolve, reject) => {
      void parse(request, response, (thrown?: unknown) => {
        if (thrown === undefined) resolve();
        else reject(translated(thrown, limitBytes));
      });
    });
    return request.body as unknown;
  };
};
