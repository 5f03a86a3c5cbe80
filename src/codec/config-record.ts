import type { ByteReader } from '../base/byte-reader.js';
import type { VideoTrackInfo } from './track.js';

/** NAL units behind 16-bit lengths, as avcC and hvcC list them. */
export const sizedNals = (nals: readonly Uint8Array[]): Uint8Array[] =>
  nals.flatMap((nal) => [Uint8Array.of(nal.length >> 8, nal.length & 0xff), nal]);

/** Reads `count` NAL units behind 16-bit lengths; copies, since they outlive the buffer. */
export const readSizedNals = (reader: ByteReader, count: number): Uint8Array[] => {
  const nals: Uint8Array[] = [];
  for (let index = 0; index < count && !reader.isPastEnd; index += 1) {
    nals.push(new Uint8Array(reader.view(reader.u16())));
  }
  return nals;
};

/** The SPS that the track's size comes from, for a stream can carry more; null: none can be read. */
export const mainSps = <Sps extends { readonly width: number; readonly height: number }>(
  track: VideoTrackInfo,
  parse: (nal: Uint8Array, start: number, end: number) => Sps | null,
): Sps | null => {
  const all = track.sps.map((nal) => parse(nal, 0, nal.length)).filter((sps) => sps !== null);
  return all.find((sps) => sps.width === track.width && sps.height === track.height) ?? all[0] ?? null;
};
