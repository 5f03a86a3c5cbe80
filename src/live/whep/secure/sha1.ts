/** SHA-1's initial state (FIPS 180-4 §5.3.1). */
const initial = [0x67452301, 0xefcdab89 | 0, 0x98badcfe | 0, 0x10325476, 0xc3d2e1f0 | 0] as const;

const schedule = new Int32Array(80);

/** The state before the first block. */
export const sha1Start = (): Int32Array => Int32Array.from(initial);

/**
 * Takes one block of sixteen words into a state (FIPS 180-4 §6.1.2), from `before` to `after`. For the outer hash of
 * an HMAC, which is one block of 20 bytes: a call into OpenSSL costs five times as much.
 */
export const sha1Block = (before: Int32Array, after: Int32Array, block: Int32Array): void => {
  const w = schedule;
  for (let t = 0; t < 16; t += 1) w[t] = block[t]!;
  for (let t = 16; t < 80; t += 1) {
    const x = w[t - 3]! ^ w[t - 8]! ^ w[t - 14]! ^ w[t - 16]!;
    w[t] = (x << 1) | (x >>> 31);
  }
  let a = before[0]!;
  let b = before[1]!;
  let c = before[2]!;
  let d = before[3]!;
  let e = before[4]!;
  for (let t = 0; t < 80; t += 1) {
    const f =
      t < 20
        ? ((b & c) | (~b & d)) + 0x5a827999
        : t < 40
          ? (b ^ c ^ d) + 0x6ed9eba1
          : t < 60
            ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc
            : (b ^ c ^ d) + 0xca62c1d6;
    const next = (((a << 5) | (a >>> 27)) + f + e + w[t]!) | 0;
    e = d;
    d = c;
    c = (b << 30) | (b >>> 2);
    b = a;
    a = next;
  }
  after[0] = (before[0]! + a) | 0;
  after[1] = (before[1]! + b) | 0;
  after[2] = (before[2]! + c) | 0;
  after[3] = (before[3]! + d) | 0;
  after[4] = (before[4]! + e) | 0;
};
