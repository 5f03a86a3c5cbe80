import { readMessage } from './messages.js';
import { PictureDecoder } from './picture-decoder.js';

const LENGTH_BYTES = 4;
const PATIENCE_MS = 10_000;

/** The messages of an answer, each behind its length in 32 bits; what is cut off at the end is left out. */
export const messagesOf = (bytes: Uint8Array<ArrayBuffer>): readonly Uint8Array<ArrayBuffer>[] => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found: Uint8Array<ArrayBuffer>[] = [];
  for (let at = 0; at + LENGTH_BYTES <= bytes.length; ) {
    const end = at + LENGTH_BYTES + view.getUint32(at);
    if (end > bytes.length) break;
    found.push(bytes.subarray(at + LENGTH_BYTES, end));
    at = end;
  }
  return found;
};

/** The first picture of what a camera was seen to send; throws where this browser can't show it. The caller closes it. */
export const firstPicture = (bytes: Uint8Array<ArrayBuffer>): Promise<VideoFrame> =>
  new Promise((resolve, reject) => {
    let decoder: PictureDecoder | null = null;
    const end = (fault: Error): void => {
      decoder?.close();
      reject(fault);
    };
    const timer = setTimeout(() => end(new Error('no picture came out in time')), PATIENCE_MS);
    for (const bytesOfOne of messagesOf(bytes)) {
      const message = readMessage(bytesOfOne);
      if (message?.kind === 'config' && message.height > 0 && decoder === null)
        decoder = new PictureDecoder(message, {
          acceleration: 'prefer-software',
          onPicture: ({ frame }) => {
            clearTimeout(timer);
            resolve(frame);
            // Those behind it are closed by the decoder's end.
            queueMicrotask(() => decoder?.close());
          },
          onFault: ({ message: text }) => end(new Error(text)),
        });
      else if (message?.kind === 'frame' && message.stream === decoder?.config.stream)
        decoder.decode(message);
    }
    if (decoder === null) end(new Error('there is no picture in it'));
    else void decoder.flush();
  });
