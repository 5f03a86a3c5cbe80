const WRAP = 2 ** 33;

/**
 * Where media time 0 is on the time line of our streams: 10 s, so that neither the clock, which runs before the
 * frames, nor a DTS before the first PTS falls below zero.
 */
export const START_OFFSET_TICKS = 900_000;

/** Media time in ticks of 90 kHz on the streams' time line, before it is cut to 33 bits. */
export const toStreamTicks = (ticks: number, clockRateHz: number): number =>
  Math.round((ticks * 90_000) / clockRateHz) + START_OFFSET_TICKS;

/** The 33-bit value that a stream shows for this media time: also what `X-TIMESTAMP-MAP=MPEGTS:` wants. */
export const toTimestamp = (ticks: number, clockRateHz: number): number =>
  wrap(toStreamTicks(ticks, clockRateHz));

const wrap = (streamTicks: number): number => ((streamTicks % WRAP) + WRAP) % WRAP;

/** Writes a PTS or DTS of 5 bytes; `prefix` are the four bits in front (ISO 13818-1 §2.4.3.7). */
export const writeTimestamp = (out: Uint8Array, at: number, prefix: number, streamTicks: number): void => {
  const value = wrap(streamTicks);
  // Bit 32 doesn't fit a 32-bit operation: the upper three bits are taken off by a division.
  const low30 = value % 0x4000_0000;
  out[at] = (prefix << 4) | (((value - low30) / 0x4000_0000) << 1) | 1;
  out[at + 1] = low30 >> 22;
  out[at + 2] = (low30 >> 14) | 1;
  out[at + 3] = low30 >> 7;
  out[at + 4] = (low30 << 1) | 1;
};

/** Writes a program_clock_reference of 6 bytes, its 27 MHz extension 0 (ISO 13818-1 §2.4.3.5). */
export const writeClock = (out: Uint8Array, at: number, streamTicks: number): void => {
  const value = wrap(streamTicks);
  const low1 = value % 2;
  const high32 = (value - low1) / 2;
  out[at] = high32 / 0x100_0000;
  out[at + 1] = high32 >>> 16;
  out[at + 2] = high32 >>> 8;
  out[at + 3] = high32;
  out[at + 4] = (low1 << 7) | 0x7e;
  out[at + 5] = 0;
};
