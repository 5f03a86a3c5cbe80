import type { H264Sps } from './h264-sps.js';
import type { H265Profile } from './h265-profile.js';

const hexByte = (value: number): string => value.toString(16).padStart(2, '0');

/** `avc1.PPCCLL` (RFC 6381 §3.3): profile, constraint flags and level in hex. */
export const avcCodecString = (sps: Pick<H264Sps, 'profileIdc' | 'constraints' | 'levelIdc'>): string =>
  `avc1.${hexByte(sps.profileIdc)}${hexByte(sps.constraints)}${hexByte(sps.levelIdc)}`;

/** The 32 bits in reverse order, as annex E wants the compatibility flags (ISO 14496-15:2014 Cor 1). */
const reverseBits = (value: number): number => {
  let reversed = 0;
  for (let bit = 0; bit < 32; bit += 1) {
    if (value & (1 << bit)) reversed |= 1 << (31 - bit);
  }
  return reversed >>> 0;
};

/** `hvc1.<space+profile>.<compatibility>.<tier+level>[.<constraint byte>…]` (ISO 14496-15 §E.3). */
export const hevcCodecString = (profile: H265Profile): string => {
  const space = ['', 'A', 'B', 'C'][profile.space] ?? '';
  const lastConstraint = profile.constraints.findLastIndex((byte) => byte !== 0);
  const parts = [
    'hvc1',
    `${space}${profile.idc}`,
    reverseBits(profile.compatibility).toString(16).toUpperCase(),
    `${profile.isHighTier ? 'H' : 'L'}${profile.levelIdc}`,
    ...profile.constraints.slice(0, lastConstraint + 1).map((byte) => byte.toString(16).toUpperCase()),
  ];
  return parts.join('.');
};
