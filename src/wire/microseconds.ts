const U32 = 0x1_0000_0000;

/** Writes a time in whole microseconds as 64 bits; what is before 0, or not known, is 0. */
export const writeMicroseconds = (target: Buffer, timeUs: number, at: number): number => {
  const whole = timeUs > 0 ? Math.round(timeUs) : 0;
  target.writeUInt32BE(Math.floor(whole / U32), at);
  return target.writeUInt32BE(whole % U32, at + 4);
};
