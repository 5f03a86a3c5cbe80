import { aacTrack, g711Track, opusTrack } from '../../codec/audio-track.js';
import { parseAvcc } from '../../codec/avcc.js';
import { parseHvcc } from '../../codec/hvcc.js';
import { beginsWithParameterSet } from '../../codec/nal.js';
import { LengthPrefixedCursor } from '../../codec/nal-cursor.js';
import { ParameterSets } from '../../codec/parameter-sets.js';
import type { AudioTrackInfo, VideoCodec } from '../../codec/track.js';
import { flacTrack } from '../../flac/flac-track.js';
import type { MovieTrack } from '../../fmp4/movie-reader.js';
import { soundConfigMessage, videoConfigMessage } from '../../wire/config-message.js';
import { unreadable } from '../files/recording-source.js';

/** The numbers of a recording's streams in its messages. */
export const STREAM = { video: 1, audio: 2 } as const;

/** Where STREAMINFO is in the box that describes FLAC: behind its version and flags, and the head of the block. */
const STREAM_INFO = { start: 8, end: 42 };

/** NAL units behind lengths of any other size are no recording of ours. */
const NAL_LENGTH_BYTES = 4;

/** What a decoder has to know of a file's pictures. */
export class PictureConfig {
  readonly #codec: VideoCodec;
  readonly #sets: ParameterSets;
  readonly #cursor = new LengthPrefixedCursor();

  /** Throws where nothing can be decoded. */
  constructor({ codec, config }: Pick<MovieTrack, 'codec' | 'config'>) {
    if (codec !== 'h264' && codec !== 'h265') throw unreadable('it holds no video that we know');
    const avcc = codec === 'h264' ? parseAvcc(config) : null;
    const record = codec === 'h264' ? avcc && { ...avcc, vps: [] } : parseHvcc(config);
    if (record === null || record.lengthBytes !== NAL_LENGTH_BYTES) throw unreadable('its video is not ours');
    this.#codec = codec;
    this.#sets = new ParameterSets(codec);
    for (const nal of [...record.vps, ...record.sps, ...record.pps]) this.#sets.offer(nal, 0, nal.length);
  }

  /** The message that a keyframe needs, with the parameter sets that it brings along. */
  messageFor(keyFrame: Buffer): Buffer {
    if (beginsWithParameterSet(this.#codec, keyFrame, 0)) this.#take(keyFrame);
    const info = this.#sets.toVideoTrackInfo();
    if (info === null) throw unreadable('its parameter sets are not whole');
    return videoConfigMessage(STREAM.video, info);
  }

  #take(keyFrame: Buffer): void {
    const cursor = this.#cursor;
    cursor.open(keyFrame, 0, keyFrame.length);
    while (cursor.next()) this.#sets.offer(keyFrame, cursor.offset, cursor.offset + cursor.length);
  }
}

const soundOf = ({ codec, config, timescaleHz, channels }: MovieTrack): AudioTrackInfo | null => {
  if (codec === 'aac') return aacTrack(config, timescaleHz, channels);
  if (codec === 'opus') return opusTrack();
  if (codec === 'flac') {
    const { start, end } = STREAM_INFO;
    return config.length < end ? null : flacTrack(config.slice(start, end), timescaleHz, channels);
  }
  return codec === 'pcmu' || codec === 'pcma' ? g711Track(codec, timescaleHz, channels) : null;
};

/** The message that sound needs; null: it is of no kind that we know. */
export const soundConfig = (track: MovieTrack): Buffer | null => {
  const sound = soundOf(track);
  return sound === null ? null : soundConfigMessage(STREAM.audio, sound);
};
