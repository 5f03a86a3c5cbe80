import { writeFragmentHead } from './fragment-boxes.js';
import { FragmentTrack, type FragmentTrackOptions } from './fragment-track.js';
import { SampleColumns } from './sample-columns.js';

const MAX_U32 = 0xffff_ffff;
const MAX_I32 = 0x7fff_ffff;
/** trun's data_offset is signed 32-bit: what it points at must begin below 2 GB, the head included. */
const MAX_DATA_BYTES = 0x7000_0000;
const PRFT_BYTES = 32;
const MOOF_AND_MFHD_BYTES = 8 + 16;
const TRAF_TFHD_TFDT_BYTES = 8 + 16 + 20;
const TRUN_HEAD_BYTES = 20;
const MDAT_HEAD_BYTES = 8;
const VIDEO_ENTRY_BYTES = 16;
const AUDIO_ENTRY_BYTES = 8;

/**
 * Collects the numbers of a fragment's samples and writes what comes before their bytes: prft, moof and the head
 * of mdat. The caller writes the samples right behind, in the order in which they were added.
 */
export class FragmentBuilder {
  /** Bytes of the samples of the open fragment. */
  dataBytes = 0;
  readonly #tracks: readonly FragmentTrack[];
  readonly #samples = new SampleColumns();
  #sequence = 1;
  #lastTrack = -1;
  #wallMs = -1;
  #wallTicks = 0;

  constructor(tracks: readonly FragmentTrackOptions[]) {
    this.#tracks = tracks.map((options) => new FragmentTrack(options));
  }

  get sampleCount(): number {
    return this.#samples.count;
  }

  /** What `finish` will write. */
  get headBytes(): number {
    let lengthBytes = (this.#wallMs < 0 ? 0 : PRFT_BYTES) + MOOF_AND_MFHD_BYTES + MDAT_HEAD_BYTES;
    for (let index = 0; index < this.#tracks.length; index += 1) {
      const track = this.#tracks[index]!;
      if (track.samples === 0) continue;
      const entryBytes = track.isVideo ? VIDEO_ENTRY_BYTES : AUDIO_ENTRY_BYTES;
      lengthBytes += TRAF_TFHD_TFDT_BYTES + track.runs * TRUN_HEAD_BYTES + track.samples * entryBytes;
    }
    return lengthBytes;
  }

  /**
   * Adds a sample. False: it can't stand in this file or fragment (before the origin, not after its predecessor,
   * further from it than 32 bits can tell, empty, or past 1.8 GB) and nothing was added.
   */
  add(track: number, dtsTicks: number, ptsTicks: number, sizeBytes: number, isKey: boolean): boolean {
    const state = this.#tracks[track]!;
    const ticks = dtsTicks - state.originTicks;
    const composition = ptsTicks - dtsTicks;
    const gap = ticks - state.lastDtsTicks;
    if (!(ticks >= 0 && gap > 0 && gap <= MAX_U32)) return false;
    if (!(composition >= -MAX_I32 && composition <= MAX_I32)) return false;
    if (!(sizeBytes > 0 && this.dataBytes + sizeBytes <= MAX_DATA_BYTES)) return false;
    const samples = this.#samples;
    const index = samples.push();
    if (state.lastIndex >= 0) samples.durationTicks[state.lastIndex] = gap;
    else state.firstDtsTicks = ticks;
    if (state.lastDtsTicks >= 0) state.lastDurationTicks = gap;
    samples.track[index] = track;
    samples.dtsTicks[index] = ticks;
    samples.compositionTicks[index] = composition;
    samples.sizeBytes[index] = sizeBytes;
    samples.isKey[index] = isKey ? 1 : 0;
    state.lastDtsTicks = ticks;
    state.lastIndex = index;
    state.samples += 1;
    if (this.#lastTrack !== track) state.runs += 1;
    this.#lastTrack = track;
    this.dataBytes += sizeBytes;
    return true;
  }

  /** Says that the moment `ptsTicks` of the first track was at `wallMs`; goes into this fragment's prft. */
  setWall(wallMs: number, ptsTicks: number): void {
    const ticks = ptsTicks - this.#tracks[0]!.originTicks;
    if (!(wallMs >= 0 && ticks >= 0)) return;
    this.#wallMs = wallMs;
    this.#wallTicks = ticks;
  }

  /**
   * Writes the head of the fragment to `target` from `start` on and begins the next fragment. Returns where it
   * ended. `endTicks`, for each track: the decode time of the frame that comes next, or NaN where that isn't
   * known; then the last sample lasts as long as the one before it, and the next fragment's tfdt corrects it.
   */
  finish(target: Buffer, start: number, endTicks: ArrayLike<number>): number {
    if (start + this.headBytes > target.length) throw new RangeError('the head outgrows the target');
    for (let index = 0; index < this.#tracks.length; index += 1) {
      const track = this.#tracks[index]!;
      if (track.lastIndex < 0) continue;
      const gap = (endTicks[index] ?? Number.NaN) - track.originTicks - track.lastDtsTicks;
      this.#samples.durationTicks[track.lastIndex] =
        gap > 0 && gap <= MAX_U32 ? gap : track.lastDurationTicks;
    }
    const end = writeFragmentHead(target, start, {
      tracks: this.#tracks,
      samples: this.#samples,
      sequence: this.#sequence,
      wallMs: this.#wallMs,
      wallTicks: this.#wallTicks,
      dataBytes: this.dataBytes,
      headBytes: this.headBytes,
    });
    this.#sequence = (this.#sequence % MAX_U32) + 1;
    this.#clear();
    return end;
  }

  #clear(): void {
    this.#samples.count = 0;
    this.dataBytes = 0;
    this.#lastTrack = -1;
    this.#wallMs = -1;
    for (const track of this.#tracks) track.clear();
  }
}
