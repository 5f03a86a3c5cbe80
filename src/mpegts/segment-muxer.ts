import { parseAacConfig } from '../codec/aac.js';
import { beginsWithParameterSet } from '../codec/nal.js';
import { LengthPrefixedCursor } from '../codec/nal-cursor.js';
import type { AudioTrackInfo, StreamInfo, VideoTrackInfo } from '../codec/track.js';
import { VIDEO_CLOCK_HZ } from '../codec/track.js';
import { ADTS_HEADER_BYTES, adtsHeaderFor, MAX_ADTS_BODY_BYTES } from './adts-header.js';
import { AudioStage, MAX_STAGE_TICKS } from './audio-stage.js';
import { ADAPTATION, PACKET_BYTES, PacketTrack, PacketWriter, packetsFor } from './packet-writer.js';
import { AudioHead, VideoHead } from './pes-head.js';
import { PID, psiPackets } from './psi.js';
import { type SegmentFacts, SegmentTimes } from './segment-facts.js';
import { toStreamTicks } from './timestamp.js';

/** The clock is this far behind DTS (250 ms): audio that was staged still comes in time. */
export const CLOCK_LAG_TICKS = 22_500;
/** A little less than the 100 ms that ISO 13818-1 §2.7.2 allows between two clocks. */
const MAX_CLOCK_STEP_TICKS = 8_100;
/** A longer gap than this is one in the stream, and not filled with clocks. */
const MAX_FILLED_GAP_TICKS = 2 * VIDEO_CLOCK_HZ;
/** Beside a PES: its clock packets, and what `stretch` adds for both tracks. */
const SPARE_PACKETS = 64;

/** How segments of one muxer join; see this folder's README. */
export type SegmentMuxerOptions = {
  /**
   * `carried`: counters go on from segment to segment. `standalone`: each segment begins and ends where any
   * neighbour does, whoever makes that.
   */
  readonly continuity: 'carried' | 'standalone';
  /** Memory to begin with. */
  readonly initialBytes?: number;
  /** A frame that would make a segment larger than this is refused. */
  readonly maxBytes?: number;
};

export type SegmentStart = {
  /** The segment's number: consecutive ones have consecutive numbers. */
  readonly index: number;
  /** Its time doesn't follow from that of the segment before. */
  readonly discontinuity: boolean;
};

/**
 * Makes MPEG-TS segments of frames as the ring and MP4 hold them: `begin`, then `video` and `audio` in the order
 * of decoding, then `finish`. Nothing is allocated for a frame or a packet.
 */
export class SegmentMuxer {
  /** Frames that were not fit to be sent: broken lengths, empty, too large. */
  refusedFrames = 0;
  readonly #continuity: SegmentMuxerOptions['continuity'];
  readonly #maxBytes: number;
  readonly #writer: PacketWriter;
  readonly #video = new PacketTrack(PID.video);
  readonly #audio = new PacketTrack(PID.audio);
  readonly #audioHead = new AudioHead();
  readonly #nals = new LengthPrefixedCursor();
  readonly #times = new SegmentTimes();
  readonly #timesBefore = new SegmentTimes();
  readonly #videoBefore = new PacketTrack(PID.video);
  #lengthBefore = 0;
  #newest: 'video' | 'audio' | 'none' = 'none';
  #videoInfo: VideoTrackInfo | null = null;
  #videoHead: VideoHead | null = null;
  #audioInfo: AudioTrackInfo | null = null;
  #stage: AudioStage | null = null;
  #psi: Buffer = Buffer.alloc(0);
  #psiVersion = 0;

  constructor({ continuity, initialBytes = 1 << 20, maxBytes = 64 << 20 }: SegmentMuxerOptions) {
    this.#continuity = continuity;
    this.#maxBytes = maxBytes;
    this.#writer = new PacketWriter(initialBytes);
  }

  /** Whether the segment has an audio track: AAC does, as far as ADTS can carry it. */
  get hasAudio(): boolean {
    return this.#stage !== null;
  }

  /** Bytes of the segment so far, staged audio left out. */
  get lengthBytes(): number {
    return this.#writer.lengthBytes;
  }

  /** Starts a segment over the memory of the last one. A change of `info` needs a new segment. */
  begin(info: StreamInfo, { index, discontinuity }: SegmentStart): void {
    this.#describe(info);
    this.#writer.lengthBytes = 0;
    this.#video.pesPackets = 0;
    this.#audio.pesPackets = 0;
    this.#stage?.clear();
    this.#newest = 'none';
    this.#times.begin();
    this.#times.owesDiscontinuity = discontinuity;
    if (this.#continuity === 'standalone') {
      this.#video.counter = 0;
      this.#audio.counter = 0;
      this.#times.forget();
    }
    this.#writer.writeReady(this.#psi, index);
  }

  /**
   * Adds the access unit `source[start, end)`, NAL units behind 4-byte lengths; times in ticks of 90 kHz. False:
   * it was refused, and everything is as it was.
   */
  video(
    source: Buffer,
    start: number,
    end: number,
    ptsTicks: number,
    dtsTicks: number,
    isKey: boolean,
  ): boolean {
    const head = this.#videoHead;
    const codec = this.#videoInfo?.codec;
    if (head === null || codec === undefined) throw new Error('a frame before the first segment');
    const dts = toStreamTicks(dtsTicks, VIDEO_CLOCK_HZ);
    this.#flushAudioBefore(dts);
    this.#newest = 'none';
    // Until a stream's reordering is known its first B-frames may come too late to be shown in time (§2.4.3.7).
    const pts = Math.max(toStreamTicks(ptsTicks, VIDEO_CLOCK_HZ), dts);
    // A frame's own parameter sets may be others than those of the stream's beginning.
    head.write(isKey && !beginsWithParameterSet(codec, source, start), end - start, pts, dts);
    const packets = packetsFor(head.lengthBytes + end - start) + SPARE_PACKETS;
    if (end - start <= 4 || end > source.length || !this.#fits(packets)) return this.#refuse();
    this.#remember('video');
    const clockTicks = dts - CLOCK_LAG_TICKS;
    const flags = (isKey ? ADAPTATION.randomAccess : 0) | this.#advanceClock(clockTicks);
    this.#writer.reserve(packets);
    this.#writer.writePes(this.#video, head.bytes, head.lengthBytes, source, start, end, flags, clockTicks);
    if (!this.#putStartCodes(source, start, end, head.lengthBytes)) {
      this.dropLast();
      return this.#refuse();
    }
    this.#times.addVideo(ptsTicks, dtsTicks);
    return true;
  }

  /** Adds the AAC frame `source[start, end)`; its time in ticks of its own clock. False: it was refused. */
  audio(source: Buffer, start: number, end: number, ptsTicks: number): boolean {
    const stage = this.#stage;
    this.#newest = 'none';
    const bodyBytes = end - start;
    if (stage === null || bodyBytes < 1 || bodyBytes > MAX_ADTS_BODY_BYTES || end > source.length) {
      return this.#refuse();
    }
    if (stage.mustFlushBefore(bodyBytes, ptsTicks)) this.#flushAudio(stage);
    const packets = packetsFor(stage.lengthBytes + bodyBytes + ADTS_HEADER_BYTES) + SPARE_PACKETS;
    if (!this.#fits(packets)) return this.#refuse();
    this.#remember('audio');
    stage.add(source, start, end, ptsTicks);
    this.#times.audioFrames += 1;
    return true;
  }

  /** Takes the frame that was added last back, for a reader that finds it was overwritten meanwhile. */
  dropLast(): void {
    if (this.#newest === 'none') return;
    this.#times.copyFrom(this.#timesBefore);
    if (this.#newest === 'audio') this.#stage?.removeLast();
    else {
      this.#video.copyFrom(this.#videoBefore);
      this.#writer.lengthBytes = this.#lengthBefore;
    }
    this.#newest = 'none';
  }

  /** Ends the segment. `nextPtsTicks`: the time of the next one's first picture, null if there is none. */
  finish(nextPtsTicks: number | null): SegmentFacts {
    if (this.#stage !== null) this.#flushAudio(this.#stage);
    this.#newest = 'none';
    if (this.#continuity === 'standalone') {
      this.#writer.stretch(this.#video, this.#audio, -this.#video.counter & 0x0f);
      this.#writer.stretch(this.#audio, this.#video, -this.#audio.counter & 0x0f);
    }
    const times = this.#times;
    return {
      bytes: this.#writer.view(),
      lengthBytes: this.#writer.lengthBytes,
      videoFrames: times.videoFrames,
      audioFrames: times.audioFrames,
      firstPtsTicks: times.firstPtsTicks,
      firstDtsTicks: times.firstDtsTicks,
      durationTicks: times.durationTicks(nextPtsTicks),
    };
  }

  #describe({ video, audio }: StreamInfo): void {
    if (video === this.#videoInfo && audio === this.#audioInfo) return;
    const header = adtsHeaderFor(audio);
    const config = audio === null ? null : parseAacConfig(audio.config);
    const hadAudio = this.hasAudio;
    const hadCodec = this.#videoInfo?.codec;
    this.#stage =
      header === null || audio === null || config === null
        ? null
        : new AudioStage(header, audio.clockRateHz, config.sampleRateHz);
    this.#videoHead = new VideoHead(video);
    this.#videoInfo = video;
    this.#audioInfo = audio;
    const isOtherMap = hadCodec !== undefined && (hadCodec !== video.codec || hadAudio !== this.hasAudio);
    if (isOtherMap && this.#continuity === 'carried') this.#psiVersion = (this.#psiVersion + 1) & 0x1f;
    this.#psi = psiPackets({ codec: video.codec, hasAudio: this.hasAudio, version: this.#psiVersion });
  }

  /** The flags that go with this clock; fills a gap since the last one. */
  #advanceClock(clockTicks: number): number {
    const times = this.#times;
    const stepTicks = clockTicks - times.clockTicks;
    // Time that goes back is a new time base, whether the caller knew it or not (ISO 13818-1 §2.4.3.5).
    const isNewBase = times.owesDiscontinuity || stepTicks < 0;
    if (!isNewBase && stepTicks <= MAX_FILLED_GAP_TICKS) {
      for (let gap = stepTicks; gap > MAX_CLOCK_STEP_TICKS; gap -= MAX_CLOCK_STEP_TICKS) {
        this.#writer.writeClockPacket(this.#video, clockTicks - gap + MAX_CLOCK_STEP_TICKS);
      }
    }
    times.clockTicks = clockTicks;
    times.owesDiscontinuity = false;
    return ADAPTATION.clock | (isNewBase ? ADAPTATION.discontinuity : 0);
  }

  /** Puts start codes over the lengths, which are as long (H.264 §B.1). False: they don't add up. */
  #putStartCodes(source: Buffer, start: number, end: number, headBytes: number): boolean {
    const nals = this.#nals;
    nals.open(source, start, end);
    // An empty unit keeps its length of 0: four zero bytes before a start code are allowed.
    while (nals.next()) this.#writer.putStartCode(this.#video, headBytes + nals.offset - 4 - start);
    return !nals.isBroken;
  }

  #fits(packets: number): boolean {
    return this.#writer.lengthBytes + packets * PACKET_BYTES <= this.#maxBytes;
  }

  #refuse(): boolean {
    this.refusedFrames += 1;
    return false;
  }

  #remember(kind: 'video' | 'audio'): void {
    this.#timesBefore.copyFrom(this.#times);
    this.#videoBefore.copyFrom(this.#video);
    this.#lengthBefore = this.#writer.lengthBytes;
    this.#newest = kind;
  }

  #flushAudioBefore(dtsStreamTicks: number): void {
    const stage = this.#stage;
    if (stage === null || stage.isEmpty) return;
    if (dtsStreamTicks - stage.firstTicks >= MAX_STAGE_TICKS) this.#flushAudio(stage);
  }

  #flushAudio(stage: AudioStage): void {
    if (stage.isEmpty) return;
    const { bytes, lengthBytes, firstTicks } = stage;
    this.#audioHead.write(lengthBytes, firstTicks);
    const headBytes = this.#audioHead.lengthBytes;
    this.#writer.reserve(packetsFor(headBytes + lengthBytes));
    this.#writer.writePes(this.#audio, this.#audioHead.bytes, headBytes, bytes, 0, lengthBytes, 0, 0);
    stage.clear();
  }
}
