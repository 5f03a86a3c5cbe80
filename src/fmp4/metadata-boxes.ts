import { ascii, box, fullBox, u32, zeros } from './box-bytes.js';

/** Seconds from 1904, where times in MP4 begin (ISO 14496-12 §8.2.2.3), to 1970. */
const EPOCH_OFFSET_SECONDS = 2_082_844_800;
const UTF8 = 1;
/** Of Apple's keys the one that ffprobe, ExifTool and photo libraries read, since creation_time has whole seconds. */
const CREATION_DATE = 'com.apple.quicktime.creationdate';

/** A time as mvhd, tkhd and mdhd have it. */
export const movieSeconds = (wallMs: number): number => Math.floor(wallMs / 1000) + EPOCH_OFFSET_SECONDS;

/** Meta Box (§8.11.1) of the handler `mdta` (QuickTime File Format, "Metadata"): when the movie begins, to the millisecond. */
export const creationMeta = (wallMs: number): Buffer => {
  const date = new Date(Math.round(wallMs)).toISOString();
  return fullBox(
    'meta',
    0,
    0,
    fullBox(
      'hdlr',
      0,
      0,
      u32(0), // pre_defined
      ascii('mdta'),
      zeros(12), // reserved
      ascii('\0'), // name
    ),
    fullBox('keys', 0, 0, u32(1 /* entry_count */), box('mdta', ascii(CREATION_DATE))),
    // An item's type is the number of its key.
    box('ilst', box('\0\0\0\x01', box('data', u32(UTF8), u32(0 /* locale */), ascii(date)))),
  );
};
