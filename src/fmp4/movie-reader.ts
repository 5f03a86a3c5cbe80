import { ByteReader } from '../base/byte-reader.js';
import type { AudioCodec, VideoCodec } from '../codec/track.js';
import { BoxCursor } from './box-cursor.js';
import { readDescriptorConfig } from './descriptor-reader.js';
import { readStartReason, type StartReason } from './start-reason.js';

/** A track as moov tells of it. */
export type MovieTrack = {
  readonly trackId: number;
  readonly kind: 'video' | 'audio';
  /** Null: none that we know. */
  readonly codec: VideoCodec | AudioCodec | null;
  readonly timescaleHz: number;
  /** Of the whole picture; 0 for audio. */
  readonly width: number;
  readonly height: number;
  /** 0 for video. */
  readonly channels: number;
  /** The sample entry as it stands, for another file's stsd. A copy, as `config` is. */
  readonly sampleEntry: Buffer;
  /** Content of avcC or hvcC, or the AudioSpecificConfig; else empty. */
  readonly config: Uint8Array;
  /** What trex says of samples whose fragment says nothing. */
  readonly defaults: SampleDefaults;
};

export type SampleDefaults = {
  readonly durationTicks: number;
  readonly sizeBytes: number;
  readonly flags: number;
};

export type Movie = {
  readonly tracks: readonly MovieTrack[];
  /** It has an mvex: samples are in fragments. */
  readonly isFragmented: boolean;
  /** Why the file begins; null: it doesn't say. */
  readonly startReason: StartReason | null;
};

/** Ours have two; the rest of a hostile file's thousands is passed over. */
const MAX_TRACKS = 16;
const FULL_BOX_HEAD_BYTES = 4;
const STSD_HEAD_BYTES = 8;
const VISUAL_ENTRY_BYTES = 78;
const AUDIO_ENTRY_BYTES = 28;
const noDefaults: SampleDefaults = { durationTicks: 0, sizeBytes: 0, flags: 0 };

const codecs: Readonly<Record<string, { codec: VideoCodec | AudioCodec; configBox: string }>> = {
  avc1: { codec: 'h264', configBox: 'avcC' },
  hvc1: { codec: 'h265', configBox: 'hvcC' },
  hev1: { codec: 'h265', configBox: 'hvcC' },
  mp4a: { codec: 'aac', configBox: 'esds' },
  Opus: { codec: 'opus', configBox: '' },
  fLaC: { codec: 'flac', configBox: 'dfLa' },
  ulaw: { codec: 'pcmu', configBox: '' },
  alaw: { codec: 'pcma', configBox: '' },
  twos: { codec: 'l16', configBox: '' },
};

const readerIn = (box: BoxCursor): ByteReader => new ByteReader(box.bytes, box.start, box.end);

/** Goes down through the first box of each type, or says null where one is missing. */
const descend = (box: BoxCursor, ...types: readonly string[]): BoxCursor | null => {
  let cursor = box;
  for (const type of types) {
    cursor = cursor.inside();
    if (!cursor.find(type)) return null;
  }
  return cursor;
};

/** tkhd's track_ID and mdhd's timescale stand behind two times, whose width the version says. */
const readBehindTimes = (box: BoxCursor): number => {
  const reader = readerIn(box);
  const version = reader.u8();
  reader.skip(3 + (version === 1 ? 16 : 8));
  return reader.u32();
};

const readTrex = (mvex: BoxCursor): Map<number, SampleDefaults> => {
  const defaults = new Map<number, SampleDefaults>();
  const cursor = mvex.inside();
  while (cursor.find('trex') && defaults.size < MAX_TRACKS) {
    const reader = readerIn(cursor);
    reader.skip(FULL_BOX_HEAD_BYTES);
    const trackId = reader.u32();
    reader.skip(4);
    defaults.set(trackId, { durationTicks: reader.u32(), sizeBytes: reader.u32(), flags: reader.u32() });
  }
  return defaults;
};

type Entry = Pick<MovieTrack, 'codec' | 'width' | 'height' | 'channels' | 'sampleEntry' | 'config'>;

const readConfig = (entry: BoxCursor, entryBytes: number, configBox: string): Uint8Array => {
  const cursor = entry.inside(entryBytes);
  if (configBox === '' || !cursor.find(configBox)) return new Uint8Array(0);
  if (configBox === 'esds') return readDescriptorConfig(readerIn(cursor));
  return new Uint8Array(cursor.bytes.subarray(cursor.start, cursor.end));
};

const readSampleEntry = (stsd: BoxCursor, kind: 'video' | 'audio'): Entry | null => {
  const contentStart = stsd.start + STSD_HEAD_BYTES;
  const entry = stsd.inside(STSD_HEAD_BYTES);
  if (!entry.next()) return null;
  const known = codecs[entry.type] ?? null;
  const reader = readerIn(entry);
  reader.skip(kind === 'video' ? 24 : 16);
  const first = reader.u16();
  const second = reader.u16();
  return {
    codec: known?.codec ?? null,
    width: kind === 'video' ? first : 0,
    height: kind === 'video' ? second : 0,
    channels: kind === 'audio' ? first : 0,
    sampleEntry: Buffer.from(stsd.bytes.subarray(contentStart, entry.end)),
    config: readConfig(
      entry,
      kind === 'video' ? VISUAL_ENTRY_BYTES : AUDIO_ENTRY_BYTES,
      known?.configBox ?? '',
    ),
  };
};

const readKind = (hdlr: BoxCursor): 'video' | 'audio' | null => {
  const handlerType = hdlr.bytes.toString('latin1', hdlr.start + 8, Math.min(hdlr.start + 12, hdlr.end));
  if (handlerType === 'vide') return 'video';
  return handlerType === 'soun' ? 'audio' : null;
};

const readTrack = (trak: BoxCursor, defaults: ReadonlyMap<number, SampleDefaults>): MovieTrack | null => {
  const tkhd = descend(trak, 'tkhd');
  const mdhd = descend(trak, 'mdia', 'mdhd');
  const hdlr = descend(trak, 'mdia', 'hdlr');
  const stsd = descend(trak, 'mdia', 'minf', 'stbl', 'stsd');
  if (tkhd === null || mdhd === null || hdlr === null || stsd === null) return null;
  const kind = readKind(hdlr);
  const entry = kind === null ? null : readSampleEntry(stsd, kind);
  const trackId = readBehindTimes(tkhd);
  const timescaleHz = readBehindTimes(mdhd);
  if (kind === null || entry === null || trackId === 0 || timescaleHz === 0) return null;
  return { trackId, kind, timescaleHz, ...entry, defaults: defaults.get(trackId) ?? noDefaults };
};

const findStartReason = (bytes: Buffer, start: number, end: number): StartReason | null => {
  const cursor = new BoxCursor(bytes, start, end);
  while (cursor.find('uuid')) {
    const reason = readStartReason(bytes, cursor.start, cursor.end);
    if (reason !== null) return reason;
  }
  return null;
};

/** Reads the content `bytes[start, end)` of a moov box. Tracks that make no sense are left out, never a fault. */
export const readMovie = (bytes: Buffer, start: number, end: number): Movie => {
  const mvex = new BoxCursor(bytes, start, end);
  const isFragmented = mvex.find('mvex');
  const defaults = isFragmented ? readTrex(mvex) : new Map<number, SampleDefaults>();
  const tracks: MovieTrack[] = [];
  const cursor = new BoxCursor(bytes, start, end);
  while (tracks.length < MAX_TRACKS && cursor.find('trak')) {
    const track = readTrack(cursor, defaults);
    if (track !== null && tracks.every((other) => other.trackId !== track.trackId)) tracks.push(track);
  }
  return { tracks, isFragmented, startReason: findStartReason(bytes, start, end) };
};
