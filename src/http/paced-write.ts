import type { ServerResponse } from 'node:http';

/** What is handed to the socket at a time: whether a client takes anything shows in steps of this. */
const STEP_BYTES = 131_072;

/** The client takes more again, or went away. */
const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.once('drain', done).once('close', done);
  });

/** Sends a piece, no faster than the client takes it; the rest of it stays where the client is gone. */
export const sendPiece = async (piece: Buffer, response: ServerResponse): Promise<void> => {
  for (let at = 0; at < piece.length; at += STEP_BYTES) {
    if (response.destroyed) return;
    if (!response.write(piece.subarray(at, at + STEP_BYTES))) await drained(response);
  }
};

/** Sends pieces as they lie in memory, no faster than the client takes them, and no more once it is gone. */
export const sendPieces = async (pieces: readonly Buffer[], response: ServerResponse): Promise<void> => {
  const [only] = pieces;
  if (only !== undefined && pieces.length === 1 && only.length <= STEP_BYTES) {
    response.end(only);
    return;
  }
  for (const piece of pieces) {
    await sendPiece(piece, response);
    if (response.destroyed) return;
  }
  response.end();
};
