import type { MonotonicMs } from '../../base/clock.js';
import { withLengths } from '../../codec/nal.js';
import { VIDEO_CLOCK_HZ, type VideoCodec } from '../../codec/track.js';
import { lastFramesOf } from '../../ring/counters.js';
import { frameFlag } from '../../ring/frame-flag.js';
import { FrameStamp } from '../../ring/frame-stamp.js';
import type { RingWriter } from '../../ring/writer.js';
import { relayError } from '../relay-error.js';
import { MAX_SOUND_BYTES } from '../wire/format.js';
import type { FrameHead } from '../wire/reader.js';
import type { Described } from '../wire/texts.js';

/** What of another box's ring is in this one already: it outlives the pull, so that the next one goes on behind it. */
export type Pulled = {
  /** Null: nothing yet. */
  ring: number | null;
  sequence: number;
  /** What lies between the two rings' times, in ticks of 90 kHz. */
  offsetTicks: number;
};

export const nothingPulled = (): Pulled => ({ ring: null, sequence: 0, offsetTicks: 0 });

const PREFIX_BYTES = 4;
const TICKS_PER_MS = VIDEO_CLOCK_HZ / 1000;

const isParameterSet = (codec: VideoCodec, firstByte: number): boolean => {
  const type = codec === 'h264' ? firstByte & 0x1f : (firstByte >> 1) & 0x3f;
  return codec === 'h264' ? type === 7 || type === 8 : type >= 32 && type <= 34;
};

/**
 * Frames of one pull on their way into the ring: their bytes go straight there, and what is said of them is made true here
 * (media time goes on, what was there already isn't written twice).
 */
export class FramesIn {
  /** When the bytes that are handled came; set by the owner before. */
  nowMs = 0 as MonotonicMs;
  frames = 0;
  /** Frames that were passed over until one came that can be shown. */
  passedFrames = 0;
  oversizedFrames = 0;
  readonly #ring: RingWriter;
  readonly #pulled: Pulled;
  readonly #stamp = new FrameStamp();
  /** Of the frames that come; null before the first. */
  #described: Described | null = null;
  #isToldToRing = false;
  #ownSets: Buffer = Buffer.alloc(0);
  /** Nothing can be shown before a keyframe comes: what was before isn't there, or was lost. */
  #needsKey = true;
  /** A ring that frames were never taken of: keyframes that came before this are passed over. */
  #knownArrivalMs = Number.NEGATIVE_INFINITY;
  #frame: Readonly<FrameHead> | null = null;
  readonly #prefix = Buffer.alloc(PREFIX_BYTES);
  #prefixBytes = 0;
  #nalLeftBytes = 0;
  #isFirstNal = false;
  #hasOwnSets = false;
  #sound: Buffer = Buffer.alloc(0);
  #soundBytes = 0;

  constructor(ring: RingWriter, pulled: Pulled) {
    this.#ring = ring;
    this.#pulled = pulled;
  }

  /** Frames of it are in the ring, and it is known whether they have sound. */
  get isSettled(): boolean {
    return this.frames > 0 && !this.#ring.description.awaitsSound;
  }

  onDescribed(described: Described): void {
    const { vps, sps, pps } = described.info.video;
    if (this.#described?.ring !== described.ring && this.#pulled.ring !== described.ring) this.#beginRing();
    this.#described = described;
    this.#isToldToRing = false;
    this.#ownSets = withLengths([...vps, ...sps, ...pps]);
  }

  onFrame(head: Readonly<FrameHead>): void {
    if (this.#described === null)
      throw relayError('relay_protocol', 'a frame came before it was told what it is');
    this.#frame = this.#isWanted(head, this.#described.ring) ? head : null;
    this.#prefixBytes = 0;
    this.#nalLeftBytes = 0;
    this.#isFirstNal = true;
    this.#hasOwnSets = false;
    this.#soundBytes = 0;
  }

  onBytes(source: Buffer, start: number, end: number): void {
    const frame = this.#frame;
    if (frame === null) return;
    if (frame.isVideo) this.#addVideo(source, start, end, frame);
    else if (this.#soundBytes === 0 && end - start === frame.lengthBytes)
      this.#writeSound(source, start, end, frame);
    else this.#addSound(source, start, end, frame);
  }

  onFrameEnd(): void {
    const frame = this.#frame;
    this.#frame = null;
    if (frame === null) return;
    if (!frame.isVideo) {
      if (this.#soundBytes > 0) this.#writeSound(this.#sound, 0, this.#soundBytes, frame);
      return;
    }
    if (this.#nalLeftBytes > 0 || this.#prefixBytes > 0) {
      this.#ring.abort();
      throw relayError('relay_protocol', "a frame's NAL units don't fill it");
    }
    this.#commit(frame);
  }

  /** No more comes; what is open is given up. */
  end(): void {
    this.#frame = null;
    this.#ring.abort();
    const { description } = this.#ring;
    if (description.awaitsSound && description.info !== null) this.#ring.setStreamInfo(description.info);
  }

  #beginRing(): void {
    this.#pulled.ring = null;
    this.#needsKey = true;
    this.#knownArrivalMs = lastFramesOf(this.#ring.ring)?.arrivalMs ?? Number.NEGATIVE_INFINITY;
  }

  #isWanted(head: Readonly<FrameHead>, ring: number): boolean {
    if (this.#pulled.ring === ring) {
      const aheadFrames = (head.sequence - this.#pulled.sequence) | 0;
      if (aheadFrames <= 0) return false;
      // What follows on the last one that is here needs no keyframe.
      if (aheadFrames === 1 && this.frames === 0) this.#needsKey = false;
    }
    if (!this.#needsKey) return true;
    if ((head.flags & frameFlag.key) !== 0 && head.isVideo && this.#isNews(head.ageMs)) return true;
    if (head.isVideo) this.passedFrames += 1;
    return false;
  }

  /** By when it came to a box, as what is here did: wall clocks of boxes may be set to anything at any time. */
  #isNews(ageMs: number): boolean {
    return this.nowMs - Math.max(0, ageMs) > this.#knownArrivalMs;
  }

  #addVideo(source: Buffer, start: number, end: number, frame: Readonly<FrameHead>): void {
    for (let at = start; at < end; ) {
      if (this.#nalLeftBytes === 0) {
        at = this.#addPrefix(source, at, end);
        continue;
      }
      if (this.#isFirstNal) {
        this.#isFirstNal = false;
        this.#hasOwnSets = isParameterSet(this.#described!.info.video.codec, source[at]!);
      }
      const taken = Math.min(this.#nalLeftBytes, end - at);
      if (!this.#ring.append(source, at, at + taken)) {
        this.#refuse(frame);
        return;
      }
      at += taken;
      this.#nalLeftBytes -= taken;
      if (this.#nalLeftBytes === 0) this.#ring.endNal();
    }
  }

  #addPrefix(source: Buffer, start: number, end: number): number {
    let at = start;
    while (at < end && this.#prefixBytes < PREFIX_BYTES) {
      this.#prefix[this.#prefixBytes] = source[at]!;
      this.#prefixBytes += 1;
      at += 1;
    }
    if (this.#prefixBytes < PREFIX_BYTES) return at;
    this.#prefixBytes = 0;
    this.#nalLeftBytes = this.#prefix.readUInt32BE(0);
    if (this.#nalLeftBytes === 0) {
      this.#ring.abort();
      throw relayError('relay_protocol', 'a NAL unit of no bytes');
    }
    this.#ring.beginNal();
    return at;
  }

  /** It outgrows the ring: what follows refers to it. */
  #refuse(frame: Readonly<FrameHead>): void {
    this.#ring.abort();
    this.#frame = null;
    this.#needsKey = true;
    this.#knownArrivalMs = Number.NEGATIVE_INFINITY;
    this.oversizedFrames += 1;
    this.#pulled.sequence = frame.sequence;
  }

  #commit(frame: Readonly<FrameHead>): void {
    this.#takePlace(frame);
    this.#describe();
    const isKey = (frame.flags & frameFlag.key) !== 0;
    const lacksSets = isKey && this.#ring.description.setsVary && !this.#hasOwnSets;
    if (lacksSets && !this.#ring.prepend(this.#ownSets)) {
      this.#refuse(frame);
      return;
    }
    this.#fill(frame, VIDEO_CLOCK_HZ);
    this.#ring.commitVideo(this.#stamp);
    this.frames += 1;
    this.#pulled.sequence = frame.sequence;
  }

  /** The first frame that is taken of a ring says where its times lie in this one's. */
  #takePlace(frame: Readonly<FrameHead>): void {
    this.#needsKey = false;
    const { ring } = this.#described!;
    if (this.#pulled.ring === ring) return;
    const last = lastFramesOf(this.#ring.ring);
    this.#pulled.ring = ring;
    if (last === null) {
      this.#pulled.offsetTicks = 0;
      return;
    }
    this.#ring.breakOff();
    const passedMs = Math.max(1, this.nowMs - frame.ageMs - last.arrivalMs);
    // No time is given twice: sound may lie ahead of the picture.
    const atTicks = Math.max(last.ptsTicks + passedMs * TICKS_PER_MS, (last.furthestMs + 1) * TICKS_PER_MS);
    this.#pulled.offsetTicks = Math.round(atTicks - frame.dtsTicks);
  }

  #describe(): void {
    if (this.#isToldToRing || this.#described === null) return;
    this.#isToldToRing = true;
    this.#ring.setStreamInfo(this.#described.info, this.#described.awaitsSound);
  }

  #fill(frame: Readonly<FrameHead>, clockRateHz: number): void {
    const stamp = this.#stamp;
    const offsetTicks = Math.round((this.#pulled.offsetTicks * clockRateHz) / VIDEO_CLOCK_HZ);
    stamp.flags = frame.flags;
    stamp.ptsTicks = frame.ptsTicks + offsetTicks;
    stamp.dtsTicks = frame.dtsTicks + offsetTicks;
    stamp.wallMs = frame.wallMs;
    stamp.arrivalMs = this.nowMs - Math.max(0, frame.ageMs);
  }

  #addSound(source: Buffer, start: number, end: number, frame: Readonly<FrameHead>): void {
    if (this.#sound.length < frame.lengthBytes) {
      const grown = Buffer.allocUnsafe(Math.min(MAX_SOUND_BYTES, frame.lengthBytes * 2));
      this.#sound.copy(grown, 0, 0, this.#soundBytes);
      this.#sound = grown;
    }
    source.copy(this.#sound, this.#soundBytes, start, end);
    this.#soundBytes += end - start;
  }

  #writeSound(source: Buffer, start: number, end: number, frame: Readonly<FrameHead>): void {
    const audio = this.#described?.info.audio ?? null;
    this.#pulled.sequence = frame.sequence;
    // Its description may be on its way still.
    if (audio === null) return;
    this.#describe();
    this.#fill(frame, audio.clockRateHz);
    this.#ring.writeAudio(source, start, end, this.#stamp);
    this.#ring.reach((this.#stamp.ptsTicks * 1000) / audio.clockRateHz);
  }
}
