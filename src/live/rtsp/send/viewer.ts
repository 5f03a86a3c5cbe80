import { VIDEO_CLOCK_HZ } from '../../../codec/track.js';
import type { GopStore } from '../packets/gop-store.js';
import type { PacketBatch } from '../packets/packet-batch.js';
import type { Way } from './way.js';

/** More than this behind is slow. */
const MAX_LAG_MS = 1_000;
/** Nor may more than this wait for a viewer in our own memory. */
const MAX_PENDING_BYTES = 4 << 20;
/** While it catches up, what doesn't fit in here waits in the store, which all viewers share. */
const CATCH_UP_PENDING_BYTES = 256 << 10;
/** What takes nothing for this long has gone. */
const STALL_LIMIT_MS = 30_000;
/** What is there already is sent so many times as fast as it was filmed. */
const CATCH_UP_SPEED = 3;

/**
 * `catching-up`: on its way from a keyframe to the live edge. `live`: gets each frame as it comes. `slow`: gets nothing
 * until it has taken what was sent. `awaiting-key`: goes live with the next keyframe.
 */
type ViewerState = 'catching-up' | 'live' | 'slow' | 'awaiting-key';

/** One viewer of a camera: how far it is, and what it lost. */
export class Viewer {
  /** Frames that it lost because it was slow. */
  droppedFrames = 0;
  readonly way: Way;
  /** It must end, for this reason; called by whoever finds that out. */
  readonly end: (reason: string) => void;
  #state: ViewerState = 'awaiting-key';
  /** The video frame that follows without a gap; -1 before the first: what was before that isn't lost. */
  #nextVideo = -1;
  /** While it catches up: what comes next, and when it began where. */
  #cursor = 0;
  #startMs = 0;
  #startTicks = 0;

  constructor(way: Way, end: (reason: string) => void) {
    this.way = way;
    this.end = end;
  }

  get isCatchingUp(): boolean {
    return this.#state === 'catching-up';
  }

  /** The first batch that it still wants from the store. */
  get neededFrom(): number {
    return this.isCatchingUp ? this.#cursor : Number.POSITIVE_INFINITY;
  }

  /** Begins at this batch of the store; where it isn't there, with the next keyframe. */
  start(number: number, store: GopStore, nowMs: number): void {
    const first = store.at(number);
    if (first === undefined) return;
    this.#state = 'catching-up';
    this.#cursor = number;
    this.#startMs = nowMs;
    this.#startTicks = first.dueTicks;
    this.catchUp(store, nowMs);
  }

  /** Sends what its pace allows by now. */
  catchUp(store: GopStore, nowMs: number): void {
    const passedTicks = ((nowMs - this.#startMs) * VIDEO_CLOCK_HZ) / 1000;
    const dueTicks = this.#startTicks + passedTicks * CATCH_UP_SPEED;
    while (this.#state === 'catching-up') {
      const batch = store.at(this.#cursor);
      if (this.#cursor < store.first) this.#state = 'awaiting-key';
      else if (batch === undefined) this.#state = 'live';
      else if (this.#isBehind(nowMs)) this.#state = 'slow';
      else if (batch.dueTicks > dueTicks || this.way.pendingBytes > CATCH_UP_PENDING_BYTES) return;
      else this.#send(batch, nowMs);
      this.#cursor += 1;
    }
  }

  /** A frame that is new in the store. */
  offer(batch: PacketBatch, nowMs: number): void {
    if (this.#state === 'catching-up') return;
    if (this.#state === 'slow' && this.way.pendingBytes === 0) this.#state = 'awaiting-key';
    if (this.#state === 'awaiting-key' && batch.isKey) this.#state = 'live';
    if (this.#state === 'live' && this.#isBehind(nowMs)) this.#state = 'slow';
    if (this.#state === 'live') this.#send(batch, nowMs);
    else if (batch.track === 'video') this.#lose(batch.videoNumber + 1);
  }

  /** Whether it has taken nothing for so long that it has gone. */
  isStalled(nowMs: number): boolean {
    return this.way.lagMs(nowMs) > STALL_LIMIT_MS;
  }

  #send(batch: PacketBatch, nowMs: number): void {
    if (batch.track === 'video') {
      this.#lose(batch.videoNumber);
      this.#nextVideo = batch.videoNumber + 1;
    }
    if (this.way.carries(batch.track)) this.way.send(batch, nowMs);
  }

  /** The video frames before this one won't be sent any more. */
  #lose(videoNumber: number): void {
    if (this.#nextVideo < 0) return;
    this.droppedFrames += Math.max(0, videoNumber - this.#nextVideo);
    this.#nextVideo = Math.max(videoNumber, this.#nextVideo);
  }

  #isBehind(nowMs: number): boolean {
    return this.way.pendingBytes > MAX_PENDING_BYTES || this.way.lagMs(nowMs) > MAX_LAG_MS;
  }
}
