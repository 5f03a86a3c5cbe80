import { randomBytes } from 'node:crypto';

/** Where a track's numbers begin: random, so that nobody can guess them (RFC 3550 §5.1). */
export type RtpNumbers = {
  readonly ssrc: number;
  readonly firstSequence: number;
  /** The RTP time of the axis's 0. */
  readonly timestampBase: number;
};

export const randomNumbers = (): RtpNumbers => {
  const bytes = randomBytes(10);
  return {
    ssrc: bytes.readUInt32BE(0),
    firstSequence: bytes.readUInt16BE(4),
    timestampBase: bytes.readUInt32BE(6),
  };
};

/** The RTP time of a place on the axis, in the track's own ticks. */
export const rtpTime = ({ timestampBase }: RtpNumbers, ticks: number): number =>
  (timestampBase + Math.round(ticks)) >>> 0;
