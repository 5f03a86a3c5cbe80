import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodedHashes } from '../../fmp4/ffmpeg.js';
import { RecordingStudio } from '../recording-studio.js';
import { encodeSource, SourceMovie } from '../source-movie.js';

export const START_MS = Date.parse('2026-11-21T08:30:00.000Z');
export const SECONDS = 120;
const FRAMES_A_SECOND = 25;

/** Two minutes of a camera that is recorded by events, in files of half a minute; a GOP lasts a second. */
export class TwoMinutes {
  readonly names: readonly string[];
  readonly #folder: string;
  readonly #recordings: string;
  readonly #hashes: readonly string[];

  private constructor(folder: string, studio: RecordingStudio, hashes: readonly string[]) {
    this.#folder = folder;
    this.#recordings = studio.folder;
    this.names = studio.files;
    this.#hashes = hashes;
  }

  /** Recorded once for all tests of a file. */
  static async record(): Promise<TwoMinutes> {
    const folder = mkdtempSync(join(tmpdir(), 'framering-'));
    const path = encodeSource(folder, { codec: 'h264', seconds: SECONDS, framesPerGop: 25, withAudio: true });
    const studio = new RecordingStudio(folder, 30);
    studio.recorders.setRecorded('door', true, 'events');
    await studio.play(new SourceMovie(path, START_MS), Number.POSITIVE_INFINITY);
    await studio.finish();
    return new TwoMinutes(folder, studio, decodedHashes(path, 'v'));
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Makes a camera's folder that has all of it. */
  copyTo(folder: string): void {
    mkdirSync(folder, { recursive: true });
    for (const name of this.names) copyFileSync(join(this.#recordings, name), join(folder, name));
  }

  /** The frames of some seconds, as ffmpeg hashes them. */
  seconds(fromSec: number, toSec: number): readonly string[] {
    return this.#hashes.slice(fromSec * FRAMES_A_SECOND, toSec * FRAMES_A_SECOND);
  }
}
