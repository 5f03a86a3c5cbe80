import type { VideoCodec } from '../codec/track.js';
import { crc32Mpeg } from './crc32.js';

/** Packet ids of our streams; players accept any from 0x20 on. */
export const PID = { pat: 0, video: 0x100, audio: 0x101, pmt: 0x1000 } as const;

const PACKET_BYTES = 188;
const PROGRAM_NUMBER = 1;
const TABLE = { pat: 0x00, pmt: 0x02 } as const;
/** stream_type (ISO 13818-1 table 2-34). */
const STREAM_TYPE = { h264: 0x1b, h265: 0x24, aacAdts: 0x0f } as const;
/** registration_descriptor 'HEVC': some set-top boxes and VLC's older versions look for it (§2.6.8). */
const hevcRegistration = [0x05, 0x04, 0x48, 0x45, 0x56, 0x43];

/** What a segment carries. */
export type ProgramMap = {
  readonly codec: VideoCodec;
  readonly hasAudio: boolean;
  /** Counts changes of the map, modulo 32. */
  readonly version: number;
};

const u16 = (value: number): readonly [number, number] => [(value >> 8) & 0xff, value & 0xff];

/** A program association table with our one program (§2.4.4.3); the CRC is left to `sectionPacket`. */
const patBody = (): number[] => [...u16(PROGRAM_NUMBER), ...u16(0xe000 | PID.pmt)];

/** A program map (§2.4.4.8): the clock travels with the video. */
const pmtBody = ({ codec, hasAudio }: ProgramMap): number[] => {
  const descriptors = codec === 'h265' ? hevcRegistration : [];
  return [
    ...u16(0xe000 | PID.video), // PCR_PID
    ...u16(0xf000), // program_info_length
    STREAM_TYPE[codec],
    ...u16(0xe000 | PID.video),
    ...u16(0xf000 | descriptors.length), // ES_info_length
    ...descriptors,
    ...(hasAudio ? [STREAM_TYPE.aacAdts, ...u16(0xe000 | PID.audio), ...u16(0xf000)] : []),
  ];
};

/** One section in one packet, 0xff behind it. Its continuity counter is 0 until it is written out. */
const sectionPacket = (pid: number, tableId: number, version: number, body: readonly number[]): Buffer => {
  const packet = Buffer.alloc(PACKET_BYTES, 0xff);
  const head = [
    0x47,
    0x40 | (pid >> 8), // payload_unit_start_indicator
    pid & 0xff,
    0x10, // payload only
    0, // pointer_field
    tableId,
    ...u16(0xb000 | (body.length + 9)), // section_length: from behind itself to the end of the CRC
    ...u16(1), // transport_stream_id or program_number
    0xc1 | (version << 1), // current_next_indicator
    0, // section_number
    0, // last_section_number
  ];
  const end = head.length + body.length;
  packet.set([...head, ...body]);
  packet.writeUInt32BE(crc32Mpeg(packet, 5, end), end);
  return packet;
};

/** The packets of program association table and program map, in this order, that open a segment. */
export const psiPackets = (map: ProgramMap): Buffer =>
  Buffer.concat([
    sectionPacket(PID.pat, TABLE.pat, 0, patBody()),
    sectionPacket(PID.pmt, TABLE.pmt, map.version, pmtBody(map)),
  ]);
