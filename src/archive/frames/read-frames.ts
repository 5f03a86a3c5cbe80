import { VIDEO_CLOCK_HZ } from '../../codec/track.js';
import type { FragmentInfo } from '../../fmp4/file-scanner.js';
import type { MovieTrack } from '../../fmp4/movie-reader.js';
import type { SampleColumns } from '../../fmp4/sample-columns.js';
import { FRAME_FLAG, FrameHead } from '../../wire/frame-head.js';
import { wallMsAt } from '../files/file-times.js';
import type { FileWalk } from '../files/file-walk.js';
import { Moved } from '../files/job-result.js';
import {
  type OpenedRecording,
  type RecordingSource,
  unreadable,
  withRecording,
} from '../files/recording-source.js';
import { FrameWriter } from './frame-writer.js';
import { PictureConfig, STREAM, soundConfig } from './stream-config.js';

/** A keyframe and all that follows up to the next one, as a job is told of it. */
export type Gop = {
  readonly startBytes: number;
  readonly endBytes: number;
  /** When its first picture is shown: in the file, in ticks of 90 kHz, and by the wall clock. */
  readonly ptsTicks: number;
  readonly wallMs: number;
  /** The source broke off before it. */
  readonly isBrokenOff: boolean;
};

/** How far an answer is, from job to job. */
export type FramesState = {
  /** Where it goes on: this GOP of the input, its fragment there (0: its first), and so many of that one's samples on. */
  gop: number;
  fragmentBytes: number;
  skipSamples: number;
  /** The frames of pictures and sound that were sent, or lost. */
  videoIndex: number;
  audioIndex: number;
  /** The configs that the client has. */
  videoConfig: Uint8Array | null;
  audioConfig: Uint8Array | null;
};

export const firstState = (): FramesState => ({
  ...{ gop: 0, fragmentBytes: 0, skipSamples: 0, videoIndex: 0, audioIndex: 0 },
  ...{ videoConfig: null, audioConfig: null },
});

export type ReadFramesInput = {
  readonly source: RecordingSource;
  readonly gops: readonly Gop[];
  /** What the wall clock showed where the file's own time begins. */
  readonly originMs: number;
  readonly keysOnly: boolean;
  /** Nothing is wanted that is decoded after this moment of the wall clock; null: all is. */
  readonly untilMs: number | null;
  readonly state: FramesState;
};

export type ReadFramesOutput = {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly state: FramesState;
  readonly isOver: boolean;
};

/** So much is answered at once, and a frame more at most. */
export const BATCH_BYTES = 512 << 10;
const USUAL_BYTES = BATCH_BYTES + (128 << 10);
/** What a fragment's own clock may say beside that of its part before it isn't believed. */
const MAX_WALL_DIFFERENCE_MS = 1_000;

/** Parameter sets that a keyframe brings along lead it. */
const MAX_SETS_BYTES = 8 << 10;

/** A frame of a fragment, on the file's clock. */
type Sample = { readonly track: MovieTrack; readonly columns: SampleColumns; readonly at: number };

const secondsOf = ({ track, columns, at }: Sample): number => columns.dtsTicks[at]! / track.timescaleHz;

/** Job: messages of GOPs of one recording, as many as fit a batch. */
export const readFrames = (input: ReadFramesInput): Moved<ReadFramesOutput> =>
  withRecording(input.source, (recording) => {
    const reader = new FramesReader(input, recording);
    const isOver = reader.readAll();
    const bytes = reader.writer.finish();
    return new Moved({ bytes, state: reader.state, isOver }, [bytes.buffer]);
  });

class FramesReader {
  readonly writer = new FrameWriter(USUAL_BYTES);
  readonly state: FramesState;
  readonly #input: ReadFramesInput;
  readonly #recording: OpenedRecording;
  readonly #walk: FileWalk;
  readonly #pictures: PictureConfig;
  /** The config of the sound; null: none is wanted, or there is none. */
  readonly #sound: Buffer | null;
  readonly #head = new FrameHead();

  constructor(input: ReadFramesInput, recording: OpenedRecording) {
    this.#input = input;
    this.#recording = recording;
    this.state = { ...input.state };
    this.#walk = recording.walk(0, recording.fileBytes);
    const tracks = this.#walk.scanner.movie?.tracks ?? [];
    const video = tracks.find(({ kind }) => kind === 'video');
    if (video === undefined) throw unreadable('it holds no video');
    this.#pictures = new PictureConfig(video);
    const audio = tracks.find(({ kind }) => kind === 'audio');
    this.#sound = audio === undefined || input.keysOnly ? null : soundConfig(audio);
  }

  /** True: that was all. */
  readAll(): boolean {
    const { gops, keysOnly } = this.#input;
    const { state } = this;
    const { scanner } = this.#walk;
    for (; state.gop < gops.length; this.#moveTo(state.gop + 1, 0)) {
      const { startBytes, endBytes } = gops[state.gop]!;
      for (let at = state.fragmentBytes || this.#walk.partStart(startBytes); at < endBytes; ) {
        scanner.skipTo(Math.max(at, scanner.movieEndBytes));
        const fragment = this.#walk.readFirst();
        // A part that is known by its index ends at the next one's moof, behind that one's prft.
        if (fragment === null || fragment.endBytes > endBytes) break;
        const outcome = this.#takeFragment(fragment);
        if (outcome !== 'taken') return outcome === 'over';
        if (keysOnly) break;
        at = fragment.endBytes;
        this.#moveTo(state.gop, at);
      }
    }
    return true;
  }

  #moveTo(gop: number, fragmentBytes: number): void {
    Object.assign(this.state, { gop, fragmentBytes, skipSamples: 0 });
  }

  #takeFragment(fragment: FragmentInfo): 'taken' | 'full' | 'over' {
    const { untilMs, originMs } = this.#input;
    const { state, writer } = this;
    const { isBrokenOff } = this.#gop;
    const isGopStart = state.fragmentBytes === 0;
    const shiftMs = this.#wallShiftMs(fragment);
    const samples = this.#samplesOf(fragment);
    for (; state.skipSamples < samples.length; state.skipSamples += 1) {
      const sample = samples[state.skipSamples]!;
      if (untilMs !== null && originMs + secondsOf(sample) * 1000 + shiftMs > untilMs) return 'over';
      if (writer.filledBytes >= BATCH_BYTES) {
        // The first fragment of a GOP stays that, as long as nothing of it was taken.
        if (!isGopStart || state.skipSamples > 0) state.fragmentBytes = fragment.offsetBytes;
        return 'full';
      }
      this.#add(sample, shiftMs, isBrokenOff && isGopStart && state.skipSamples === 0);
    }
    return 'taken';
  }

  get #gop(): Gop {
    return this.#input.gops[this.state.gop]!;
  }

  /** What the wall clock is off the file's own time there: it may be set, or run wrong, within a file. */
  #wallShiftMs({ wall }: FragmentInfo): number {
    const { originMs } = this.#input;
    const { ptsTicks, wallMs } = this.#gop;
    const byPartMs = wallMs - originMs - (ptsTicks * 1000) / VIDEO_CLOCK_HZ;
    const toldMs = wall === null ? null : wallMsAt(this.#walk.scanner, wall, 0);
    if (toldMs === null || Math.abs(toldMs - originMs - byPartMs) > MAX_WALL_DIFFERENCE_MS) return byPartMs;
    return toldMs - originMs;
  }

  /** Pictures and sound in the order of their times; of keyframes the fragment's first one alone. */
  #samplesOf({ firstSamples, endSamples }: FragmentInfo): Sample[] {
    const { columns, movie } = this.#walk.scanner;
    const samples = (movie?.tracks ?? []).flatMap((track, index) => {
      if (track.kind === 'audio' && this.#sound === null) return [];
      const [first, end] = [firstSamples[index]!, endSamples[index]!];
      return Array.from({ length: end - first }, (_, at) => ({
        track,
        columns: columns[index]!,
        at: first + at,
      }));
    });
    if (this.#input.keysOnly) return samples.slice(0, 1).filter(({ columns, at }) => columns.isKey[at] === 1);
    return samples.sort((a, b) => secondsOf(a) - secondsOf(b));
  }

  #add(sample: Sample, shiftMs: number, isBrokenOff: boolean): void {
    const { track, columns, at } = sample;
    const { state } = this;
    const isVideo = track.kind === 'video';
    const isKey = !isVideo || columns.isKey[at] === 1;
    const [offset, sizeBytes] = [columns.offsetBytes[at]!, columns.sizeBytes[at]!];
    if (!isVideo) this.#describeSound();
    else if (isKey) this.#describePictures(offset, sizeBytes);
    const head = this.#head;
    head.flags = (isKey ? FRAME_FLAG.key : 0) | (isBrokenOff ? FRAME_FLAG.brokeOff : 0);
    head.stream = isVideo ? STREAM.video : STREAM.audio;
    head.index = isVideo ? state.videoIndex++ : state.audioIndex++;
    head.compositionUs = isVideo ? (columns.compositionTicks[at]! * 1e6) / track.timescaleHz : 0;
    head.decodeUs = this.#input.originMs * 1000 + secondsOf(sample) * 1e6;
    head.wallUs = head.decodeUs + head.compositionUs + shiftMs * 1000;
    // A frame that is none is left out, and its index tells.
    this.writer.addFrame(head, sizeBytes, isVideo, (target) => this.#recording.read(target, offset));
  }

  #describePictures(offset: number, sizeBytes: number): void {
    const start = Buffer.allocUnsafe(Math.min(sizeBytes, MAX_SETS_BYTES));
    this.#recording.read(start, offset);
    const message = this.#pictures.messageFor(start);
    if (this.state.videoConfig !== null && message.equals(this.state.videoConfig)) return;
    this.writer.addMessage(message);
    this.state.videoConfig = new Uint8Array(message);
  }

  #describeSound(): void {
    const message = this.#sound;
    if (message === null || (this.state.audioConfig !== null && message.equals(this.state.audioConfig)))
      return;
    this.writer.addMessage(message);
    this.state.audioConfig = new Uint8Array(message);
  }
}
