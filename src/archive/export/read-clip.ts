import { Moved } from '../files/job-result.js';
import {
  changed,
  type OpenedRecording,
  type RecordingSource,
  withRecording,
} from '../files/recording-source.js';
import { keptSamples, type SoundLimits, type TrackKind } from './clip-layout.js';

export type ReadClipInput = {
  readonly source: RecordingSource;
  /** Where fragments are whose samples follow each other in the clip. */
  readonly offsets: Float64Array;
  readonly kinds: readonly TrackKind[];
  readonly sound: SoundLimits | null;
  /** Of these samples, so many bytes behind the first so many. */
  readonly skipBytes: number;
  readonly lengthBytes: number;
};

/** What one answer may hold: callers ask for no more. */
export const MAX_PIECE_BYTES = 1 << 20;
/** What is read of a fragment at once: usual ones have half a megabyte. */
const SCRATCH_BYTES = 2 << 20;
/** One a thread, since new memory costs as much as reading into it. */
const scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);

/** Job: bytes of a clip that come from one recording. */
export const readClip = (input: ReadClipInput): Moved<Uint8Array<ArrayBuffer>> =>
  withRecording(input.source, (recording) => {
    if (input.lengthBytes > MAX_PIECE_BYTES) throw new RangeError('a piece over its limit');
    const reader = new SampleReader(recording, input.skipBytes, input.lengthBytes);
    const walk = recording.walk(0, recording.fileBytes);
    for (const offset of input.offsets) {
      walk.scanner.skipTo(offset);
      const fragment = walk.readFirst();
      if (fragment?.offsetBytes !== offset) throw changed('a fragment is gone');
      for (const kept of keptSamples(walk.scanner, fragment, input.kinds, input.sound)) {
        if (kept === null) continue;
        const { offsetBytes, sizeBytes } = kept.columns;
        for (let at = kept.first; at < kept.end; at += 1) reader.add(offsetBytes[at]!, sizeBytes[at]!);
      }
      reader.read();
    }
    const memory = reader.finish();
    return new Moved(memory, [memory.buffer]);
  });

/** Reads samples one behind another: those of a fragment at once, since pictures and sound lie between each other. */
class SampleReader {
  readonly #recording: OpenedRecording;
  readonly #memory: Buffer<ArrayBuffer>;
  #skipBytes: number;
  #filledBytes = 0;
  /** Where what is wanted of the fragment begins and ends, in turns. */
  #borders: number[] = [];
  #wantedBytes = 0;

  constructor(recording: OpenedRecording, skipBytes: number, lengthBytes: number) {
    this.#recording = recording;
    this.#skipBytes = skipBytes;
    this.#memory = Buffer.from(new ArrayBuffer(lengthBytes));
  }

  add(offset: number, lengthBytes: number): void {
    const skipped = Math.min(this.#skipBytes, lengthBytes);
    this.#skipBytes -= skipped;
    const room = this.#memory.length - this.#filledBytes - this.#wantedBytes;
    const count = Math.min(lengthBytes - skipped, room);
    if (count === 0) return;
    const start = offset + skipped;
    if (this.#borders.at(-1) === start) this.#borders.pop();
    else this.#borders.push(start);
    this.#borders.push(start + count);
    this.#wantedBytes += count;
  }

  /** Reads what was added. */
  read(): void {
    const borders = this.#borders;
    let [first, last] = [Number.POSITIVE_INFINITY, 0];
    for (const border of borders) [first, last] = [Math.min(first, border), Math.max(last, border)];
    // A large fragment's samples, and a hostile file's, which lie anywhere, are read one by one.
    const isAtOnce = borders.length > 2 && last - first <= SCRATCH_BYTES;
    if (isAtOnce) this.#recording.read(scratch.subarray(0, last - first), first);
    for (let index = 0; index < borders.length; index += 2) {
      const [from, to] = [borders[index]!, borders[index + 1]!];
      if (isAtOnce) scratch.copy(this.#memory, this.#filledBytes, from - first, to - first);
      else
        this.#recording.read(this.#memory.subarray(this.#filledBytes, this.#filledBytes + to - from), from);
      this.#filledBytes += to - from;
    }
    this.#borders = [];
    this.#wantedBytes = 0;
  }

  finish(): Uint8Array<ArrayBuffer> {
    if (this.#filledBytes < this.#memory.length) throw changed('it has less in it');
    return new Uint8Array(this.#memory.buffer);
  }
}
