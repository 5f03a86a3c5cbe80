import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import { Answers } from '../answers.js';
import { PING_BYTES, writePing } from '../socket-frame.js';

/** More than this behind is slow. */
const MAX_LAG_MS = 1_000;
/** Nor may more than this wait in our own memory; a viewer with so much to come is slow. */
const MAX_PENDING_BYTES = 4 << 20;
/** A viewer that takes its backlog in this time after a stall has bandwidth for the frames since the last keyframe. */
const FAST_DRAIN_MS = 500;

/**
 * `catching-up`: gets what is in the ring, from the newest keyframe on. `live`: gets each frame as it comes.
 * `slow`: gets nothing until it has taken what was sent. `awaiting-key`: goes live with the next keyframe.
 */
export type ViewerState = 'catching-up' | 'live' | 'slow' | 'awaiting-key';

/** Frames that viewers of one camera lost because they were too slow, since the camera is known. */
export type Drops = { frames: number };

/** One WebSocket and how far it is. Media is written to its socket directly, in whole messages. */
export class Viewer {
  state: ViewerState = 'awaiting-key';
  /** Timestamp of the last frame it got, -1 before the first. */
  lastTimestampUs = -1;
  readonly webSocket: WebSocket;
  readonly socket: Duplex;
  readonly answers = new Answers();
  readonly #drops: Drops;
  #config: Buffer | null = null;
  /** Whether `#nextIndex` says anything: what was before the first frame isn't missed. */
  #hasIndex = false;
  /** `videoIndex` of the frame that follows without a gap. */
  #nextIndex = 0;
  /** While it is slow: when it answered again for the first time. */
  #drainingMs: number | null = null;

  constructor(webSocket: WebSocket, socket: Duplex, drops: Drops) {
    this.webSocket = webSocket;
    this.socket = socket;
    this.#drops = drops;
  }

  /** Bytes that the kernel hasn't taken yet. */
  get pendingBytes(): number {
    return this.socket.writableLength;
  }

  isBehind(nowMs: number): boolean {
    return this.answers.lagMs(nowMs) > MAX_LAG_MS || this.socket.writableLength > MAX_PENDING_BYTES;
  }

  /** Whether the frame with this index comes after all that it got. */
  wants(videoIndex: number): boolean {
    return !this.#hasIndex || ((videoIndex - this.#nextIndex) | 0) >= 0;
  }

  /** Sends a frame; those between the last one and this one are lost. `pingMs`: of the ping behind it, if any. */
  send(
    message: Buffer,
    config: Buffer,
    videoIndex: number,
    timestampUs: number,
    pingMs: number | null,
  ): void {
    // After a close frame nothing may follow (RFC 6455 §5.5.1).
    if (this.webSocket.readyState !== WebSocket.OPEN) return;
    this.miss(videoIndex);
    if (config !== this.#config) this.#sendConfig(config);
    this.socket.write(message);
    this.#nextIndex = (videoIndex + 1) | 0;
    this.lastTimestampUs = timestampUs;
    if (pingMs !== null) this.answers.pinged(pingMs);
  }

  /** The frames up to the one with this index won't be sent any more. */
  miss(videoIndex: number): void {
    const frames = this.#hasIndex ? (videoIndex - this.#nextIndex) | 0 : 0;
    // It has that one: it read on while others had not been told of it yet.
    if (frames < 0) return;
    this.#drops.frames += frames;
    this.#hasIndex = true;
    this.#nextIndex = videoIndex;
  }

  /** Frames are numbered afresh. */
  restart(): void {
    this.#hasIndex = false;
  }

  ping(nowMs: number): void {
    if (this.webSocket.readyState !== WebSocket.OPEN) return;
    const ping = Buffer.allocUnsafe(PING_BYTES);
    writePing(ping, 0, nowMs);
    this.socket.write(ping);
    this.answers.pinged(nowMs);
  }

  /** Stops sending; a ping tells when all that was sent has been taken. */
  becomeSlow(nowMs: number): void {
    this.state = 'slow';
    this.#drainingMs = null;
    this.ping(nowMs);
  }

  /** Takes note of a pong. True: it was slow and has taken everything. */
  onPong(payload: Buffer, nowMs: number): boolean {
    if (!this.answers.ponged(payload) || this.state !== 'slow') return false;
    this.#drainingMs ??= nowMs;
    return this.answers.isComplete;
  }

  /** Whether a backlog is no burden to it: then it can see now at once, else it waits for the next keyframe. */
  isFast(nowMs: number): boolean {
    return this.#drainingMs !== null && nowMs - this.#drainingMs < FAST_DRAIN_MS;
  }

  #sendConfig(config: Buffer): void {
    if (this.#config === null || !config.equals(this.#config)) this.socket.write(config);
    this.#config = config;
  }
}
