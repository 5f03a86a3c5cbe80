import type { VideoCodec } from '../../../src/codec/track.js';
import type { Faults } from './faults.js';
import type { OutPacket } from './packet-maker.js';

const STAP_A = 24;
const FU_A = 28;
const H265_AGGREGATION = 48;
const H265_FRAGMENT = 49;

const START = 0x80;
const BOTH = 0xc0;

const typeOf = (codec: VideoCodec, payload: Buffer): number =>
  codec === 'h264' ? payload[0]! & 0x1f : (payload[0]! >> 1) & 0x3f;

/** A whole slice as a fragmentation unit that is its own start and end (CostarHD, OpenIPC). */
const asFragment = (codec: VideoCodec, payload: Buffer): Buffer => {
  const first = payload[0]!;
  const head =
    codec === 'h264'
      ? Buffer.of((first & 0xe0) | FU_A, BOTH | (first & 0x1f))
      : Buffer.of((first & 0x81) | (H265_FRAGMENT << 1), payload[1]!, BOTH | ((first >> 1) & 0x3f));
  return Buffer.concat([head, payload.subarray(codec === 'h264' ? 1 : 2)]);
};

/** Writes fragmentation units as some cameras do. */
export const bendFragments = (
  codec: VideoCodec,
  packets: readonly OutPacket[],
  kind: Faults['fragments'],
): OutPacket[] => {
  if (kind === 'normal') return [...packets];
  const headerAt = codec === 'h264' ? 1 : 2;
  return packets.flatMap((packet): OutPacket[] => {
    const type = typeOf(codec, packet.payload);
    const isFragment = type === (codec === 'h264' ? FU_A : H265_FRAGMENT);
    const isPicture = codec === 'h264' ? type <= 5 : type < 32;
    if (kind === 'start-and-end') {
      return [isPicture ? { ...packet, payload: asFragment(codec, packet.payload) } : packet];
    }
    if (!isFragment) return [packet];
    const isStart = (packet.payload[headerAt]! & START) !== 0;
    if (kind === 'type-differs') {
      const payload = Buffer.from(packet.payload);
      if (!isStart) payload[headerAt] = (payload[headerAt]! & BOTH) | 1;
      return [{ ...packet, payload }];
    }
    // An empty fragment behind the first one: nothing but headers (retina#115).
    const empty = Buffer.from(packet.payload.subarray(0, headerAt + 1));
    empty[headerAt] = empty[headerAt]! & ~BOTH;
    return isStart ? [packet, { payload: empty, marker: false, timestamp: packet.timestamp }] : [packet];
  });
};

/** Zeros behind the last unit of an aggregation packet. */
export const padAggregates = (
  codec: VideoCodec,
  packets: readonly OutPacket[],
  kind: Faults['aggregation'],
): OutPacket[] => {
  const aggregate = codec === 'h264' ? STAP_A : H265_AGGREGATION;
  if (kind !== 'zero-padded') return [...packets];
  return packets.map((packet) =>
    typeOf(codec, packet.payload) === aggregate
      ? { ...packet, payload: Buffer.concat([packet.payload, Buffer.alloc(6)]) }
      : packet,
  );
};
