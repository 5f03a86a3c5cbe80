import { VIDEO_CLOCK_HZ } from '../../codec/track.js';
import type { FileScanner } from '../../fmp4/file-scanner.js';
import type { SampleColumns } from '../../fmp4/sample-columns.js';
import { SegmentMuxer } from '../../mpegts/segment-muxer.js';
import { Moved } from '../files/job-result.js';
import {
  type OpenedRecording,
  type RecordingSource,
  unreadable,
  withRecording,
} from '../files/recording-source.js';
import { type MovieStream, movieStream } from './movie-stream.js';

export type BuildSegmentInput = {
  readonly source: RecordingSource;
  /** The part's bytes in the file, and its number. */
  readonly startBytes: number;
  readonly endBytes: number;
  readonly seq: number;
};

export type BuildSegmentOutput = {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Frames that are damaged or don't fit MPEG-TS, and were left out. */
  readonly refusedFrames: number;
};

/** 20 s of 25 Mbit/s: a part over this is refused, rather than held in memory. */
export const MAX_PART_BYTES = 64 << 20;
/** Headers of packets and PES are some 3 % of usual video; small frames take more, and make it grow. */
const EXPECTED_OVERHEAD = 1.06;
const SPARE_BYTES = 16_384;

/** Job: the MPEG-TS segment of one part of a recording. */
export const buildSegment = ({
  source,
  startBytes,
  endBytes,
  seq,
}: BuildSegmentInput): Moved<BuildSegmentOutput> => {
  const partBytes = endBytes - startBytes;
  if (!(partBytes > 0 && partBytes <= MAX_PART_BYTES)) {
    throw unreadable(`a part of ${partBytes} bytes is no segment`);
  }
  return withRecording(source, (recording) => {
    const { scanner } = recording.walk(startBytes, endBytes);
    const stream = scanner.movie === null ? null : movieStream(scanner.movie);
    if (stream === null) throw unreadable('it holds no video that MPEG-TS can carry');
    const part = readPart(recording, scanner, startBytes, partBytes);
    const muxer = new SegmentMuxer({
      continuity: 'standalone',
      initialBytes: Math.ceil(partBytes * EXPECTED_OVERHEAD) + SPARE_BYTES,
      maxBytes: 2 * MAX_PART_BYTES,
    });
    muxer.begin(stream.info, { index: seq, discontinuity: false });
    new PartMuxer(muxer, stream, scanner, part, startBytes).addAll();
    const { bytes, videoFrames } = muxer.finish(null);
    if (videoFrames === 0) throw unreadable('this part has no picture');
    // The muxer made this one segment alone, so its memory can leave with the answer.
    const memory = bytes as Buffer<ArrayBuffer>;
    const { buffer, byteOffset, length } = memory;
    const segment = new Uint8Array(buffer, byteOffset, length);
    return new Moved({ bytes: segment, refusedFrames: muxer.refusedFrames }, [buffer]);
  });
};

/** Reads all of a part at once, and lets the scanner walk it in memory. */
const readPart = (
  recording: OpenedRecording,
  scanner: FileScanner,
  startBytes: number,
  partBytes: number,
): Buffer => {
  const part = Buffer.allocUnsafeSlow(partBytes);
  recording.read(part, startBytes);
  for (let range = scanner.wanted; range !== null; range = scanner.wanted) {
    const at = range.offset - startBytes;
    scanner.feed(part.subarray(at, at + range.lengthBytes));
  }
  return part;
};

/** Feeds the muxer both tracks of a part in the order of their times. */
class PartMuxer {
  readonly #muxer: SegmentMuxer;
  readonly #part: Buffer;
  readonly #startBytes: number;
  readonly #video: SampleColumns;
  readonly #videoHz: number;
  readonly #audio: SampleColumns | null;
  readonly #audioHz: number;
  #nextAudio = 0;

  constructor(
    muxer: SegmentMuxer,
    { video, audio }: MovieStream,
    { movie, columns }: FileScanner,
    part: Buffer,
    startBytes: number,
  ) {
    this.#muxer = muxer;
    this.#part = part;
    this.#startBytes = startBytes;
    this.#video = columns[video]!;
    this.#videoHz = movie!.tracks[video]!.timescaleHz;
    this.#audio = audio < 0 ? null : columns[audio]!;
    this.#audioHz = audio < 0 ? 1 : movie!.tracks[audio]!.timescaleHz;
  }

  addAll(): void {
    const { dtsTicks, compositionTicks, offsetBytes, sizeBytes, isKey, count } = this.#video;
    for (let at = 0; at < count; at += 1) {
      const dts = dtsTicks[at]!;
      this.#addAudioBefore(dts / this.#videoHz);
      const start = offsetBytes[at]! - this.#startBytes;
      const pts = this.#toClock(dts + compositionTicks[at]!);
      this.#muxer.video(this.#part, start, start + sizeBytes[at]!, pts, this.#toClock(dts), isKey[at] === 1);
    }
    this.#addAudioBefore(Number.POSITIVE_INFINITY);
  }

  #toClock(ticks: number): number {
    return this.#videoHz === VIDEO_CLOCK_HZ ? ticks : Math.round((ticks * VIDEO_CLOCK_HZ) / this.#videoHz);
  }

  #addAudioBefore(seconds: number): void {
    const audio = this.#audio;
    if (audio === null) return;
    while (this.#nextAudio < audio.count && audio.dtsTicks[this.#nextAudio]! / this.#audioHz < seconds) {
      const at = this.#nextAudio;
      const start = audio.offsetBytes[at]! - this.#startBytes;
      this.#muxer.audio(this.#part, start, start + audio.sizeBytes[at]!, audio.dtsTicks[at]!);
      this.#nextAudio = at + 1;
    }
  }
}
