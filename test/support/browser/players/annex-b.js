// Just enough of Annex B to set a decoder up: what a page of a client has to know.

const H264 = { idr: 5, sps: 7 };
const H265 = { firstKey: 16, lastKey: 21, sps: 33 };

/** The NAL units behind start codes. */
export const unitsOf = (bytes) => {
  const starts = [];
  for (let i = 0; i + 3 <= bytes.length; i += 1) {
    if (bytes[i] === 0 && bytes[i + 1] === 0 && bytes[i + 2] === 1) {
      starts.push(i + 3);
      i += 2;
    }
  }
  return starts.map((start, index) => {
    let end = index + 1 < starts.length ? starts[index + 1] - 3 : bytes.length;
    while (end > start && bytes[end - 1] === 0) end -= 1;
    return bytes.subarray(start, end);
  });
};

const typeH264 = (unit) => unit[0] & 0x1f;
const typeH265 = (unit) => (unit[0] >> 1) & 0x3f;

/** Whether a decoder can start with this access unit. */
export const isKeyUnit = (bytes, isH264) =>
  unitsOf(bytes).some((unit) => {
    if (isH264) return typeH264(unit) === H264.idr;
    return typeH265(unit) >= H265.firstKey && typeH265(unit) <= H265.lastKey;
  });

const hex = (byte) => byte.toString(16).toUpperCase();

/** The unit without the bytes that keep start codes out of it (H.264 and H.265 §7.4.1). */
const withoutEmulation = (unit) =>
  unit.filter((byte, i) => !(byte === 3 && i >= 2 && unit[i - 1] === 0 && unit[i - 2] === 0));

/** ISO 14496-15 §E.3. */
const codecH265 = (sps) => {
  const [, , , profile, c0, c1, c2, c3, ...rest] = withoutEmulation(sps);
  const space = ['', 'A', 'B', 'C'][profile >> 6];
  let flags = 0;
  for (const [index, byte] of [c0, c1, c2, c3].entries()) {
    for (let bit = 0; bit < 8; bit += 1) if (byte & (0x80 >> bit)) flags += 2 ** (index * 8 + bit);
  }
  const constraints = rest.slice(0, 6);
  while (constraints.length > 0 && constraints.at(-1) === 0) constraints.pop();
  const tier = profile & 0x20 ? 'H' : 'L';
  const parts = [`${space}${profile & 0x1f}`, hex(flags), `${tier}${rest[6]}`, ...constraints.map(hex)];
  return `hev1.${parts.join('.')}`;
};

/** The codec string of parameter sets (RFC 6381), or null if there is no SPS among them. */
export const codecOf = (bytes) => {
  for (const unit of unitsOf(bytes)) {
    if (typeH264(unit) === H264.sps) {
      const profile = [...unit.subarray(1, 4)].map((byte) => hex(byte).padStart(2, '0'));
      return `avc1.${profile.join('')}`;
    }
    if (typeH265(unit) === H265.sps) return codecH265(unit);
  }
  return null;
};
