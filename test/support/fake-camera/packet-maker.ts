import { AAC_SAMPLE_RATES_HZ } from '../../../src/codec/aac.js';
import { isVclH264, isVclH265, nalTypeOf } from '../../../src/codec/nal.js';
import type { VideoCodec } from '../../../src/codec/track.js';
import { PacketWriter } from '../../../src/rtp/packet-writer.js';
import { packetizeAac, packetizeAudioFrame } from '../../../src/rtp/packetize-audio.js';
import { H264Packetizer } from '../../../src/rtp/packetize-h264.js';
import { H265Packetizer } from '../../../src/rtp/packetize-h265.js';
import { isParameterSet, joinNals, splitNals } from '../access-units.js';
import type { AudioStream, StreamFrame } from '../elementary-stream.js';
import type { Faults } from './faults.js';
import { bendFragments, padAggregates } from './packet-quirks.js';

/** An RTP packet that still lacks sequence number and SSRC. */
export type OutPacket = {
  readonly payload: Buffer;
  readonly marker: boolean;
  readonly timestamp: number;
};

const collect = (
  maxPayloadBytes: number,
  roomBytes: number,
  packetize: (writer: PacketWriter) => void,
): OutPacket[] => {
  const packets: OutPacket[] = [];
  const options = { payloadType: 0, ssrc: 0, firstSequence: 0, maxPayloadBytes };
  const target = Buffer.alloc(Math.max(roomBytes, maxPayloadBytes) + 64);
  packetize(
    new PacketWriter(options, target, 0, (buffer, start, end) => {
      packets.push({
        payload: Buffer.from(buffer.subarray(start + 12, end)),
        marker: buffer[start + 1]! >= 0x80,
        timestamp: buffer.readUInt32BE(start + 4),
      });
    }),
  );
  return packets;
};

/** All NAL units as one, with start codes between them. */
const asAnnexB = (nals: readonly Buffer[]): Buffer =>
  Buffer.concat(nals.flatMap((nal, index) => (index === 0 ? [nal] : [Buffer.of(0, 0, 0, 1), nal])));

const isPicture = (codec: VideoCodec, nal: Buffer): boolean => {
  const type = nalTypeOf(codec, nal[0]!);
  return codec === 'h264' ? isVclH264(type) : isVclH265(type);
};

/** The NAL units that are sent of an access unit, by which of them end with a marker. */
const shape = (
  codec: VideoCodec,
  frame: StreamFrame,
  faults: Faults,
): { nals: Buffer[]; marker: boolean }[] => {
  const all = splitNals(frame.bytes);
  const nals = faults.inBandParameterSets === 'none' ? all.filter((nal) => !isParameterSet(codec, nal)) : all;
  if (faults.annexB) return [{ nals: [asAnnexB(nals)], marker: faults.marker !== 'missing' }];
  const isSplit = faults.marker === 'every-nal' || faults.timestamps === 'changes-inside-frame';
  if (isSplit) {
    return nals.map((nal, index) => ({
      nals: [nal],
      marker: faults.marker === 'every-nal' || (index === nals.length - 1 && faults.marker === 'normal'),
    }));
  }
  if (faults.marker === 'on-parameter-sets') {
    const before = nals.filter((nal) => !isPicture(codec, nal)).map((nal) => ({ nals: [nal], marker: true }));
    return [...before, { nals: nals.filter((nal) => isPicture(codec, nal)), marker: true }];
  }
  return [{ nals, marker: faults.marker === 'normal' }];
};

/** The packets of one access unit, with all that `faults` does to them. */
export const videoPackets = (
  codec: VideoCodec,
  frame: StreamFrame,
  timestamp: number,
  faults: Faults,
): OutPacket[] => {
  const aggregate = faults.aggregation !== 'none';
  const packets = collect(faults.maxPayloadBytes, frame.bytes.length, (writer) => {
    const packetizer =
      codec === 'h264'
        ? new H264Packetizer({ aggregate, packetizationMode: faults.packetizationMode }, writer)
        : new H265Packetizer({ aggregate, donl: false }, writer);
    shape(codec, frame, faults).forEach(({ nals, marker }, index) => {
      const bytes = joinNals(nals);
      const shift = faults.timestamps === 'changes-inside-frame' ? index : 0;
      packetizer.packetize(bytes, 0, bytes.length, timestamp + shift, marker);
    });
  });
  return padAggregates(codec, bendFragments(codec, packets, faults.fragments), faults.aggregation);
};

/** An ADTS header for a bare AAC-LC frame (ISO 14496-3 §1.A.2.2). */
const adtsHeader = (stream: AudioStream, lengthBytes: number): Buffer => {
  const rates: readonly number[] = AAC_SAMPLE_RATES_HZ;
  const total = lengthBytes + 7;
  const channels = stream.track.channels;
  return Buffer.of(
    0xff,
    0xf1,
    (1 << 6) | (rates.indexOf(stream.clockRateHz) << 2) | (channels >> 2),
    ((channels & 3) << 6) | (total >> 11),
    (total >> 3) & 0xff,
    ((total & 7) << 5) | 0x1f,
    0xfc,
  );
};

/** The packets of one audio frame. */
export const audioPackets = (
  stream: AudioStream,
  frame: StreamFrame,
  timestamp: number,
  faults: Faults,
): OutPacket[] => {
  const isAac = stream.track.codec === 'aac';
  const bytes =
    isAac && faults.adtsInside
      ? Buffer.concat([adtsHeader(stream, frame.bytes.length), frame.bytes])
      : frame.bytes;
  return collect(faults.maxPayloadBytes, bytes.length, (writer) => {
    if (isAac) packetizeAac(writer, bytes, 0, bytes.length, timestamp);
    else packetizeAudioFrame(writer, bytes, 0, bytes.length, timestamp);
  });
};
