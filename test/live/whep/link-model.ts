import { randomBytes } from 'node:crypto';
import type { MonotonicMs } from '../../../src/base/clock.js';
import { PacketStore } from '../../../src/live/whep/packets/packet-store.js';
import { MAX_PACKET_BYTES, SrtpBatch, SrtpStream } from '../../../src/live/whep/secure/srtp-batch.js';
import { SrtpKeys } from '../../../src/live/whep/secure/srtp-keys.js';
import { VideoSender } from '../../../src/live/whep/send/video-sender.js';
import { seededRandom } from '../../support/seeded-random.js';
import { ModelViewer } from './model-viewer.js';

export type LinkOptions = {
  /** Infinite: no limit. */
  kbps: number;
  /** What waits before the bottleneck, in time at the link's rate, before anything is dropped. */
  queueMs: number;
  loss: number;
  /** Each way. */
  delayMs: number;
};

export type SceneOptions = LinkOptions & {
  readonly streamKbps: number;
  readonly framesPerGop: number;
  /** A keyframe is so many times as large as the others. */
  readonly keyRatio: number;
  /** The frames that are there before the viewer comes. */
  readonly framesBefore: number;
};

const START_MS = 1_000;
const FRAME_MS = 40;
const FRAME_TICKS = FRAME_MS * 90;
/** Below RTP: UDP and IPv4. */
const HEADER_BYTES = 28;
const SENDER_REPORT = 200;

/** A link with a queue before it: what the queue has no room for is dropped, and some of the rest is lost. */
class ModelLink {
  readonly options: LinkOptions;
  /** The RTP times of what was sent, in that order. */
  readonly timestamps: number[] = [];
  sentBytes = 0;
  carriedBytes = 0;
  readonly #random = seededRandom(7);
  #freeAtMs = 0;
  readonly #underWay: { readonly atMs: number; readonly packet: Buffer }[] = [];

  constructor(options: LinkOptions) {
    this.options = options;
  }

  send(packet: Buffer, nowMs: number): void {
    const { kbps, queueMs, loss, delayMs } = this.options;
    const bytes = packet.length + HEADER_BYTES;
    this.sentBytes += bytes;
    if (packet[1] !== SENDER_REPORT) this.timestamps.push(packet.readUInt32BE(4));
    const startMs = Math.max(nowMs, this.#freeAtMs);
    if (startMs - nowMs > queueMs) return;
    this.#freeAtMs = startMs + (bytes * 8) / kbps;
    this.carriedBytes += bytes;
    if (this.#random() < loss) return;
    this.#underWay.push({ atMs: this.#freeAtMs + delayMs, packet: Buffer.from(packet) });
  }

  *arrived(nowMs: number): Iterable<Buffer> {
    while (this.#underWay.length > 0 && this.#underWay[0]!.atMs <= nowMs)
      yield this.#underWay.shift()!.packet;
  }
}

/** One viewer of one camera over a link that is a model, a millisecond at a time. */
export class LinkScene {
  readonly link: ModelLink;
  readonly viewer: ModelViewer;
  readonly sender: VideoSender;
  readonly store = new PacketStore();
  nowMs = START_MS;
  /** The camera sends nothing. */
  isAway = false;
  readonly #options: SceneOptions;
  readonly #feedback: { readonly atMs: number; readonly say: () => void }[] = [];
  #frames = 0;
  #restMs = 0;

  constructor(options: Partial<SceneOptions> = {}) {
    this.#options = {
      kbps: Number.POSITIVE_INFINITY,
      queueMs: 200,
      loss: 0,
      delayMs: 20,
      streamKbps: 4_000,
      framesPerGop: 50,
      keyRatio: 7,
      framesBefore: 60,
      ...options,
    };
    this.link = new ModelLink(this.#options);
    for (let i = 0; i < this.#options.framesBefore; i += 1) this.#addFrame();
    const keys = new SrtpKeys('rtp', randomBytes(16), randomBytes(14));
    const stream = new SrtpStream(keys, 1, 96);
    const socket = {
      isConnected: true,
      isBlocked: false,
      send: (packet: Buffer) => this.link.send(packet, this.nowMs),
    };
    const start = { index: 100, timestamp: 0 };
    const deps = { store: this.store, batch: new SrtpBatch(), socket, stream, nowMs: this.#now };
    this.sender = new VideoSender(deps, start);
    this.viewer = new ModelViewer(start.index, (timestamp) => this.isKey(timestamp), {
      lost: (sequence) => this.#later(() => this.sender.repeat(sequence, this.#now)),
      wanted: () => this.#later(() => this.sender.restart(this.#now)),
      report: (block) => this.#later(() => this.sender.hear({ ...block, ssrc: 1 }, this.#now)),
    });
    this.#report();
  }

  isKey(timestamp: number): boolean {
    return (timestamp / FRAME_TICKS) % this.#options.framesPerGop === 0;
  }

  /** How late the frames were shown that came since, in milliseconds, least first. */
  lagsMs(sinceMs: number): number[] {
    const beforeMs = this.#options.framesBefore * FRAME_MS;
    const shown = this.viewer.shown.filter(({ atMs }) => atMs > sinceMs);
    return shown
      .map(({ timestamp, atMs }) => atMs - (timestamp / 90 - beforeMs + START_MS))
      .toSorted((a, b) => a - b);
  }

  /** Frames whose first packets, if nothing else, were sent, each once. */
  get framesSent(): number {
    return new Set(this.link.timestamps).size;
  }

  /** All frames that there were since the newest keyframe when the viewer came. */
  get framesDue(): number {
    const { framesBefore, framesPerGop } = this.#options;
    return this.#frames - (framesBefore - (framesBefore % framesPerGop));
  }

  run(seconds: number): void {
    const endMs = this.nowMs + seconds * 1000;
    while (this.nowMs < endMs && this.sender.endReason === null) this.#step();
  }

  #step(): void {
    this.nowMs += 1;
    const { nowMs } = this;
    if (!this.isAway && nowMs % FRAME_MS === 0) this.#addFrame();
    while (this.#feedback.length > 0 && this.#feedback[0]!.atMs <= nowMs) this.#feedback.shift()!.say();
    if (nowMs >= this.#restMs) {
      let progress = this.sender.pump(this.#now);
      while (progress === 'sent') progress = this.sender.pump(this.#now);
      if (progress === 'rests') this.#restMs = nowMs + 5;
    }
    if (nowMs % 1_000 === 500) this.#report();
    for (const packet of this.link.arrived(nowMs)) this.viewer.take(packet, nowMs);
    this.viewer.step(nowMs);
  }

  /** A sender report waits in the same queue; its time is in place of the sequence number. */
  #report(): void {
    const report = Buffer.alloc(100, 0);
    report[1] = SENDER_REPORT;
    report.writeUInt32BE(this.nowMs, 4);
    this.sender.roundTrips.onSent(this.nowMs, this.#now);
    this.link.send(report, this.nowMs);
  }

  get #now(): MonotonicMs {
    return this.nowMs as MonotonicMs;
  }

  #later(say: () => void): void {
    this.#feedback.push({ atMs: this.nowMs + this.#options.delayMs, say });
  }

  #addFrame(): void {
    const { streamKbps, framesPerGop, keyRatio } = this.#options;
    const isKey = this.#frames % framesPerGop === 0;
    const usualBytes = (streamKbps * FRAME_MS * framesPerGop) / 8 / (framesPerGop - 1 + keyRatio);
    let bytes = Math.round(usualBytes * (isKey ? keyRatio : 1));
    this.store.beginFrame(this.#frames * FRAME_TICKS, isKey);
    while (bytes > 0) {
      const packetBytes = Math.min(bytes, MAX_PACKET_BYTES);
      bytes -= packetBytes;
      this.store.push(Math.max(16, packetBytes), bytes <= 0);
    }
    this.#frames += 1;
  }
}
