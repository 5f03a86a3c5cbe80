import { ascii, box, fullBox, u16, u32, u64, zeros } from './box-bytes.js';

/** No rotation, no scaling: {1,0,0, 0,1,0, 0,0,16384} in fixed point. */
const unityMatrix = Buffer.concat(
  [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x4000_0000].map((value) => u32(value)),
);

/** File Type Box (§4.3): what a reader has to understand. */
export const ftyp = (majorBrand: string, compatibleBrands: readonly string[]): Buffer =>
  box('ftyp', ascii(majorBrand), u32(0 /* minor_version */), ...compatibleBrands.map(ascii));

/** Movie Box (§8.2.1). */
export const moov = (...content: readonly Uint8Array[]): Buffer => box('moov', ...content);

/** Of a fragmented file: wall time is in its prft. */
const UNKNOWN_SECONDS = 0;

/** Movie Header Box (§8.2.2), version 1: 64-bit times. */
export const mvhd = (
  timescale: number,
  duration: number,
  nextTrackId: number,
  createdSeconds = UNKNOWN_SECONDS,
): Buffer =>
  fullBox(
    'mvhd',
    1,
    0,
    u64(createdSeconds), // creation_time
    u64(createdSeconds), // modification_time
    u32(timescale),
    u64(duration),
    u32(0x10000), // rate 1.0
    u16(0x100), // volume 1.0
    zeros(10), // reserved
    unityMatrix,
    zeros(24), // pre_defined
    u32(nextTrackId), // next_track_ID
  );

/** Track Box (§8.3.1). */
export const trak = (...content: readonly Uint8Array[]): Buffer => box('trak', ...content);

const TRACK_ENABLED_IN_MOVIE = 3;

/** Track Header Box (§8.3.2). */
export const tkhd = (
  trackId: number,
  duration: number,
  width: number,
  height: number,
  createdSeconds = UNKNOWN_SECONDS,
): Buffer =>
  fullBox(
    'tkhd',
    1,
    TRACK_ENABLED_IN_MOVIE,
    u64(createdSeconds), // creation_time
    u64(createdSeconds), // modification_time
    u32(trackId), // track_ID
    u32(0), // reserved
    u64(duration), // in the movie's timescale
    zeros(8), // reserved
    u16(0), // layer
    u16(0), // alternate_group
    u16(width === 0 ? 0x100 : 0), // volume: 1.0 for sound
    u16(0), // reserved
    unityMatrix,
    u32(width * 0x10000), // 16.16
    u32(height * 0x10000), // 16.16
  );

/** One entry of an edit list; a media time of -1 is a pause. */
export type Edit = { readonly durationTicks: number; readonly mediaTicks: number };

/** Edit Box with its list (§8.6.5, §8.6.6): where a track begins in the movie, and at which of its frames. */
export const edts = (edits: readonly Edit[]): Buffer =>
  box(
    'edts',
    fullBox(
      'elst',
      1,
      0,
      u32(edits.length), // entry_count
      ...edits.flatMap(({ durationTicks, mediaTicks }) => [
        u64(durationTicks), // segment_duration
        mediaTicks < 0 ? Buffer.alloc(8, 0xff) : u64(mediaTicks), // media_time
        u16(1), // media_rate_integer
        u16(0), // media_rate_fraction
      ]),
    ),
  );

/** Media Box (§8.4.1). */
export const mdia = (...content: readonly Uint8Array[]): Buffer => box('mdia', ...content);

const LANGUAGE_UND = 0x55c4;

/** Media Header Box (§8.4.2). */
export const mdhd = (timescale: number, duration: number, createdSeconds = UNKNOWN_SECONDS): Buffer =>
  fullBox(
    'mdhd',
    1,
    0,
    u64(createdSeconds), // creation_time
    u64(createdSeconds), // modification_time
    u32(timescale),
    u64(duration),
    u16(LANGUAGE_UND), // language
    u16(0), // pre_defined
  );

/** Handler Reference Box (§8.4.3). */
export const hdlr = (handlerType: 'vide' | 'soun'): Buffer =>
  fullBox(
    'hdlr',
    0,
    0,
    u32(0), // pre_defined
    ascii(handlerType),
    zeros(12), // reserved
    ascii(handlerType === 'vide' ? 'Video\0' : 'Audio\0'), // name
  );

/** Media Information Box (§8.4.4) with its media header (§12.1.2, §12.2.2) and a Data Information Box. */
export const minf = (handlerType: 'vide' | 'soun', stbl: Uint8Array): Buffer =>
  box('minf', handlerType === 'vide' ? vmhd() : smhd(), dinf(), stbl);

/** Video Media Header Box: no blending. */
export const vmhd = (): Buffer =>
  fullBox(
    'vmhd',
    0,
    1,
    u16(0), // graphicsmode
    zeros(6), // opcolor
  );

/** Sound Media Header Box. */
export const smhd = (): Buffer =>
  fullBox(
    'smhd',
    0,
    0,
    u16(0), // balance
    u16(0), // reserved
  );

const IN_THE_SAME_FILE = 1;

/** Data Information Box (§8.7.1, §8.7.2): the media is in this very file. */
export const dinf = (): Buffer =>
  box(
    'dinf',
    fullBox(
      'dref',
      0,
      0,
      u32(1), // entry_count
      fullBox('url ', 0, IN_THE_SAME_FILE),
    ),
  );

/** Movie Extends Box (§8.8.1): fragments follow. */
export const mvex = (...content: readonly Uint8Array[]): Buffer => box('mvex', ...content);

/** Track Extends Box (§8.8.3): what a fragment's samples are unless it says otherwise. */
export const trex = (trackId: number, defaultSampleFlags: number): Buffer =>
  fullBox(
    'trex',
    0,
    0,
    u32(trackId), // track_ID
    u32(1), // default_sample_description_index
    u32(0), // default_sample_duration
    u32(0), // default_sample_size
    u32(defaultSampleFlags),
  );

/** Sample Description Box (§8.5.2) of one entry. */
export const stsd = (sampleEntry: Uint8Array): Buffer =>
  fullBox('stsd', 0, 0, u32(1 /* entry_count */), sampleEntry);

/** The head that all sample entries share (§8.5.2). */
export const sampleEntryHead = (): Buffer =>
  Buffer.concat([
    zeros(6), // reserved
    u16(1), // data_reference_index
  ]);
