import type { ConfigMessage } from './messages.js';
import { nalUnits } from './nal-units.js';

/** Microseconds, as in the messages. */
const TIMESCALE = 1_000_000;
const TRACK = 1;

type Part = number[] | Uint8Array | string;

const u16 = (value: number): number[] => [(value >>> 8) & 255, value & 255];
const u32 = (value: number): number[] => [...u16(value >>> 16), ...u16(value & 0xffff)];
const u64 = (value: number): number[] => [...u32(Math.floor(value / 2 ** 32)), ...u32(value % 2 ** 32)];
const zeros = (count: number): number[] => new Array<number>(count).fill(0);
const ascii = (text: string): number[] => [...text].map((letter) => letter.charCodeAt(0));

/** A box of ISO 14496-12: its length, its name, what is in it. */
const box = (name: string, ...parts: readonly Part[]): Uint8Array<ArrayBuffer> => {
  const bytes = parts.map((part) => (typeof part === 'string' ? ascii(part) : part));
  const length = bytes.reduce((total, part) => total + part.length, 8);
  const whole = new Uint8Array(length);
  whole.set(u32(length));
  whole.set(ascii(name), 4);
  let at = 8;
  for (const part of bytes) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
};

const fullBox = (name: string, versionAndFlags: number, ...parts: readonly Part[]): Uint8Array<ArrayBuffer> =>
  box(name, u32(versionAndFlags), ...parts);

const UNITY = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000].flatMap(u32);

const typeH264 = (unit: Uint8Array): number => (unit[0] ?? 0) & 0x1f;
const typeH265 = (unit: Uint8Array): number => ((unit[0] ?? 0) >> 1) & 0x3f;

const sized = (units: readonly Uint8Array[]): number[] =>
  units.flatMap((unit) => [...u16(unit.length), ...unit]);

/** ISO 14496-15 §5.3.3: the parameter sets of H.264. */
const avcC = (units: readonly Uint8Array[]): Uint8Array => {
  const sps = units.filter((unit) => typeH264(unit) === 7);
  const pps = units.filter((unit) => typeH264(unit) === 8);
  const [first = new Uint8Array([0x67, 100, 0, 40])] = sps;
  return box(
    'avcC',
    [1, first[1] ?? 0, first[2] ?? 0, first[3] ?? 0, 0xff, 0xe0 | sps.length],
    sized(sps),
    [pps.length],
    sized(pps),
  );
};

/** Without the bytes that keep start codes out of a unit. */
const unescaped = (unit: Uint8Array): Uint8Array =>
  unit.filter((byte, at) => !(byte === 3 && at > 1 && unit[at - 1] === 0 && unit[at - 2] === 0));

/** ISO 14496-15 §8.3.3: the parameter sets of H.265. 4:2:0 with eight bits, as browsers have it. */
const hvcC = (units: readonly Uint8Array[]): Uint8Array => {
  const arrays = [32, 33, 34].map((type) => ({
    type,
    units: units.filter((unit) => typeH265(unit) === type),
  }));
  const sps = unescaped(arrays[1]?.units[0] ?? new Uint8Array(15));
  const levels = [...sps.subarray(3, 15), ...zeros(12)].slice(0, 12);
  const rest = [0xf0, 0, 0xfc, 0xfd, 0xf8, 0xf8, 0, 0, 0x0f, arrays.length];
  const sets = arrays.flatMap((array) => [
    0x80 | array.type,
    ...u16(array.units.length),
    ...sized(array.units),
  ]);
  return box('hvcC', [1], levels, rest, sets);
};

const sampleEntry = ({ codec, width, height, sets }: ConfigMessage): Uint8Array => {
  const isH265 = /^h(?:ev|vc)1/.test(codec);
  const units = nalUnits(sets);
  return box(
    isH265 ? 'hvc1' : 'avc1',
    [...zeros(6), ...u16(1), ...zeros(16), ...u16(width), ...u16(height)],
    [...u32(0x480000), ...u32(0x480000), ...zeros(4), ...u16(1), ...zeros(32), ...u16(24), ...u16(0xffff)],
    isH265 ? hvcC(units) : avcC(units),
  );
};

/** The type under which a `SourceBuffer` takes the stream. */
export const mimeOf = ({ codec }: ConfigMessage): string =>
  `video/mp4; codecs="${codec.replace(/^hev1/, 'hvc1')}"`;

/** What a `SourceBuffer` is given first. */
export const initSegment = (config: ConfigMessage): Uint8Array<ArrayBuffer> => {
  const { width, height } = config;
  const stbl = box(
    'stbl',
    fullBox('stsd', 0, u32(1), sampleEntry(config)),
    ...['stts', 'stsc', 'stco'].map((name) => fullBox(name, 0, u32(0))),
    fullBox('stsz', 0, u32(0), u32(0)),
  );
  const dinf = box('dinf', fullBox('dref', 0, u32(1), fullBox('url ', 1)));
  const minf = box('minf', fullBox('vmhd', 1, zeros(8)), dinf, stbl);
  const mdhd = fullBox('mdhd', 0, zeros(8), u32(TIMESCALE), u32(0), u16(0x55c4), u16(0));
  const mdia = box('mdia', mdhd, fullBox('hdlr', 0, u32(0), 'vide', zeros(12), [0]), minf);
  const tkhd = fullBox(
    ...(['tkhd', 3, zeros(8), u32(TRACK), zeros(8), zeros(16), UNITY] as const),
    ...[u32(width * 0x10000), u32(height * 0x10000)],
  );
  const mvhd = fullBox(
    ...(['mvhd', 0, zeros(8), u32(TIMESCALE), u32(0), u32(0x10000), u16(0x100), zeros(10)] as const),
    ...[UNITY, zeros(24), u32(TRACK + 1)],
  );
  const mvex = box('mvex', fullBox('trex', 0, u32(TRACK), u32(1), u32(0), u32(0), u32(0)));
  const moov = box('moov', mvhd, box('trak', tkhd, mdia), mvex);
  const ftyp = box('ftyp', 'iso5', u32(512), 'iso5', 'iso6', 'mp41');
  const whole = new Uint8Array(ftyp.length + moov.length);
  whole.set(ftyp);
  whole.set(moov, ftyp.length);
  return whole;
};

const KEY_FLAGS = 0x0200_0000;
const DELTA_FLAGS = 0x0101_0000;
/** Of a trun: where its data are; and of each sample duration, size, flags, composition offset. */
const TRUN_FLAGS = 0x0100_0f01;

export type Sample = {
  readonly sequence: number;
  readonly decodeUs: number;
  readonly durationUs: number;
  readonly compositionUs: number;
  readonly isKey: boolean;
  /** With lengths before its units. */
  readonly data: Uint8Array;
};

/** One frame as a fragment of its own: it can be shown as soon as it is there. */
export const fragment = (sample: Sample): Uint8Array<ArrayBuffer> => {
  const { sequence, decodeUs, durationUs, compositionUs, isKey, data } = sample;
  const moofOf = (dataAt: number): Uint8Array<ArrayBuffer> =>
    box(
      'moof',
      fullBox('mfhd', 0, u32(sequence)),
      box(
        'traf',
        fullBox('tfhd', 0x020000, u32(TRACK)),
        fullBox('tfdt', 0x0100_0000, u64(decodeUs)),
        fullBox(
          ...(['trun', TRUN_FLAGS, u32(1), u32(dataAt), u32(durationUs), u32(data.length)] as const),
          ...[u32(isKey ? KEY_FLAGS : DELTA_FLAGS), u32(compositionUs)],
        ),
      ),
    );
  const headBytes = moofOf(0).length;
  const moof = moofOf(headBytes + 8);
  const whole = new Uint8Array(headBytes + 8 + data.length);
  whole.set(moof);
  whole.set(u32(8 + data.length), headBytes);
  whole.set(ascii('mdat'), headBytes + 4);
  whole.set(data, headBytes + 8);
  return whole;
};
