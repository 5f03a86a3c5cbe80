/** First bytes of whole frames: final fragment and opcode (RFC 6455 §5.2). A server masks nothing (§5.1). */
export const TEXT = 0x81;
export const BINARY = 0x82;
const PING = 0x89;

/** What a ping and the pong that answers it carry: a time as a double. */
export const PING_PAYLOAD_BYTES = 8;
export const PING_BYTES = 2 + PING_PAYLOAD_BYTES;

/** Size of the head of a frame whose payload has this many bytes. */
export const headBytes = (payloadBytes: number): number => {
  if (payloadBytes < 126) return 2;
  return payloadBytes < 65_536 ? 4 : 10;
};

/** Writes the head of a message in one frame; returns where its payload begins. */
export const writeHead = (target: Buffer, at: number, opcode: number, payloadBytes: number): number => {
  target[at] = opcode;
  if (payloadBytes < 126) {
    target[at + 1] = payloadBytes;
    return at + 2;
  }
  if (payloadBytes < 65_536) {
    target[at + 1] = 126;
    target.writeUInt16BE(payloadBytes, at + 2);
    return at + 4;
  }
  target[at + 1] = 127;
  target.writeUInt32BE(0, at + 2);
  target.writeUInt32BE(payloadBytes, at + 6);
  return at + 10;
};

/** Writes a ping that carries `nowMs`. */
export const writePing = (target: Buffer, at: number, nowMs: number): void => {
  target[at] = PING;
  target[at + 1] = PING_PAYLOAD_BYTES;
  target.writeDoubleBE(nowMs, at + 2);
};
