import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import type { VideoCodec } from '../../codec/track.js';
import { PADDING, type Size } from '../../objects/picture-fit.js';
import type { DetectFault } from '../messages.js';

type Ffmpeg = ChildProcessByStdio<Writable, Readable, Readable>;

export type FrameDecoderOptions = {
  readonly ffmpegPath: string;
  readonly codec: VideoCodec;
  /** What comes out. */
  readonly size: Size;
  readonly color: 'rgb' | 'bgr';
};

/** A picture takes 20 ms, and the first one the start of a process. */
const TIME_LIMIT_MS = 5_000;
const MAX_SAID_BYTES = 500;
/** What no camera has (8K is 33 million). */
const MAX_PIXELS = 50_000_000;
/** One that grew beyond this is ended between two pictures; 4K takes about 150 MB. */
const MAX_RESIDENT_BYTES = 600_000_000;
const LOOK_EVERY = 64;
const PAGE_BYTES = 4_096;

/** An access unit delimiter: behind it a parser knows that the picture before is whole (H.264 §7.4.1.2.3, H.265 §7.4.2.4.4). */
const delimiters: Readonly<Record<VideoCodec, Buffer>> = {
  h264: Buffer.from('0000000109f0', 'hex'),
  h265: Buffer.from('00000001460150', 'hex'),
};
const demuxers: Readonly<Record<VideoCodec, string>> = { h264: 'h264', h265: 'hevc' };

const argumentsFor = ({ codec, size: { width, height }, color }: FrameDecoderOptions): readonly string[] => {
  const fit = `scale=${width}:${height}:force_original_aspect_ratio=decrease:flags=fast_bilinear`;
  const padding = PADDING.toString(16).repeat(3);
  return [
    ...['-nostdin', '-hide_banner', '-v', 'fatal', '-protocol_whitelist', 'pipe'],
    ...['-threads', '1', '-filter_threads', '1', '-max_pixels', String(MAX_PIXELS)],
    // One picture for each keyframe, at once: without any of these it holds some back.
    ...['-probesize', '32', '-analyzeduration', '0', '-flags', 'low_delay'],
    ...['-f', demuxers[codec], '-i', 'pipe:0', '-map', '0:v:0'],
    ...['-vf', `${fit},pad=${width}:${height}:0:0:color=0x${padding}`, '-pix_fmt', `${color}24`],
    ...['-fps_mode', 'passthrough', '-threads', '1', '-f', 'rawvideo', 'pipe:1'],
  ];
};

type Waiting = { readonly settle: (outcome: Buffer | DetectFault) => void; readonly timer: NodeJS.Timeout };

/**
 * ffmpeg as a process that stays, for all cameras of a codec: to start one takes as long as three pictures. One picture is
 * asked for at a time, so that none is ever taken for another camera's; a process that doesn't answer is ended, since
 * what it would say later can't be told from an answer to what is asked next.
 */
export class FrameDecoder {
  /** Started in the place of others. */
  restarts = 0;
  readonly #options: FrameDecoderOptions;
  readonly #frameBytes: number;
  #ffmpeg: Ffmpeg | null = null;
  #waiting: Waiting | null = null;
  #turn: Promise<unknown> = Promise.resolve();
  #held: Buffer[] = [];
  #heldBytes = 0;
  #said = '';
  #pictures = 0;
  #hasStarted = false;
  #isAlone = false;

  constructor(options: FrameDecoderOptions) {
    this.#options = options;
    this.#frameBytes = options.size.width * options.size.height * 3;
  }

  /** Pixels, one after another, row by row. Never rejects; one after the other. */
  decode(annexB: Uint8Array): Promise<Buffer | DetectFault> {
    const outcome = this.#turn.then(() => this.#decode(annexB));
    this.#turn = outcome;
    return outcome;
  }

  /** In a process of its own, which gives away what it holds back once nothing more can come. Not after `decode`. */
  async decodeAlone(annexB: Uint8Array): Promise<Buffer | DetectFault> {
    this.#isAlone = true;
    const outcome = await this.decode(annexB);
    this.kill();
    return outcome;
  }

  kill(): void {
    this.#end({ fault: 'undecodable', detail: 'the decoder was stopped' });
  }

  #decode(annexB: Uint8Array): Promise<Buffer | DetectFault> {
    return new Promise((settle) => {
      const timer = setTimeout(
        () => this.#end({ fault: 'undecodable', detail: this.#said || 'ffmpeg made no picture of it' }),
        TIME_LIMIT_MS,
      );
      this.#waiting = { settle, timer };
      try {
        const { stdin } = this.#started();
        stdin.write(annexB);
        if (this.#isAlone) stdin.end();
        else stdin.write(delimiters[this.#options.codec]);
      } catch (fault) {
        this.#end({ fault: 'undecodable', detail: String(fault) });
      }
    });
  }

  #started(): Ffmpeg {
    if (this.#ffmpeg !== null) return this.#ffmpeg;
    const { ffmpegPath } = this.#options;
    const ffmpeg = spawn(ffmpegPath, argumentsFor(this.#options), { stdio: ['pipe', 'pipe', 'pipe'] });
    if (this.#hasStarted) this.restarts += 1;
    this.#hasStarted = true;
    this.#ffmpeg = ffmpeg;
    this.#said = '';
    const isOurs = (): boolean => this.#ffmpeg === ffmpeg;
    ffmpeg.stdin.on('error', () => {});
    ffmpeg.stdout.on('data', (piece: Buffer) => {
      if (isOurs()) this.#onPixels(piece);
    });
    ffmpeg.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (isOurs()) this.#said = (this.#said + text).slice(0, MAX_SAID_BYTES);
    });
    ffmpeg.once('error', (fault: NodeJS.ErrnoException) => {
      const isMissing = fault.code === 'ENOENT' || fault.code === 'EACCES';
      if (isOurs())
        this.#end({ fault: isMissing ? 'ffmpeg_missing' : 'undecodable', detail: `${fault.code}` });
    });
    ffmpeg.once('close', (code, signal) => {
      if (isOurs())
        this.#end({ fault: 'undecodable', detail: this.#said.trim() || `it ended with ${signal ?? code}` });
    });
    return ffmpeg;
  }

  #onPixels(piece: Buffer): void {
    this.#held.push(piece);
    this.#heldBytes += piece.length;
    if (this.#heldBytes < this.#frameBytes) return;
    // More than one picture for one keyframe: what comes next could not be told apart.
    if (this.#heldBytes > this.#frameBytes || this.#waiting === null) {
      this.#end({ fault: 'undecodable', detail: 'ffmpeg made several pictures of it' });
      return;
    }
    const pixels = Buffer.concat(this.#held, this.#frameBytes);
    this.#held = [];
    this.#heldBytes = 0;
    this.#settle(pixels);
    this.#pictures += 1;
    if (this.#pictures % LOOK_EVERY === 0 && residentBytes(this.#ffmpeg?.pid) > MAX_RESIDENT_BYTES)
      this.#end({ fault: 'undecodable', detail: 'it grew too large' });
  }

  #end(fault: DetectFault): void {
    const ffmpeg = this.#ffmpeg;
    this.#ffmpeg = null;
    this.#held = [];
    this.#heldBytes = 0;
    ffmpeg?.kill('SIGKILL');
    ffmpeg?.stdout.destroy();
    this.#settle(fault);
  }

  #settle(outcome: Buffer | DetectFault): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    if (waiting === null) return;
    clearTimeout(waiting.timer);
    waiting.settle(outcome);
  }
}

/** 0 where the system doesn't say. */
const residentBytes = (pid: number | undefined): number => {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES;
  } catch {
    return 0;
  }
};
