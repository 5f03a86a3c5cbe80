/** Seconds from 1900, where NTP begins, to 1970. */
const EPOCH_OFFSET_SECONDS = 2_208_988_800;
const ERA = 0x1_0000_0000;

/** The upper word of an NTP time: seconds since 1900, of which 32 bits are left. */
export const ntpSeconds = (wallMs: number): number =>
  (Math.floor(wallMs / 1000) + EPOCH_OFFSET_SECONDS) % ERA;

/** The lower word of an NTP time: 2^-32 seconds. */
export const ntpFraction = (wallMs: number): number => Math.floor(((wallMs / 1000) % 1) * ERA + 0.5) % ERA;

/** Wall time to the microsecond. Seconds with the highest bit clear are of the era that begins in 2036 (RFC 4330 §3). */
export const wallMsOfNtp = (seconds: number, fraction: number): number => {
  const era = seconds < ERA / 2 ? ERA : 0;
  return (seconds + era - EPOCH_OFFSET_SECONDS) * 1000 + Math.round((fraction / ERA) * 1e6) / 1000;
};
