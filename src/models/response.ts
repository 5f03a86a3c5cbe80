import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { ByteRange } from '../base/byte-range.js';
import { AppError } from '../base/errors.js';
import { rangeAnswer } from '../base/range-answer.js';
import type { ModelErrorCode } from './errors.js';
import type { Models, OpenModel } from './models.js';

const READ_BYTES = 262_144;

/**
 * Answers GET or HEAD for a model file, or for the description beside one: the whole, one range of it, or 304. Throws an AppError with a
 * ModelErrorCode before anything was sent; once bytes flow, a fault can only cut the connection.
 */
export const sendModel = async (
  models: Models,
  filename: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const isDescription = filename.endsWith('.json');
  const model = await (isDescription ? models.openDescription(filename) : models.open(filename));
  const contentType = isDescription ? 'application/json' : 'application/octet-stream';
  try {
    await answer(model, contentType, request, response);
  } finally {
    await model.file.close();
  }
};

const answer = async (
  model: OpenModel,
  contentType: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const { status, range, headers } = rangeAnswer(request, model);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (status === 416)
    throw new AppError<ModelErrorCode>('range_not_satisfiable', `the file has ${model.sizeBytes} bytes`);
  // The same name may get another file some day: asking each time costs a 304.
  response.setHeader('Cache-Control', 'public, no-cache');
  response.statusCode = status;
  if (range === null) {
    response.end();
    return;
  }
  response.setHeader('Content-Type', contentType);
  if (request.method === 'HEAD') response.end();
  else await sendBytes(model, range, response);
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
