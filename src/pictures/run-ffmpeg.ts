import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { ffmpegArguments } from './ffmpeg-arguments.js';
import type { DecodeFault, DecodeJob, DecodeOutcome } from './messages.js';

type Ffmpeg = ChildProcessByStdio<Writable, Readable, Readable>;

const TIME_LIMIT_MS = 10_000;
const MAX_JPEG_BYTES = 32 << 20;
/** Of what it says on its way out, for the log. */
const MAX_SAID_BYTES = 500;

const START_OF_IMAGE = 0xffd8;
const END_OF_IMAGE = 0xffd9;

const isJpeg = (bytes: Buffer): boolean =>
  bytes.length > 4 &&
  bytes.readUInt16BE(0) === START_OF_IMAGE &&
  bytes.readUInt16BE(bytes.length - 2) === END_OF_IMAGE;

const faultOfStart = (fault: NodeJS.ErrnoException): DecodeFault => ({
  fault: fault.code === 'ENOENT' || fault.code === 'EACCES' ? 'missing' : 'unstartable',
  detail: fault.message,
});

/** ffmpeg, a short process for each picture: whatever a camera sends, no more than that falls over it. */
export class FfmpegRuns {
  readonly #path: string;
  readonly #running = new Set<Ffmpeg>();

  constructor(path: string) {
    this.#path = path;
  }

  /** Never rejects. */
  decode({ codec, maxWidth, annexB, box }: DecodeJob): Promise<DecodeOutcome> {
    let ffmpeg: Ffmpeg;
    try {
      // A group of its own: if the path is that of a script, what it started ends with it.
      ffmpeg = spawn(this.#path, ffmpegArguments(codec, maxWidth, box), {
        stdio: ['pipe', 'pipe', 'pipe'],
        detached: true,
      });
    } catch (fault) {
      return Promise.resolve(faultOfStart(fault as NodeJS.ErrnoException));
    }
    return this.#outcomeOf(ffmpeg, annexB);
  }

  /** Ends all that run. */
  kill(): void {
    for (const ffmpeg of this.#running) end(ffmpeg);
  }

  #outcomeOf(ffmpeg: Ffmpeg, annexB: Uint8Array): Promise<DecodeOutcome> {
    return new Promise((resolve) => {
      const pieces: Buffer[] = [];
      let jpegBytes = 0;
      let said = '';
      let ended: DecodeFault | null = null;
      const stop = (fault: DecodeFault): void => {
        ended ??= fault;
        end(ffmpeg);
        // Whoever else holds the other ends isn't waited for.
        ffmpeg.stdout.destroy();
        ffmpeg.stderr.destroy();
      };
      const deadline = setTimeout(
        () => stop({ fault: 'too_slow', detail: `ffmpeg took over ${TIME_LIMIT_MS / 1000} s` }),
        TIME_LIMIT_MS,
      );
      const settle = (outcome: DecodeOutcome): void => {
        clearTimeout(deadline);
        this.#running.delete(ffmpeg);
        resolve(outcome);
      };
      this.#running.add(ffmpeg);
      ffmpeg.once('error', (fault) => settle(faultOfStart(fault)));
      ffmpeg.stdout.on('data', (piece: Buffer) => {
        jpegBytes += piece.length;
        if (jpegBytes > MAX_JPEG_BYTES) stop({ fault: 'undecodable', detail: 'the JPEG is too large' });
        else pieces.push(piece);
      });
      ffmpeg.stderr.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(0, MAX_SAID_BYTES);
      });
      // It may have its picture, or have given up, before it has read all.
      ffmpeg.stdin.on('error', () => {});
      ffmpeg.stdin.end(annexB);
      ffmpeg.once('close', (code, signal) => {
        const jpeg = Buffer.concat(pieces);
        if (ended !== null) settle(ended);
        else if (code === 0 && isJpeg(jpeg)) settle({ jpeg });
        else settle({ fault: 'undecodable', detail: said.trim() || `ffmpeg ended with ${signal ?? code}` });
      });
    });
  }
}

/** With all that it has started. */
const end = ({ pid, exitCode, signalCode }: Ffmpeg): void => {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It ended by itself just now.
  }
};
