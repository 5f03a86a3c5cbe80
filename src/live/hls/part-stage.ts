import { type AudioTrackInfo, VIDEO_CLOCK_HZ } from '../../codec/track.js';
import { blockSamplesAt } from '../../flac/stream-info.js';
import { FragmentBuilder } from '../../fmp4/fragment.js';
import { AUDIO_TRACK_ID, VIDEO_TRACK_ID } from '../../fmp4/init-segment.js';
import { START_OFFSET_TICKS } from '../../mpegts/timestamp.js';
import type { RingReader } from '../../ring/reader.js';
import { type Head, type Part, SAMPLE_FIELDS, sampleField, sampleKind } from './segment.js';

const VIDEO = 0;
const AUDIO = 1;
const USUAL_FRAME_TICKS = VIDEO_CLOCK_HZ / 25;
/** Of an AAC frame; Opus packets of 20 ms are about as long. */
const USUAL_AUDIO_TICKS = 1024;

const usualAudioTicks = ({ codec, clockRateHz }: AudioTrackInfo): number =>
  codec === 'flac' ? blockSamplesAt(clockRateHz) : USUAL_AUDIO_TICKS;

/** Times begin where those of MPEG-TS do, so no track's is ever below zero. */
const builderFor = ({ info: { video, audio } }: Head): FragmentBuilder => {
  const tracks = [
    {
      trackId: VIDEO_TRACK_ID,
      kind: 'video',
      originTicks: -START_OFFSET_TICKS,
      usualDurationTicks: video.frameRateHz ? VIDEO_CLOCK_HZ / video.frameRateHz : USUAL_FRAME_TICKS,
    } as const,
  ];
  if (audio === null) return new FragmentBuilder(tracks);
  const originTicks = (-START_OFFSET_TICKS * audio.clockRateHz) / VIDEO_CLOCK_HZ;
  return new FragmentBuilder([
    ...tracks,
    { trackId: AUDIO_TRACK_ID, kind: 'audio', originTicks, usualDurationTicks: usualAudioTicks(audio) },
  ]);
};

/** Where frames gather until they are a part. Its memory is used again and again. */
export class PartStage {
  pictures = 0;
  lengthBytes = 0;
  #bytes = Buffer.allocUnsafeSlow(1 << 16);
  #samples = new Float64Array(32 * SAMPLE_FIELDS);
  #count = 0;
  #hasKey = false;
  #builder: FragmentBuilder | null = null;
  readonly #endTicks = new Float64Array(2);

  /** Frames of another description, or of a time that doesn't follow, come next. Drops what is gathered. */
  restart(head: Head): void {
    this.#builder = builderFor(head);
    this.#clear();
  }

  /** Copies the reader's picture. False: it isn't there any more, or can't stand behind the last one. */
  addVideo(reader: RingReader): boolean {
    const kind = reader.isKey ? sampleKind.key : sampleKind.picture;
    if (!this.#add(reader, VIDEO, kind)) return false;
    this.pictures += 1;
    this.#hasKey ||= reader.isKey;
    return true;
  }

  /** Copies the reader's audio frame, unless it is gone or goes back in time. */
  addAudio(reader: RingReader): boolean {
    return this.#add(reader, AUDIO, sampleKind.audio);
  }

  /** What has gathered, and when each track goes on: NaN where that isn't known, or doesn't follow in time. */
  take(durationTicks: number, nextDtsTicks: number, nextAudioTicks: number): Part {
    const builder = this.#builder!;
    const { headBytes } = builder;
    const bytes = Buffer.allocUnsafeSlow(headBytes + this.lengthBytes);
    this.#endTicks[VIDEO] = nextDtsTicks;
    this.#endTicks[AUDIO] = nextAudioTicks;
    builder.finish(bytes, 0, this.#endTicks);
    this.#bytes.copy(bytes, headBytes, 0, this.lengthBytes);
    const samples = this.#samples.slice(0, this.#count * SAMPLE_FIELDS);
    for (let at = 0; at < samples.length; at += SAMPLE_FIELDS) {
      samples[at + sampleField.start]! += headBytes;
      samples[at + sampleField.end]! += headBytes;
    }
    const part = { bytes, samples, durationTicks, hasKey: this.#hasKey };
    this.#clear();
    return part;
  }

  #add(reader: RingReader, track: number, kind: number): boolean {
    const { dtsTicks, ptsTicks, lengthBytes } = reader;
    const start = this.lengthBytes;
    const end = start + lengthBytes;
    this.#reserve(lengthBytes);
    if (!reader.copyTo(this.#bytes, start)) return false;
    if (!this.#builder!.add(track, dtsTicks, ptsTicks, lengthBytes, kind === sampleKind.key)) return false;
    const at = this.#count * SAMPLE_FIELDS;
    const samples = this.#samples;
    samples[at + sampleField.start] = start;
    samples[at + sampleField.end] = end;
    samples[at + sampleField.dts] = dtsTicks;
    samples[at + sampleField.pts] = ptsTicks;
    samples[at + sampleField.kind] = kind;
    this.#count += 1;
    this.lengthBytes = end;
    return true;
  }

  /** Makes room for one more frame. */
  #reserve(frameBytes: number): void {
    const neededBytes = this.lengthBytes + frameBytes;
    if (neededBytes > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(neededBytes, this.#bytes.length * 2));
      this.#bytes.copy(larger, 0, 0, this.lengthBytes);
      this.#bytes = larger;
    }
    if ((this.#count + 1) * SAMPLE_FIELDS > this.#samples.length) {
      const larger = new Float64Array(this.#samples.length * 2);
      larger.set(this.#samples);
      this.#samples = larger;
    }
  }

  #clear(): void {
    this.pictures = 0;
    this.lengthBytes = 0;
    this.#count = 0;
    this.#hasKey = false;
  }
}
