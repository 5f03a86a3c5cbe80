import type { PacketWriter } from './packet-writer.js';

/**
 * Sends one AAC access unit in AAC-hbr form (RFC 3640 §3.3.6): 16 bits of AU-headers-length, then a 13-bit
 * size and a 3-bit index. One that doesn't fit is cut: each packet repeats the whole size, the last has the marker.
 */
export const packetizeAac = (
  writer: PacketWriter,
  source: Buffer,
  start: number,
  end: number,
  timestamp: number,
): void => {
  const lengthBytes = end - start;
  if (lengthBytes > 0x1fff) throw new RangeError('AAC-hbr holds access units of up to 8191 bytes');
  const stepBytes = writer.maxPayloadBytes - 4;
  for (let at = start; at < end; at += stepBytes) {
    const stop = Math.min(at + stepBytes, end);
    writer.begin();
    writer.uint16(16);
    writer.uint16(lengthBytes << 3);
    writer.copy(source, at, stop);
    writer.finish(timestamp, stop === end);
  }
};

/**
 * Sends several AAC access units in one packet. `bounds` holds their starts and, last, the end of the last
 * one. They must fit: this is for senders that know their sizes.
 */
export const packetizeAacGroup = (
  writer: PacketWriter,
  source: Buffer,
  bounds: readonly number[],
  timestamp: number,
): void => {
  const count = bounds.length - 1;
  if (2 + 2 * count + bounds[count]! - bounds[0]! > writer.maxPayloadBytes) {
    throw new RangeError('the group is larger than a packet');
  }
  writer.begin();
  writer.uint16(16 * count);
  for (let i = 0; i < count; i += 1) writer.uint16((bounds[i + 1]! - bounds[i]!) << 3);
  writer.copy(source, bounds[0]!, bounds[count]!);
  writer.finish(timestamp, true);
};

/**
 * Sends one frame as it stands: an Opus packet (RFC 7587 §4.2) or a run of G.711 samples (RFC 3551 §4.5.14).
 * The marker is for the first one after silence.
 */
export const packetizeAudioFrame = (
  writer: PacketWriter,
  source: Buffer,
  start: number,
  end: number,
  timestamp: number,
  marker = false,
): void => {
  writer.begin();
  writer.copy(source, start, end);
  writer.finish(timestamp, marker);
};
