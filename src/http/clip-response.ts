import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '../base/errors.js';
import { rangeAnswer } from '../base/range-answer.js';
import { sendPiece } from './paced-write.js';

/** A part of the archive as one file, which is made while it is read. */
export type Clip = {
  readonly contentBytes: number;
  /** Strong: the same tag, the same bytes. */
  readonly etag: string;
  readonly lastModifiedMs: number;
  /** The bytes [start, end), in order. To leave the loop over them ends the reading. */
  read(startByte: number, endByte: number): AsyncIterable<Buffer>;
  /** Gives back what the clip holds. */
  close(): void | Promise<void>;
};

/** Sends no faster than the client takes, and no more once it is gone. */
const sendBytes = async (
  clip: Clip,
  startByte: number,
  endByte: number,
  response: ServerResponse,
): Promise<void> => {
  let sentBytes = 0;
  for await (const chunk of clip.read(startByte, endByte)) {
    if (response.destroyed) return;
    sentBytes += chunk.length;
    await sendPiece(chunk, response);
    if (response.destroyed) return;
  }
  if (response.destroyed) return;
  // What is short of the length that was announced must not end like a whole one.
  if (sentBytes === endByte - startByte) response.end();
  else throw new AppError('clip_cut', `the clip ended after ${sentBytes} of ${endByte - startByte} bytes`);
};

/**
 * Answers GET or HEAD for a clip: the whole, one range of it, or 304. Throws `range_not_satisfiable` before
 * anything was sent; what it throws later can only cut the connection. Closes the clip.
 */
export const sendClip = async (
  clip: Clip,
  fileName: string,
  request: IncomingMessage,
  response: ServerResponse,
  contentType = 'video/mp4',
): Promise<void> => {
  let isOpen = true;
  const close = (): void => {
    if (isOpen) void clip.close();
    isOpen = false;
  };
  response.once('close', close);
  try {
    const { contentBytes: sizeBytes, etag, lastModifiedMs } = clip;
    const { status, range, headers } = rangeAnswer(request, { sizeBytes, etag, lastModifiedMs });
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (status === 416) throw new AppError('range_not_satisfiable', `the clip has ${sizeBytes} bytes`);
    response.setHeader('Cache-Control', 'private, no-cache');
    response.statusCode = status;
    if (range === null) {
      response.end();
      return;
    }
    response.setHeader('Content-Type', contentType);
    response.setHeader('Content-Disposition', `attachment; filename=${fileName}`);
    if (request.method === 'HEAD') response.end();
    else await sendBytes(clip, range.first, range.last + 1, response);
  } catch (fault) {
    // Of a reading that was closed since nobody wants it there is nothing to tell.
    if (!response.destroyed) throw fault;
  } finally {
    response.off('close', close);
    close();
  }
};
