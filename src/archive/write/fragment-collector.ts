import type { AudioTrackInfo, StreamInfo } from '../../codec/track.js';
import { VIDEO_CLOCK_HZ } from '../../codec/track.js';
import { keptSound } from '../../flac/flac-track.js';
import { blockSamplesAt } from '../../flac/stream-info.js';
import { FragmentBuilder } from '../../fmp4/fragment.js';
import type { FragmentTrackOptions } from '../../fmp4/fragment-track.js';
import { AUDIO_TRACK_ID, VIDEO_TRACK_ID } from '../../fmp4/init-segment.js';
import type { HeldFrames } from '../../ring/held-frames.js';
import type { RingReader } from '../../ring/reader.js';

/** A moof and its samples, ready to be written: the samples still lie in the ring. */
export type Fragment = {
  readonly head: Buffer;
  /** The samples. */
  readonly frames: HeldFrames;
  /** Of both. */
  readonly lengthBytes: number;
  readonly videoFrames: number;
  /** When its first frame came. */
  readonly firstArrivalMs: number;
  /** When its first picture is shown, in the file's time, if it begins a part; else null. */
  readonly partPtsTicks: number | null;
  /** Where its moof begins, behind prft. */
  readonly moofStart: number;
  /** Decode time of its last video frame, in the ring's media time. */
  readonly endDtsTicks: number;
  /** How long the file's video is with it, and what the wall clock said at its end. */
  readonly videoMs: number;
  readonly endWallMs: number;
};

const VIDEO = 0;
const AUDIO = 1;
const USUAL_FRAME_TICKS = VIDEO_CLOCK_HZ / 25;
const OPUS_FRAME_TICKS = 960;
const AAC_FRAME_TICKS = 1024;

const usualAudioTicks = ({ codec, clockRateHz }: AudioTrackInfo): number => {
  if (codec === 'flac') return blockSamplesAt(clockRateHz);
  return codec === 'opus' ? OPUS_FRAME_TICKS : AAC_FRAME_TICKS;
};

/** What of a stream is recorded. */
export const recordable = (info: StreamInfo): StreamInfo => ({ ...info, audio: keptSound(info.audio) });

const tracksFor = ({ audio }: StreamInfo, originTicks: number): FragmentTrackOptions[] => {
  const video: FragmentTrackOptions = {
    trackId: VIDEO_TRACK_ID,
    kind: 'video',
    originTicks,
    usualDurationTicks: USUAL_FRAME_TICKS,
  };
  if (audio === null) return [video];
  return [
    video,
    {
      trackId: AUDIO_TRACK_ID,
      kind: 'audio',
      originTicks: Math.round((originTicks * audio.clockRateHz) / VIDEO_CLOCK_HZ),
      usualDurationTicks: usualAudioTicks(audio),
    },
  ];
};

/** Collects the frames of one file into fragments; a frame costs its numbers. */
export class FragmentCollector {
  /** Of the last video frame that was added. */
  lastDtsTicks: number;
  readonly #originTicks: number;
  readonly hasAudio: boolean;
  readonly #audioOriginTicks: number;
  readonly #builder: FragmentBuilder;
  /** Decode time of the frame that ends a fragment, for each track; of the audio it isn't known. */
  readonly #endTicks = new Float64Array([Number.NaN, Number.NaN]);
  #frames: HeldFrames | null = null;
  #videoFrames = 0;
  #firstDtsTicks = 0;
  #firstArrivalMs = 0;
  #partPtsTicks: number | null = null;
  #lastWallMs = 0;
  #frameTicks = USUAL_FRAME_TICKS;
  /** Where the last fragment with pictures ended. */
  #endDtsTicks: number;

  /** `originTicks`: the decode time of the first video frame, which is 0 in the file. */
  constructor(info: StreamInfo, originTicks: number) {
    this.#originTicks = originTicks;
    this.lastDtsTicks = originTicks;
    this.#endDtsTicks = originTicks;
    const tracks = tracksFor(info, originTicks);
    this.hasAudio = info.audio !== null;
    this.#audioOriginTicks = tracks[AUDIO]?.originTicks ?? Number.NEGATIVE_INFINITY;
    this.#builder = new FragmentBuilder(tracks);
  }

  /** When the first frame of the open fragment came; infinite if there is none. */
  get firstArrivalMs(): number {
    return this.#frames === null ? Number.POSITIVE_INFINITY : this.#firstArrivalMs;
  }

  /** How long the open fragment is when a frame with this decode time comes next. */
  spanTicks(nextDtsTicks: number): number {
    return this.#videoFrames === 0 ? 0 : nextDtsTicks - this.#firstDtsTicks;
  }

  /** Adds the reader's current video frame. False: its times can't stand in this file. */
  video(frame: RingReader): boolean {
    const { dtsTicks, ptsTicks, isKey } = frame;
    if (!this.#builder.add(VIDEO, dtsTicks, ptsTicks, frame.lengthBytes, isKey)) return false;
    if (this.#videoFrames === 0) {
      this.#firstDtsTicks = dtsTicks;
      this.#partPtsTicks = isKey ? ptsTicks - this.#originTicks : null;
      this.#builder.setWall(frame.wallMs, ptsTicks);
    }
    if (dtsTicks > this.lastDtsTicks) this.#frameTicks = dtsTicks - this.lastDtsTicks;
    this.lastDtsTicks = dtsTicks;
    this.#lastWallMs = frame.wallMs;
    this.#videoFrames += 1;
    this.#keep(frame);
    return true;
  }

  /** Whether the reader's current audio frame belongs to a file that ended where this one began. */
  isBefore(frame: RingReader): boolean {
    return frame.ptsTicks < this.#audioOriginTicks;
  }

  /** Adds the reader's current audio frame, if the file has audio and its time can stand in it. */
  audio(frame: RingReader): void {
    if (!this.hasAudio) return;
    if (this.#builder.add(AUDIO, frame.ptsTicks, frame.ptsTicks, frame.lengthBytes, true)) this.#keep(frame);
  }

  /** Ends the open fragment. `nextDtsTicks`: the decode time of the video frame that follows, NaN if unknown. */
  cut(nextDtsTicks: number): Fragment | null {
    const frames = this.#frames;
    if (frames === null) return null;
    this.#endTicks[VIDEO] = nextDtsTicks;
    if (this.#videoFrames > 0) {
      const isNextKnown = nextDtsTicks > this.lastDtsTicks;
      this.#endDtsTicks = isNextKnown ? nextDtsTicks : this.lastDtsTicks + this.#frameTicks;
    }
    const head = Buffer.allocUnsafe(this.#builder.headBytes);
    this.#builder.finish(head, 0, this.#endTicks);
    const fragment: Fragment = {
      head,
      frames,
      lengthBytes: head.length + frames.lengthBytes,
      videoFrames: this.#videoFrames,
      firstArrivalMs: this.#firstArrivalMs,
      partPtsTicks: this.#partPtsTicks,
      moofStart: head.toString('latin1', 4, 8) === 'prft' ? head.readUInt32BE(0) : 0,
      endDtsTicks: this.lastDtsTicks,
      videoMs: ((this.#endDtsTicks - this.#originTicks) * 1000) / VIDEO_CLOCK_HZ,
      endWallMs: this.#lastWallMs + ((this.#endDtsTicks - this.lastDtsTicks) * 1000) / VIDEO_CLOCK_HZ,
    };
    this.#frames = null;
    this.#videoFrames = 0;
    this.#partPtsTicks = null;
    return fragment;
  }

  #keep(frame: RingReader): void {
    if (this.#frames === null) this.#firstArrivalMs = frame.arrivalMs;
    this.#frames = frame.hold(this.#frames);
  }
}
