import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { type ByteRange, isNoneMatch, parseByteRange } from '../base/byte-range.js';
import { AppError } from '../base/errors.js';
import type { ModelErrorCode } from './model-errors.js';
import type { Models, OpenModel } from './models.js';

const READ_BYTES = 262_144;

/**
 * Answers GET or HEAD for a model file: the whole, one range of it, or 304. Throws an AppError with a
 * ModelErrorCode before anything was sent; once bytes flow, a fault can only cut the connection.
 */
export const sendModel = async (
  models: Models,
  filename: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const model = await models.open(filename);
  try {
    await answer(model, request, response);
  } finally {
    await model.file.close();
  }
};

const answer = async (
  model: OpenModel,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const { sizeBytes, etag } = model;
  const range = rangeOf(model, request);
  if (range === 'unsatisfiable') {
    response.setHeader('Content-Range', `bytes */${sizeBytes}`);
    throw new AppError<ModelErrorCode>('range_not_satisfiable', `the file has ${sizeBytes} bytes`);
  }
  response.setHeader('ETag', etag);
  // The same name may get another file some day: asking each time costs a 304.
  response.setHeader('Cache-Control', 'public, no-cache');
  response.setHeader('Accept-Ranges', 'bytes');
  if (!isNoneMatch(request.headers['if-none-match'], etag)) {
    response.writeHead(304).end();
    return;
  }
  response.setHeader('Content-Type', 'application/octet-stream');
  const { first, last } = range ?? { first: 0, last: sizeBytes - 1 };
  response.setHeader('Content-Length', last - first + 1);
  if (range === null) response.statusCode = 200;
  else {
    response.statusCode = 206;
    response.setHeader('Content-Range', `bytes ${first}-${last}/${sizeBytes}`);
  }
  if (request.method === 'HEAD') response.end();
  else await sendBytes(model, { first, last }, response);
};

/** RFC 9110: a range counts for GET alone, after If-None-Match, and only for the very file that If-Range names. */
const rangeOf = (
  { sizeBytes, etag }: OpenModel,
  { method, headers }: IncomingMessage,
): ByteRange | 'unsatisfiable' | null => {
  const isWanted = method === 'GET' && isNoneMatch(headers['if-none-match'], etag);
  const isSameFile = headers['if-range'] === undefined || headers['if-range'] === etag;
  return isWanted && isSameFile ? parseByteRange(headers.range, sizeBytes) : null;
};

const sendBytes = async (model: OpenModel, range: ByteRange, response: ServerResponse): Promise<void> => {
  const bytes = model.file.createReadStream({
    start: range.first,
    end: range.last,
    autoClose: false,
    highWaterMark: READ_BYTES,
  });
  try {
    await pipeline(bytes, response, { end: false });
  } catch {
    // The client went away, or the disk failed: the length that was announced tells the client which.
    response.destroy();
    return;
  }
  // A file that was cut meanwhile must not end like a whole one.
  if (bytes.bytesRead === range.last - range.first + 1) response.end();
  else response.destroy();
};
