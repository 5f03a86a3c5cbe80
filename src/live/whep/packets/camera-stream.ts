import type { Clock, MonotonicMs } from '../../../base/clock.js';
import type { StreamInfo } from '../../../codec/track.js';
import { RingReader } from '../../../ring/reader.js';
import { MAX_PACKET_BYTES } from '../secure/srtp-batch.js';
import type { Progress } from '../send/video-sender.js';
import type { Session } from '../session.js';
import { hasReorderedFrames } from './display-order.js';
import { FramePackets } from './frame-packets.js';
import { type AxisMoment, MediaAxis } from './media-axis.js';
import { PacketStore } from './packet-store.js';

const FIRST_FRAME_BYTES = 256 * 1024;
const RTP_HEADER_BYTES = 12;

/** Then whoever else the thread serves has a turn. */
const TURN_MS = 4;

/** After a turn: everybody has everything, somebody has to wait for the pace, or a link, or there is more at once. */
export type StreamProgress = 'done' | 'waits' | 'rests' | 'more';

/** One camera with all of its viewers: reads each frame once, cuts it into packets once, then it is sent to each. */
export class CameraStream {
  readonly cameraId: string;
  readonly store = new PacketStore();
  readonly sessions = new Set<Session>();
  /** What the newest frame's stream is like; null before the first. */
  info: StreamInfo | null = null;
  readonly #onUnfit: (reason: string) => void;
  readonly #axis = new MediaAxis();
  /** Those whose handshakes are done. */
  #senders: Session[] = [];
  #reader: RingReader | null = null;
  #ring: SharedArrayBuffer | null = null;
  #packets: FramePackets | null = null;
  #frame = Buffer.allocUnsafeSlow(FIRST_FRAME_BYTES);
  readonly #audioPacket = Buffer.alloc(MAX_PACKET_BYTES);
  readonly #audioWords = new Int32Array(
    this.#audioPacket.buffer,
    this.#audioPacket.byteOffset,
    MAX_PACKET_BYTES / 4,
  );
  #endedDrops = 0;
  #reportedDrops = 0;

  /** `onUnfit`: what the camera sends from now on can't be shown to those who watch it. */
  constructor(cameraId: string, onUnfit: (reason: string) => void) {
    this.cameraId = cameraId;
    this.#onUnfit = onUnfit;
  }

  /** The camera's frames are there from now on. */
  moveTo(ring: SharedArrayBuffer): void {
    this.#ring = ring;
    if (this.#reader === null) {
      this.#reader = new RingReader(ring, { start: 'latest-key' });
      this.#reader.subscribe();
    } else {
      this.#reader.moveTo(ring);
    }
  }

  /** What to offer a viewer; null: there is no picture. */
  describe(): { readonly info: StreamInfo; readonly isReordered: boolean } | null {
    this.readAll();
    const { info } = this;
    if (info === null || this.#ring === null || this.store.newestKey < 0) return null;
    // Who is answered now never gets the sound that comes in a moment.
    if (this.#reader?.awaitsSound === true) return null;
    return { info, isReordered: this.#axis.isReordered || hasReorderedFrames(this.#ring, info) };
  }

  /** The session may be sent to. */
  start(session: Session, nowMs: MonotonicMs): void {
    this.#senders.push(session);
    session.report(nowMs, this.#moment(nowMs));
  }

  /** The session is over. */
  remove(session: Session): void {
    this.sessions.delete(session);
    this.#senders = this.#senders.filter((sender) => sender !== session);
    this.#endedDrops += session.video?.droppedFrames ?? 0;
  }

  close(): void {
    this.#reader?.unsubscribe();
  }

  /** Reads what the ring has, without sending any video yet. */
  readAll(): void {
    const reader = this.#reader;
    while (reader?.next()) {
      if (reader.lengthBytes > this.#frame.length)
        this.#frame = Buffer.allocUnsafeSlow(reader.lengthBytes * 2);
      if (!reader.copyTo(this.#frame, 0)) continue;
      const info = reader.streamInfo();
      if (info === null) continue;
      if (reader.isVideo) this.#takeVideo(reader, info);
      else this.#takeAudio(reader, info);
    }
  }

  /**
   * Sends everybody what their pace allows, whoever came first before all others. A keyframe for many takes longer
   * than the pace wants: then a few get all of it before the next few begin, not all of them late.
   */
  pump(clock: Clock): StreamProgress {
    const senders = this.#senders;
    let nowMs = clock.monotonicMs();
    const endMs = nowMs + TURN_MS;
    // All before this one have everything.
    let first = 0;
    for (;;) {
      let progress: Progress = 'done';
      let isWaiting = false;
      for (let at = first; at < senders.length; at += 1) {
        progress = senders[at]!.video?.pump(nowMs) ?? 'done';
        if (progress === 'sent') break;
        if (progress === 'waits') isWaiting = true;
        if (progress === 'done' && at === first) first += 1;
      }
      if (progress !== 'sent') {
        if (first === senders.length) return 'done';
        return isWaiting ? 'waits' : 'rests';
      }
      nowMs = clock.monotonicMs();
      if (nowMs >= endMs) return 'more';
    }
  }

  /** Once a second. */
  tick(nowMs: MonotonicMs): void {
    const moment = this.#moment(nowMs);
    for (const session of [...this.sessions]) session.tick(nowMs, moment);
  }

  #moment(nowMs: MonotonicMs): AxisMoment | null {
    return this.store.frame < 0 ? null : this.#axis.at(nowMs);
  }

  /** Frames that viewers have missed since this was last asked. */
  takeDropped(): number {
    let frames = this.#endedDrops + (this.#reader?.droppedFrames ?? 0);
    for (const { video } of this.#senders) frames += video?.droppedFrames ?? 0;
    const newFrames = frames - this.#reportedDrops;
    this.#reportedDrops = frames;
    return newFrames;
  }

  #takeVideo(reader: RingReader, info: StreamInfo): void {
    const wasReordered = this.#axis.isReordered;
    const ticks = this.#axis.placeVideo(reader);
    this.info = info;
    if (this.#packets?.codec !== info.video.codec) {
      if (this.#packets !== null) this.#onUnfit('the camera sends another codec now');
      this.store.forgetKey();
      this.#packets = new FramePackets(info.video.codec, this.store);
    }
    if (!wasReordered && this.#axis.isReordered) this.#onUnfit('the camera sends B-frames now');
    this.#packets.add(this.#frame, reader.lengthBytes, ticks, reader.isKey, info);
  }

  #takeAudio(reader: RingReader, { audio }: StreamInfo): void {
    const lengthBytes = RTP_HEADER_BYTES + reader.lengthBytes;
    // Longer ones don't occur: 150 ms of G.711, and Opus never has so many bytes in 60 ms of speech.
    if (audio === null || this.#senders.length === 0 || lengthBytes > MAX_PACKET_BYTES) return;
    this.#frame.copy(this.#audioPacket, RTP_HEADER_BYTES, 0, reader.lengthBytes);
    const ticks = this.#axis.placeAudio(reader.ptsTicks, audio.clockRateHz);
    for (const session of this.#senders) {
      const hasStarted = session.video === null || session.video.hasStarted;
      if (!hasStarted || session.audio?.codec !== audio.codec) continue;
      session.audio.send(this.#audioWords, lengthBytes, ticks);
    }
  }
}
