import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { aacTrack } from '../../src/codec/audio-track.js';
import { parseAvcc } from '../../src/codec/avcc.js';
import { parseHvcc } from '../../src/codec/hvcc.js';
import type { StreamInfo, VideoTrackInfo } from '../../src/codec/track.js';
import { FileScanner } from '../../src/fmp4/file-scanner.js';
import type { MovieTrack } from '../../src/fmp4/movie-reader.js';
import type { RingWriter } from '../../src/ring/writer.js';
import { runQuietly } from '../fmp4/ffmpeg.js';
import { splitNals } from '../support/access-units.js';
import { KEY, stampOf } from '../support/ring.js';

export type SourceOptions = {
  readonly codec: 'h264' | 'h265';
  readonly seconds: number;
  readonly framesPerGop: number;
  readonly bFrames?: number;
  readonly withAudio?: boolean;
};

type Sample = {
  readonly isVideo: boolean;
  readonly isKey: boolean;
  readonly dtsTicks: number;
  readonly ptsTicks: number;
  readonly atMs: number;
  readonly bytes: Buffer;
};

const encoders = {
  h264: (gop: number, b: number) => [
    '-c:v',
    'libx264',
    '-preset',
    'ultrafast',
    '-sc_threshold',
    '0',
    '-g',
    `${gop}`,
    '-bf',
    `${b}`,
  ],
  h265: (gop: number, b: number) => [
    ...['-c:v', 'libx265', '-preset', 'ultrafast', '-tag:v', 'hvc1'],
    '-x265-params',
    // The last ones: small blocks for small pictures, and no threads, that take longer to wait than to work.
    `log-level=none:keyint=${gop}:min-keyint=${gop}:bframes=${b}:open-gop=0:scenecut=0:rc-lookahead=${b + 1}:ctu=16:max-tu-size=16:pools=none:frame-threads=1:no-wpp=1`,
  ],
} as const;

/** Encodes a moving picture, and noise if wanted, into an ordinary MP4: nothing of ours is in it. */
export const encodeSource = (folder: string, options: SourceOptions): string => {
  const { codec, seconds, framesPerGop, bFrames = 0, withAudio = false } = options;
  const path = join(folder, 'source.mp4');
  const picture = ['-f', 'lavfi', '-i', `testsrc2=size=128x96:rate=25:duration=${seconds}`];
  // Noise: no frame of it is like another one, and it is quickly made.
  const noise = [
    ...['-f', 'lavfi', '-i', `anoisesrc=seed=1:amplitude=0.3:r=16000:d=${seconds}`],
    ...['-c:a', 'aac', '-b:a', '32k', '-ac', '1'],
  ];
  const video = [...encoders[codec](framesPerGop, bFrames), '-video_track_timescale', '90000'];
  const all = [...picture, ...(withAudio ? noise : []), '-pix_fmt', 'yuv420p', ...video];
  runQuietly('ffmpeg', ['-y', ...all, path]);
  return path;
};

const configsOf = (movie: Buffer): readonly MovieTrack[] => {
  const scanner = new FileScanner(movie.length);
  for (let range = scanner.wanted; range !== null; range = scanner.wanted) {
    scanner.feed(movie.subarray(range.offset, range.offset + range.lengthBytes));
  }
  return scanner.movie?.tracks ?? [];
};

const videoInfoOf = ({ codec, config, width, height }: MovieTrack): VideoTrackInfo => {
  const sets = codec === 'h265' ? parseHvcc(config)! : { vps: [], ...parseAvcc(config)! };
  const { vps, sps, pps } = sets;
  const said = { codecString: '', frameRateHz: 25, reorderDepth: null };
  return { codec: codec === 'h265' ? 'h265' : 'h264', vps, sps, pps, width, height, ...said };
};

type Probed = { stream_index: number; pts: number; dts: number; size: string; pos: string; flags: string };

/** A recorded stream that is played into a ring as fast as the test likes: its own clock says what time it is. */
export class SourceMovie {
  /** How far the wall clock was set, from the next frame on. */
  wallShiftMs = 0;
  readonly info: StreamInfo;
  readonly samples: readonly Sample[];
  readonly #firstWallMs: number;
  readonly #firstMs: number;
  #next = 0;

  constructor(path: string, firstWallMs: number, firstMs = 1_000_000) {
    const movie = readFileSync(path);
    this.#firstWallMs = firstWallMs;
    this.#firstMs = firstMs;
    const [video, audio] = configsOf(movie);
    this.info = {
      video: videoInfoOf(video!),
      audio: audio === undefined ? null : aacTrack(audio.config, audio.timescaleHz, audio.channels),
    };
    const { packets } = JSON.parse(runQuietly('ffprobe', ['-show_packets', '-of', 'json', path])) as {
      packets: Probed[];
    };
    const audioHz = audio?.timescaleHz ?? 1;
    // B-frames begin below 0 there; media time of a ring never does.
    const shiftMs = 10_000;
    this.samples = packets
      .map((packet) => {
        const isVideo = packet.stream_index === 0;
        const hz = isVideo ? 90_000 : audioHz;
        const at = Number(packet.pos);
        return {
          isVideo,
          isKey: isVideo && packet.flags.startsWith('K'),
          dtsTicks: packet.dts + (shiftMs * hz) / 1000,
          ptsTicks: packet.pts + (shiftMs * hz) / 1000,
          // Audio comes a little after the picture of its time, as it does from a ring.
          atMs: (packet.dts * 1000) / hz + (isVideo ? 0 : 65),
          bytes: movie.subarray(at, at + Number(packet.size)),
        };
      })
      .sort((a, b) => a.atMs - b.atMs);
  }

  get isOver(): boolean {
    return this.#next === this.samples.length;
  }

  /** The time of the next frame. */
  get nowMs(): number {
    return this.#firstMs + (this.samples[this.#next] ?? this.samples.at(-1)!).atMs;
  }

  /** Passes over all frames of the next `durationMs`, up to a keyframe. */
  skip(durationMs: number): void {
    const untilMs = this.nowMs - this.#firstMs + durationMs;
    const next = this.samples.findIndex(({ atMs, isKey }) => isKey && atMs >= untilMs);
    this.#next = next < 0 ? this.samples.length : next;
  }

  /** Writes all frames of the next `durationMs` to the ring. */
  play(writer: RingWriter, durationMs: number): void {
    const untilMs = this.nowMs - this.#firstMs + durationMs;
    for (let sample = this.samples[this.#next]; sample !== undefined && sample.atMs < untilMs; ) {
      this.#write(writer, sample);
      this.#next += 1;
      sample = this.samples[this.#next];
    }
  }

  #write(writer: RingWriter, { isVideo, isKey, ptsTicks, dtsTicks, atMs, bytes }: Sample): void {
    const wallMs = this.#firstWallMs + atMs + this.wallShiftMs;
    const arrivalMs = this.#firstMs + atMs;
    if (!isVideo) {
      writer.writeAudio(bytes, 0, bytes.length, stampOf({ ptsTicks, wallMs, arrivalMs }));
      return;
    }
    for (const nal of splitNals(bytes)) {
      writer.beginNal();
      writer.append(nal, 0, nal.length);
      writer.endNal();
    }
    writer.commitVideo(stampOf({ ptsTicks, dtsTicks, wallMs, arrivalMs, flags: isKey ? KEY : 0 }));
  }
}
