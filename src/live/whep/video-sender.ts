import type { MonotonicMs } from '../../base/clock.js';
import type { ReceiverReport } from './feedback.js';
import type { MediaSocket } from './media-socket.js';
import type { PacketStore } from './packet-store.js';
import { SendHistory } from './send-history.js';
import { BATCH_PACKETS, type SrtpBatch, type SrtpStream } from './srtp-batch.js';
import { TokenBucket } from './token-bucket.js';

/**
 * A keyframe at once overflows a receiver's socket: 150 packets in one go lost all of their frame in Chromium. These
 * go at once, and then 30 a millisecond, which is 290 Mbit/s.
 */
const BURST_PACKETS = 30;
const PACKETS_PER_MS = 30;
const PORTION_PACKETS = 24;

/** Repeats of lost packets: a lost keyframe at once, 5 Mbit/s in the long run. */
const REPEAT_BURST = 160;
const REPEATS_PER_MS = 0.5;

/** Between two answers to requests for a keyframe; each time the same one didn't help, twice as long. */
const FIRST_RESTART_GAP_MS = 1_000;
/** A sign of loss counts for so long: Chromium asks for a keyframe when it has waited 3 s for a packet. */
const TROUBLE_MS = 5_000;
/** A viewer that never says what came is taken to have its first picture after so long. */
const FIRST_PICTURE_MS = 10_000;
/** How far behind a viewer may be that isn't just starting. */
const MAX_LAG_TICKS = 90_000;

/** What became of a turn: it has all there is, it got some, or it has to wait for its pace or for the system. */
export type Progress = 'done' | 'sent' | 'waits';

/** What the sender shares with others of its thread. */
export type VideoSenderDeps = {
  readonly store: PacketStore;
  readonly batch: SrtpBatch;
  readonly socket: MediaSocket;
  readonly stream: SrtpStream;
  readonly nowMs: MonotonicMs;
};

/** Sends one viewer the camera's video: a cursor in the store, at the viewer's own pace. */
export class VideoSender {
  droppedFrames = 0;
  packets = 0;
  octets = 0;
  readonly #store: PacketStore;
  readonly #batch: SrtpBatch;
  readonly #socket: MediaSocket;
  readonly #stream: SrtpStream;
  readonly #history: SendHistory;
  readonly #timestampOffset: number;
  readonly #pace: TokenBucket;
  readonly #repeats: TokenBucket;
  /** The next packet to send; -1 while it waits for a keyframe from `#earliestKey` on. */
  #cursor = -1;
  #earliestKey = 0;
  /** Up to here a viewer may be behind: what there was when its run began. */
  #catchUpTo = 0;
  #lastFrame = -1;
  #lastTicks: number | null = null;
  /** The keyframe that the run began with, and when. */
  #runKey = -1;
  #runMs = Number.NEGATIVE_INFINITY;
  #restartGapMs = FIRST_RESTART_GAP_MS;
  /** Until then the viewer may lack its first picture: until it says that it got packets, and lost none. */
  #firstPictureUntilMs: number;
  /** When it last showed that packets got lost. */
  #troubleMs = Number.NEGATIVE_INFINITY;

  constructor(deps: VideoSenderDeps, start: { readonly index: number; readonly timestamp: number }) {
    this.#store = deps.store;
    this.#batch = deps.batch;
    this.#socket = deps.socket;
    this.#stream = deps.stream;
    this.#history = new SendHistory(start.index);
    this.#timestampOffset = start.timestamp;
    this.#pace = new TokenBucket(BURST_PACKETS, PACKETS_PER_MS, deps.nowMs);
    this.#repeats = new TokenBucket(REPEAT_BURST, REPEATS_PER_MS, deps.nowMs);
    this.#firstPictureUntilMs = deps.nowMs + FIRST_PICTURE_MS;
  }

  get ssrc(): number {
    return this.#stream.ssrc;
  }

  get hasStarted(): boolean {
    return this.#lastTicks !== null;
  }

  /** The RTP time of a time of the camera. */
  timestampAt(ticks: number): number {
    return ((Math.floor(ticks) + this.#timestampOffset) % 0x100000000) | 0;
  }

  /** Sends a portion, if there is something to send and the pace allows one of a worthwhile size. */
  pump(nowMs: MonotonicMs): Progress {
    // Whoever ties the socket to the viewer again calls again.
    if (!this.#socket.isConnected) return 'done';
    if (this.#socket.isBlocked) return 'waits';
    if (!this.#findPlace(nowMs)) return 'done';
    const left = this.#store.next - this.#cursor;
    const allowed = this.#pace.available(nowMs);
    if (allowed < Math.min(left, PORTION_PACKETS)) return 'waits';
    const count = Math.min(left, allowed, BATCH_PACKETS);
    this.#sendNext(count);
    this.#pace.take(count);
    return 'sent';
  }

  /** What the viewer says it got. */
  hear({ fractionLost }: ReceiverReport, nowMs: MonotonicMs): void {
    if (fractionLost > 0) this.#troubleMs = nowMs;
    else this.#firstPictureUntilMs = nowMs;
  }

  /**
   * The viewer asks for a keyframe (PLI, FIR): from the newest one once more, unless that was just now. Some ask by the
   * clock, whatever they get, and pictures again would throw them back each time: so only if it shows that it lacks any.
   * Else the next keyframe is the answer.
   */
  restart(nowMs: MonotonicMs): boolean {
    const { newestKey } = this.#store;
    if (nowMs - this.#troubleMs > TROUBLE_MS && nowMs >= this.#firstPictureUntilMs) return false;
    if (newestKey !== this.#runKey) this.#restartGapMs = FIRST_RESTART_GAP_MS;
    if (newestKey < 0 || nowMs - this.#runMs < this.#restartGapMs) return false;
    // Still on its way from there.
    if (this.#cursor < this.#catchUpTo) return false;
    if (newestKey === this.#runKey) this.#restartGapMs *= 2;
    this.#troubleMs = Number.NEGATIVE_INFINITY;
    this.#begin(newestKey, nowMs);
    return true;
  }

  /** Sends a packet once more that the viewer misses. */
  repeat(sequence: number, nowMs: MonotonicMs): void {
    this.#troubleMs = nowMs;
    if (this.#repeats.available(nowMs) < 1 || this.#socket.isBlocked) return;
    const index = this.#history.indexOf(sequence);
    const found = index < 0 ? null : this.#history.find(this.#store, index);
    if (found === null) return;
    this.#repeats.take(1);
    this.#batch.begin();
    this.#add(found.packet, index, found.ticks);
    this.#flush();
  }

  /** A cursor that points at something worth sending. False: there is nothing. */
  #findPlace(nowMs: MonotonicMs): boolean {
    const store = this.#store;
    if (this.#cursor >= 0) {
      const isOverrun = this.#cursor < store.first;
      // Late without a newer keyframe: what there is has to be sent, or the picture would stand.
      const canSkip = this.#isLate() && store.newestKey > this.#cursor;
      if (!isOverrun && !canSkip) return this.#cursor < store.next;
      // A frame that has begun is never gone on with after a gap: the next thing is a keyframe.
      this.#earliestKey = this.#cursor + 1;
      this.#cursor = -1;
    }
    if (store.newestKey < 0 || store.newestKey < this.#earliestKey) return false;
    this.#begin(store.newestKey, nowMs);
    return true;
  }

  #isLate(): boolean {
    if (this.#cursor < this.#catchUpTo || this.#cursor >= this.#store.next) return false;
    return this.#store.frameTicks - this.#store.ticksOf(this.#cursor) > MAX_LAG_TICKS;
  }

  #begin(packet: number, nowMs: MonotonicMs): void {
    const store = this.#store;
    const missed = store.frameOf(packet) - this.#lastFrame - 1;
    if (this.#lastTicks !== null) this.droppedFrames += Math.max(0, missed);
    this.#history.begin(store, packet, this.#lastTicks);
    this.#cursor = packet;
    this.#catchUpTo = store.next;
    this.#runKey = packet;
    this.#runMs = nowMs;
  }

  #sendNext(count: number): void {
    const store = this.#store;
    const history = this.#history;
    this.#batch.begin();
    let ticks = 0;
    for (let packet = this.#cursor; packet < this.#cursor + count; packet += 1) {
      ticks = history.ticksOf(store, packet);
      this.#add(packet, history.nextIndex, ticks);
      history.nextIndex += 1;
    }
    this.#cursor += count;
    this.#lastFrame = store.frameOf(this.#cursor - 1);
    this.#lastTicks = ticks;
    this.#flush();
  }

  #add(packet: number, index: number, ticks: number): void {
    const store = this.#store;
    const lengthBytes = store.lengthOf(packet);
    this.#batch.add(
      this.#stream,
      store.words,
      store.startOf(packet),
      lengthBytes,
      store.hasMarker(packet),
      index,
      this.timestampAt(ticks),
    );
    this.packets += 1;
    this.octets += lengthBytes;
  }

  #flush(): void {
    const batch = this.#batch;
    batch.seal(this.#stream.keys);
    for (let slot = 0; slot < batch.count; slot += 1) this.#socket.send(batch.packet(slot));
    // What the system didn't take at once is sent later, from where it lies now.
    if (this.#socket.isBlocked) batch.abandon();
  }
}
