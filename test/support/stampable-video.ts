import type { VideoStream } from './elementary-stream.js';
import { PACKET_PAYLOAD_BYTES } from './frame-generator.js';

/** Room for the stamp, and some that nobody overwrites. */
const PADDING_BYTES = 64;
/** What a fragment holds beside its two header bytes (RFC 6184 §5.8). */
const FRAGMENT_BYTES = PACKET_PAYLOAD_BYTES - 2;
const LENGTH_BYTES = 4;

/** Where its last NAL unit's length is. */
const lastNalAt = (bytes: Buffer): number => {
  let at = 0;
  for (;;) {
    const next = at + LENGTH_BYTES + bytes.readUInt32BE(at);
    if (next >= bytes.length) return at;
    at = next;
  }
};

/**
 * Real pictures whose ends may be overwritten with number and time at which they are sent (`PumpOptions.stampSendTime`): bytes
 * behind the end of the slice, which a CABAC decoder knows and never reads beyond (H.264 §9.3.1.2). Each frame must end
 * with its only slice.
 */
export const stampable = (stream: VideoStream): VideoStream => ({
  ...stream,
  frames: stream.frames.map((frame) => {
    const at = lastNalAt(frame.bytes);
    const nalBytes = frame.bytes.length - at - LENGTH_BYTES + PADDING_BYTES;
    // The last packet must have room for all of it.
    const lastBytes = (nalBytes - 1) % FRAGMENT_BYTES;
    const padding = Buffer.alloc(PADDING_BYTES * (lastBytes < PADDING_BYTES ? 2 : 1), 0xff);
    const bytes = Buffer.concat([frame.bytes, padding]);
    bytes.writeUInt32BE(bytes.length - at - LENGTH_BYTES, at);
    return { ...frame, bytes };
  }),
});
