import { toAnnexB } from '../../codec/annex-b.js';
import type { StreamInfo } from '../../codec/track.js';
import { RingReader } from '../../ring/reader.js';
import { videoConfigMessage } from '../../wire/config-message.js';
import { FRAME_FLAG, FRAME_HEAD_BYTES, FrameHead, writeFrameHead } from '../../wire/frame-head.js';

const LENGTH_BYTES = 4;
const STREAM = 1;
const TICKS_PER_MS = 90;
/** A keyframe always fits; of what follows it only as much as this. */
const MAX_BYTES = 4 << 20;

/** What a camera's pictures are like, as far as they were seen. */
export type Seen = {
  readonly info: StreamInfo;
  readonly fps: number;
  /** From one keyframe to the next; null: there was but one. */
  readonly keyframeMs: number | null;
};

/** Reads a ring from its first keyframe to the second: how often they come, and the messages that show them. */
export class GopRecorder {
  readonly #head = new FrameHead();
  readonly #messages: Buffer[] = [];
  #reader: RingReader | null = null;
  #info: StreamInfo | null = null;
  #bytes = 0;
  #frames = 0;
  #firstKeyTicks: number | null = null;
  #firstTicks = 0;
  #lastTicks = 0;
  #keyframeMs: number | null = null;

  /** Whether there were two keyframes. */
  get isWhole(): boolean {
    return this.#keyframeMs !== null;
  }

  /** What there is to show: each message with its length before it. */
  get messages(): readonly Buffer[] {
    return this.#messages;
  }

  get seen(): Seen | null {
    const spanTicks = this.#lastTicks - this.#firstTicks;
    const perSecond = spanTicks > 0 ? ((this.#frames - 1) * 1_000 * TICKS_PER_MS) / spanTicks : 0;
    return (
      this.#info && { info: this.#info, fps: Math.round(perSecond * 10) / 10, keyframeMs: this.#keyframeMs }
    );
  }

  /** Takes what has come to the ring since. */
  read(ring: SharedArrayBuffer): void {
    if (this.#reader === null) this.#reader = new RingReader(ring, { start: 'latest-key' });
    else this.#reader.moveTo(ring);
    while (this.#reader.next()) if (this.#reader.isVideo) this.#take(this.#reader);
  }

  #take(reader: RingReader): void {
    const { dtsTicks } = reader;
    this.#info = reader.formatInfo() ?? this.#info;
    if (this.#info === null) return;
    if (this.#firstKeyTicks === null) {
      this.#add(videoConfigMessage(STREAM, this.#info.video));
      this.#firstKeyTicks = this.#firstTicks = dtsTicks;
    } else if (reader.isKey) this.#keyframeMs ??= Math.round((dtsTicks - this.#firstKeyTicks) / TICKS_PER_MS);
    this.#lastTicks = dtsTicks;
    this.#frames++;
    const isFirst = this.#frames === 1;
    if (!isFirst && this.#bytes + reader.lengthBytes > MAX_BYTES) return;
    const message = this.#messageOf(reader);
    if (message !== null) this.#add(message);
  }

  #messageOf(reader: RingReader): Buffer | null {
    const head = this.#head;
    head.flags = reader.isKey ? FRAME_FLAG.key : 0;
    head.stream = STREAM;
    head.index = reader.videoIndex;
    head.decodeUs = (reader.dtsTicks * 1_000) / TICKS_PER_MS;
    head.compositionUs = ((reader.ptsTicks - reader.dtsTicks) * 1_000) / TICKS_PER_MS;
    head.wallUs = reader.wallMs * 1_000;
    const message = Buffer.allocUnsafeSlow(FRAME_HEAD_BYTES + reader.lengthBytes);
    const start = writeFrameHead(message, 0, head);
    return reader.copyTo(message, start) && toAnnexB(message, start, message.length) ? message : null;
  }

  #add(message: Buffer): void {
    const length = Buffer.allocUnsafeSlow(LENGTH_BYTES);
    length.writeUInt32BE(message.length);
    this.#messages.push(length, message);
    this.#bytes += message.length;
  }
}
