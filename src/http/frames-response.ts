import type { ServerResponse } from 'node:http';
import { sendPiece } from './paced-write.js';

/** Messages of frames, which are read while they are sent. */
export type FrameReading = {
  /** In order, no faster than they are wanted. */
  read(): AsyncIterable<Buffer>;
  /** Ends the reading, and gives back what it holds. */
  close(): void;
};

/** Sends no faster than the client takes, and reads no more once it is gone. Closes the reading. */
export const sendFrames = async (reading: FrameReading, response: ServerResponse): Promise<void> => {
  const close = (): void => reading.close();
  response.once('close', close);
  try {
    if (response.destroyed) return;
    response.setHeader('Content-Type', 'application/octet-stream');
    response.setHeader('Cache-Control', 'no-store');
    if (response.req.method !== 'HEAD') {
      for await (const batch of reading.read()) {
        await sendPiece(batch, response);
        if (response.destroyed) return;
      }
    }
    response.end();
  } catch (fault) {
    // Of a reading that was closed since nobody wants it there is nothing to tell.
    if (!response.destroyed) throw fault;
  } finally {
    response.off('close', close);
    close();
  }
};
