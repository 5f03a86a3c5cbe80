import { createHash } from 'node:crypto';
import {
  endWithoutZeros,
  isDroppedH264,
  isDroppedH265,
  isParameterSetH264,
  isParameterSetH265,
  nalTypeOf,
} from '../../src/codec/nal.js';
import { LengthPrefixedCursor } from '../../src/codec/nal-cursor.js';
import type { VideoCodec } from '../../src/codec/track.js';

/** NAL units, each behind its 4-byte length, as the ring and MP4 hold them. */
export const joinNals = (nals: readonly Uint8Array[]): Buffer => {
  const pieces: Uint8Array[] = [];
  for (const nal of nals) {
    const prefix = Buffer.alloc(4);
    prefix.writeUInt32BE(nal.length);
    pieces.push(prefix, nal);
  }
  return Buffer.concat(pieces);
};

/** The NAL units of an access unit, without their lengths; views, not copies. */
export const splitNals = (accessUnit: Buffer): Buffer[] => {
  const cursor = new LengthPrefixedCursor();
  cursor.open(accessUnit, 0, accessUnit.length);
  const nals: Buffer[] = [];
  while (cursor.next()) nals.push(accessUnit.subarray(cursor.offset, cursor.offset + cursor.length));
  if (cursor.isBroken) throw new Error('broken lengths in an access unit');
  return nals;
};

/** SPS, PPS, VPS. */
export const isParameterSet = (codec: VideoCodec, nal: Uint8Array): boolean => {
  const type = nalTypeOf(codec, nal[0]!);
  return codec === 'h264' ? isParameterSetH264(type) : isParameterSetH265(type);
};

const isKept = (codec: VideoCodec, nal: Uint8Array): boolean => {
  const type = nalTypeOf(codec, nal[0]!);
  const isDropped = codec === 'h264' ? isDroppedH264(type) : isDroppedH265(type);
  return !isDropped && !isParameterSet(codec, nal);
};

/** The access unit as the ring has it: slices and SEI, without what `VideoSink` leaves out. */
export const normaliseAccessUnit = (codec: VideoCodec, accessUnit: Buffer): Buffer =>
  joinNals(
    splitNals(accessUnit)
      .filter((nal) => isKept(codec, nal))
      // A depacketizer may see zeros behind a unit as padding: they are none of its bytes.
      .map((nal) => nal.subarray(0, endWithoutZeros(nal, 0, nal.length))),
  );

/** A short name of some bytes, for comparing what was sent with what arrived. */
export const hashOf = (bytes: Uint8Array): string =>
  createHash('sha1').update(bytes).digest('hex').slice(0, 16);

/** The name of an access unit by what the ring would hold of it. */
export const accessUnitHash = (codec: VideoCodec, accessUnit: Buffer): string =>
  hashOf(normaliseAccessUnit(codec, accessUnit));
