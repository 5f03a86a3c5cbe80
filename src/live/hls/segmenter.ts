import { isSameSound, type StreamInfo, VIDEO_CLOCK_HZ } from '../../codec/track.js';
import { keptSound } from '../../flac/flac-track.js';
import { buildInitSegment } from '../../fmp4/init-segment.js';
import type { RingReader } from '../../ring/reader.js';
import { PartStage } from './part-stage.js';
import type { Head } from './segment.js';
import { type SegmentWindow, TARGET_DURATION_SEC } from './window.js';

const TARGET_TICKS = TARGET_DURATION_SEC * VIDEO_CLOCK_HZ;
/** A camera that sends no keyframe for this long, or this much, gets its segments cut elsewhere. */
const MAX_SEGMENT_TICKS = 30 * VIDEO_CLOCK_HZ;
const MAX_SEGMENT_BYTES = 32 << 20;
/** A part ends early before it outgrows this. */
const MAX_PART_BYTES = 4 << 20;
/** Frames further apart than this don't follow from each other. */
const MAX_STEP_TICKS = 5 * VIDEO_CLOCK_HZ;

/** Cuts a camera's frames into parts and segments. */
export class Segmenter {
  /** Frames that could not be given to any player. */
  refusedFrames = 0;
  readonly #window: SegmentWindow;
  readonly #stage = new PartStage();
  #head: Head | null = null;
  /** Of the open segment's first frame; frames with other parameter sets bring them along. */
  #formatVersion = -1;
  /** Of an audio frame whose description was compared with that of the segment. */
  #audioVersion = -1;
  #isAudioFit = false;
  #nextAudioTicks = Number.NaN;
  #isAudioBroken = false;
  #audioClockHz = 1;
  /** Where the pictures begin that follow each other until now. */
  #runStartSec = 0;
  /** What comes next doesn't follow from what was there: the next keyframe begins anew. */
  #isBroken: boolean;
  #isOpen = false;
  #firstDtsTicks = 0;
  #partDtsTicks = 0;
  #lastDtsTicks = Number.NaN;
  #lastKeyTicks = 0;
  /** In the open segment. */
  #pictures = 0;
  /** From the last picture but one to the last. */
  #stepTicks = VIDEO_CLOCK_HZ / 25;

  /** `isResumed`: players may remember segments from before. */
  constructor(window: SegmentWindow, isResumed: boolean) {
    this.#window = window;
    this.#isBroken = isResumed;
  }

  /** Takes the frame that the reader stands at. `nextAudioTicks`: when audio goes on behind it, or NaN. */
  accept(reader: RingReader, nextAudioTicks: number): void {
    this.#nextAudioTicks = nextAudioTicks;
    if (reader.isAudio) this.#audio(reader);
    else this.#video(reader);
  }

  /** The stream has come to an end; a keyframe may begin another. */
  end(): void {
    this.#endSegment(Number.NaN);
    this.#isBroken = true;
    this.#lastDtsTicks = Number.NaN;
  }

  #video(reader: RingReader): void {
    const stepTicks = reader.dtsTicks - this.#lastDtsTicks;
    const isLate = stepTicks <= 0 || stepTicks > MAX_STEP_TICKS;
    // A clock that jumps between keyframes has been set right on its way here: the picture still follows.
    if (reader.gapBefore > 0 || isLate || (reader.discontinuity && reader.isKey)) this.end();
    else if (stepTicks > 0) this.#stepTicks = stepTicks;
    if (this.#pictures === 1) this.#window.fitParts(this.#stepTicks);
    if (!this.#place(reader)) return;
    if (!this.#stage.addVideo(reader)) {
      this.refusedFrames += 1;
      this.end();
      return;
    }
    this.#pictures += 1;
    this.#lastDtsTicks = reader.dtsTicks;
    if (reader.isKey) this.#lastKeyTicks = reader.dtsTicks;
  }

  #audio(reader: RingReader): void {
    // What follows belongs to pictures that are still to come: in this segment it would last until then.
    this.#isAudioBroken ||= reader.discontinuity;
    if (this.#isAudioBroken || !this.#isOpen || !this.#fitsAudio(reader)) return;
    // Sound from before the first picture would make players look for one there.
    const seconds = reader.ptsTicks / this.#audioClockHz;
    const isFar = seconds * VIDEO_CLOCK_HZ > this.#lastDtsTicks + MAX_STEP_TICKS;
    if (seconds < this.#runStartSec || isFar) return;
    // Pictures alone end a part: without any, audio must not gather for ever.
    const isFull = this.#stage.lengthBytes + reader.lengthBytes > MAX_PART_BYTES;
    if (isFull || !this.#stage.addAudio(reader)) this.refusedFrames += 1;
  }

  /** Whether the audio is what the segment's head says. */
  #fitsAudio(reader: RingReader): boolean {
    const version = reader.formatVersion;
    if (version !== this.#audioVersion) {
      this.#audioVersion = version;
      const audio = keptSound(reader.formatInfo()?.audio ?? null);
      this.#audioClockHz = audio?.clockRateHz ?? 1;
      this.#isAudioFit = audio !== null && isSameSound(audio, this.#head?.info.audio ?? null);
    }
    return this.#isAudioFit;
  }

  /** Ends parts and segments that are over before this picture. False: it can't be used. */
  #place(reader: RingReader): boolean {
    const { dtsTicks } = reader;
    if (!this.#isOpen) return reader.isKey && this.#begin(reader);
    if (this.#isSegmentOver(reader)) {
      this.#endSegment(dtsTicks);
      return this.#begin(reader);
    }
    const isPartOver = dtsTicks + this.#stepTicks - this.#partDtsTicks > this.#window.partTicks;
    if (isPartOver || this.#stage.lengthBytes + reader.lengthBytes > MAX_PART_BYTES) this.#endPart(dtsTicks);
    return true;
  }

  #isSegmentOver(reader: RingReader): boolean {
    const elapsedTicks = reader.dtsTicks - this.#firstDtsTicks;
    if (reader.isKey) {
      if (reader.formatVersion !== this.#formatVersion) return true;
      // At the keyframe that is nearest to the target, supposing that the next one is as far as the last.
      return elapsedTicks + (reader.dtsTicks - this.#lastKeyTicks) / 2 >= TARGET_TICKS;
    }
    const lengthBytes = (this.#window.open?.lengthBytes ?? 0) + this.#stage.lengthBytes;
    return elapsedTicks >= MAX_SEGMENT_TICKS || lengthBytes + reader.lengthBytes > MAX_SEGMENT_BYTES;
  }

  #begin(reader: RingReader): boolean {
    const info = reader.formatInfo();
    const before = this.#head;
    if (info === null || !this.#describe(info, reader)) {
      this.refusedFrames += 1;
      this.end();
      return false;
    }
    const head = this.#head!;
    const isDiscontinuity = this.#isBroken || (before !== null && before.init !== head.init);
    const { isKey, ptsTicks, dtsTicks, wallMs } = reader;
    if (isDiscontinuity || before === null) {
      this.#stage.restart(head);
      this.#runStartSec = ptsTicks / VIDEO_CLOCK_HZ;
    }
    this.#window.begin({ head, isKey, ptsTicks, dtsTicks, wallMs, isDiscontinuity });
    this.#isBroken = false;
    this.#isAudioBroken = false;
    this.#isOpen = true;
    this.#firstDtsTicks = dtsTicks;
    this.#partDtsTicks = dtsTicks;
    this.#pictures = 0;
    return true;
  }

  /** Takes over a description, if it is another. False: there is no decoder for it. */
  #describe(info: StreamInfo, { formatVersion }: RingReader): boolean {
    // Another ring counts its formats anew, and what comes from it is broken off.
    if (formatVersion === this.#formatVersion && this.#head !== null && !this.#isBroken) return true;
    const playable = { video: info.video, audio: keptSound(info.audio) };
    const bytes = initSegmentOf(playable);
    if (bytes === null) return false;
    this.#formatVersion = formatVersion;
    this.#audioVersion = -1;
    const { numbers } = this.#window;
    const known = this.#head?.init;
    const init = known?.bytes.equals(bytes) ? known : { version: numbers.init++, bytes };
    this.#head = { info: playable, init };
    return true;
  }

  #endPart(nextDtsTicks: number): void {
    if (this.#stage.pictures === 0) return;
    const endTicks = Number.isNaN(nextDtsTicks) ? this.#lastDtsTicks + this.#stepTicks : nextDtsTicks;
    const nextAudioTicks = Number.isNaN(nextDtsTicks) ? Number.NaN : this.#nextAudioTicks;
    this.#window.addPart(this.#stage.take(endTicks - this.#partDtsTicks, nextDtsTicks, nextAudioTicks));
    this.#partDtsTicks = endTicks;
  }

  #endSegment(nextDtsTicks: number): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#endPart(nextDtsTicks);
    const durationTicks = this.#partDtsTicks - this.#firstDtsTicks;
    this.#window.complete(durationTicks);
    if (this.#pictures > 1) this.#window.fitParts(durationTicks / this.#pictures);
  }
}

/** Null where the parameter sets can't be read: no player could use them either. */
const initSegmentOf = (info: StreamInfo): Buffer | null => {
  try {
    return buildInitSegment(info);
  } catch {
    return null;
  }
};
