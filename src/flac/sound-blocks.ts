import type { Ticks } from '../base/clock.js';
import type { AudioTrackInfo } from '../codec/track.js';
import { FlacFrameEncoder } from './frame-encoder.js';
import { type SampleBytes, sampleBytesOf } from './sample-bytes.js';
import { blockSamplesAt, fewestInBlock, fitsFlac } from './stream-info.js';

/** What packets may be off the time that the samples before them say: 10 ms. A lost packet is more. */
const TOLERANCE_SEC = 0.01;
/** Frames are numbered by 36 bits. */
const MAX_SAMPLE_NUMBER = 2 ** 36;

/** Whom frames go to: they lie in `bytes[0, lengthBytes)` during the call only. */
export interface FlacSink {
  flacFrame(bytes: Buffer, lengthBytes: number, ptsTicks: Ticks, isDiscontinuity: boolean): void;
}

/**
 * Gathers a camera's samples into blocks and gives them on as FLAC frames, each at the time of its first sample. What
 * breaks off (a lost packet, a clock that jumps) ends a block early, so that sound stays where its picture is.
 */
export class SoundBlocks {
  readonly #sink: FlacSink;
  readonly #samples: SampleBytes;
  readonly #encoder: FlacFrameEncoder;
  readonly #blockSamples: number;
  readonly #toleranceTicks: number;
  /** Samples of each channel in the open block, and when its first one is heard. */
  #count = 0;
  #ptsTicks = Number.NaN as Ticks;
  #isDiscontinuity = false;
  #lastPtsTicks = Number.NEGATIVE_INFINITY;
  #nextSample = 0;

  private constructor(track: AudioTrackInfo, samples: SampleBytes, sink: FlacSink) {
    const { channels, clockRateHz: sampleRateHz } = track;
    this.#sink = sink;
    this.#samples = samples;
    this.#blockSamples = blockSamplesAt(sampleRateHz);
    this.#encoder = new FlacFrameEncoder({ channels, sampleRateHz }, this.#blockSamples);
    this.#toleranceTicks = sampleRateHz * TOLERANCE_SEC;
  }

  /** Null: MP4 carries the track as it is, or FLAC can't. */
  static of(track: AudioTrackInfo, sink: FlacSink): SoundBlocks | null {
    const samples = sampleBytesOf(track.codec);
    const isFit = fitsFlac({ channels: track.channels, sampleRateHz: track.clockRateHz });
    return samples !== null && isFit ? new SoundBlocks(track, samples, sink) : null;
  }

  /** Takes the samples `source[start, end)` of all channels in turn, the first of which is heard at `ptsTicks`. */
  add(source: Buffer, start: number, end: number, ptsTicks: Ticks, isDiscontinuity: boolean): void {
    const { channels } = this.#encoder;
    const { bytes, read } = this.#samples;
    const count = Math.floor((end - start) / (bytes * channels.length));
    const offTicks = ptsTicks - (this.#ptsTicks + this.#count);
    if (isDiscontinuity || Math.abs(offTicks) > this.#toleranceTicks) this.flush();
    this.#isDiscontinuity ||= isDiscontinuity;
    for (let taken = 0; taken < count; ) {
      if (this.#count === 0) this.#ptsTicks = Math.max(ptsTicks + taken, this.#lastPtsTicks + 1) as Ticks;
      const run = Math.min(count - taken, this.#blockSamples - this.#count);
      for (let channel = 0; channel < channels.length; channel += 1) {
        const samples = channels[channel]!;
        let at = start + (taken * channels.length + channel) * bytes;
        for (let sample = this.#count; sample < this.#count + run; sample += 1) {
          samples[sample] = read(source, at);
          at += channels.length * bytes;
        }
      }
      taken += run;
      this.#count += run;
      if (this.#count === this.#blockSamples) this.#end();
    }
  }

  /** Nothing follows the last sample. */
  flush(): void {
    if (this.#count === 0) return;
    for (; this.#count < fewestInBlock; this.#count += 1)
      for (const channel of this.#encoder.channels) channel[this.#count] = channel[this.#count - 1]!;
    this.#end();
  }

  #end(): void {
    const count = this.#count;
    const isDiscontinuity = this.#isDiscontinuity;
    const lengthBytes = this.#encoder.encode(count, this.#nextSample);
    this.#nextSample = (this.#nextSample + count) % MAX_SAMPLE_NUMBER;
    this.#lastPtsTicks = this.#ptsTicks;
    this.#count = 0;
    this.#isDiscontinuity = false;
    this.#sink.flacFrame(this.#encoder.bytes, lengthBytes, this.#ptsTicks, isDiscontinuity);
  }
}
