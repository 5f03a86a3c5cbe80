import type { MonotonicMs } from '../../../base/clock.js';
import type { ReportBlock } from '../../../rtp/rtcp-writer.js';
import type { PacketStore } from '../packets/packet-store.js';
import type { MediaSocket } from '../path/media-socket.js';
import { MAX_PACKET_BYTES, type SrtpBatch, type SrtpStream } from '../secure/srtp-batch.js';
import { RepeatBudget } from './repeat-budget.js';
import { RoundTrips } from './round-trips.js';
import { SendHistory } from './send-history.js';
import { SendPace } from './send-pace.js';
import { ViewerLink } from './viewer-link.js';

/** After the first keyframe, until the viewer has all there was: in multiples of the stream's rate, and 4 Mbit/s. */
const CATCH_UP = 3;
const LEAST_CATCH_UP_BYTES_PER_MS = 500;
/** A link that takes less, in multiples of the stream's rate, can't make up for anything. */
const HEADROOM = 1.2;

/** Between two answers to requests for a keyframe; each time the same one didn't help, twice as long. */
const FIRST_RESTART_GAP_MS = 1_000;
/** A sign of loss counts for so long: Chromium asks for a keyframe when it has waited 3 s for a packet. */
const TROUBLE_MS = 5_000;
/** A viewer that never says what came is taken to have its first picture after so long. */
const FIRST_PICTURE_MS = 10_000;
/** How far behind a viewer may be that isn't just starting. */
const MAX_LAG_TICKS = 90_000;

/** What became of a turn: it has all there is, got some, has to wait for its pace or the system, or for its link. */
export type Progress = 'done' | 'sent' | 'waits' | 'rests';

/** Where packets go. */
export type PacketSink = Pick<MediaSocket, 'isConnected' | 'isBlocked' | 'send'>;

/** What the sender shares with others of its thread. */
export type VideoSenderDeps = {
  readonly store: PacketStore;
  readonly batch: SrtpBatch;
  readonly socket: PacketSink;
  readonly stream: SrtpStream;
  readonly nowMs: MonotonicMs;
};

/** Sends one viewer the camera's video: a cursor in the store, at the viewer's own pace. */
export class VideoSender {
  droppedFrames = 0;
  packets = 0;
  octets = 0;
  readonly roundTrips = new RoundTrips();
  readonly #store: PacketStore;
  readonly #batch: SrtpBatch;
  readonly #socket: PacketSink;
  readonly #stream: SrtpStream;
  readonly #history: SendHistory;
  readonly #timestampOffset: number;
  readonly #pace: SendPace;
  readonly #repeats: RepeatBudget;
  readonly #link: ViewerLink;
  /** The next packet to send; -1 while it waits for a keyframe from `#earliestKey` on. */
  #cursor = -1;
  #earliestKey = 0;
  /** Up to here a viewer may be behind: what there was when its run began. */
  #catchUpTo = 0;
  #lastFrame = -1;
  #lastTicks: number | null = null;
  /** The keyframe that the run began with, its frame, and when. */
  #runKey = -1;
  #runFrame = -1;
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
    this.#pace = new SendPace(deps.nowMs);
    this.#repeats = new RepeatBudget(deps.nowMs);
    this.#link = new ViewerLink(start.index, this.roundTrips, deps.nowMs);
    this.#firstPictureUntilMs = deps.nowMs + FIRST_PICTURE_MS;
  }

  get ssrc(): number {
    return this.#stream.ssrc;
  }

  /** Why this viewer can't be shown anything; null: it can. */
  get endReason(): string | null {
    return this.#link.endReason;
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
    this.#pace.setRate(this.#ratePerMs(), nowMs);
    const count = this.#pace.available(this.#store.next - this.#cursor, nowMs);
    if (count === 0) return this.#pace.isSlow ? 'rests' : 'waits';
    this.#sendNext(count, nowMs);
    return 'sent';
  }

  /** What the viewer says it got. */
  hear(report: ReportBlock, nowMs: MonotonicMs): void {
    if (report.fractionLost > 0) this.#troubleMs = nowMs;
    else this.#firstPictureUntilMs = nowMs;
    this.roundTrips.onHeard(report.lastSenderReport, report.delaySinceLastSenderReport, nowMs);
    this.#link.onReport(report, nowMs, this.#store);
    this.#heedLink(nowMs);
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
    if (newestKey < 0 || this.#isThin || nowMs - this.#runMs < this.#restartGapMs) return false;
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
    const index = this.#history.indexOf(sequence);
    this.#link.onAsked(index, nowMs, this.#store);
    this.#heedLink(nowMs);
    if (this.#socket.isBlocked) return;
    const found = index < 0 ? null : this.#history.find(this.#store, index);
    // A link that has no room to spare isn't asked to carry what a newer keyframe has made up for.
    if (found === null || (this.#isThin && found.packet < this.#runKey)) return;
    // Without its keyframe nothing else of a run is of use.
    const isKey = this.#isThin && this.#store.frameOf(found.packet) === this.#runFrame;
    if (isKey && !this.#pace.mayGoAhead(nowMs)) return;
    if (!this.#repeats.take(index, isKey, nowMs)) return;
    this.#batch.begin();
    const bytes = this.#add(found.packet, index, found.ticks);
    this.#flush();
    this.#link.onRepeated(bytes);
    this.#pace.take(0, bytes);
  }

  #heedLink(nowMs: MonotonicMs): void {
    const { bytesPerMs, loss } = this.#link;
    this.#repeats.setLink(bytesPerMs / MAX_PACKET_BYTES, loss, this.roundTrips.smoothedMs, nowMs);
  }

  /** A cursor that points at something worth sending. False: there is nothing. */
  #findPlace(nowMs: MonotonicMs): boolean {
    const store = this.#store;
    if (this.#cursor >= 0) {
      const isOverrun = this.#cursor < store.first;
      if (!isOverrun && !this.#isToSkip()) return this.#cursor < store.next;
      // A frame that has begun is never gone on with after a gap: the next thing is a keyframe.
      this.#earliestKey = this.#cursor + 1;
      this.#cursor = -1;
    }
    if (store.newestKey < 0 || store.newestKey < this.#earliestKey) return false;
    this.#begin(store.newestKey, nowMs);
    return true;
  }

  /** Whether to go on at the next keyframe, or the newest, instead of here. */
  #isToSkip(): boolean {
    const store = this.#store;
    const cursor = this.#cursor;
    if (cursor >= store.next || cursor === store.newestKey) return false;
    const isLate = store.frameTicks - store.ticksOf(cursor) > MAX_LAG_TICKS;
    // Late without a newer keyframe: what there is has to be sent, or the picture would stand.
    if (!this.#isThin) return isLate && cursor >= this.#catchUpTo && store.newestKey > cursor;
    // What has been sent of a frame would be for nothing; and a keyframe may take longer than that.
    return (isLate || this.#link.isKeysOnly) && store.frameOf(cursor) !== this.#lastFrame;
  }

  /** The link takes less than would be needed to catch up with anything. */
  get #isThin(): boolean {
    return this.#link.isKeysOnly || this.#link.bytesPerMs < HEADROOM * this.#store.bytesPerMs;
  }

  /**
   * What the link takes. Behind the keyframe at which a run begins, up to where the viewer is live, no faster than that
   * can be taken back when it is too much.
   */
  #ratePerMs(): number {
    const store = this.#store;
    const { bytesPerMs } = this.#link;
    const isCatchingUp = this.#cursor < this.#catchUpTo && store.frameOf(this.#cursor) !== this.#runFrame;
    if (!isCatchingUp) return bytesPerMs;
    return Math.min(bytesPerMs, Math.max(LEAST_CATCH_UP_BYTES_PER_MS, CATCH_UP * store.bytesPerMs));
  }

  #begin(packet: number, nowMs: MonotonicMs): void {
    const store = this.#store;
    const missed = store.frameOf(packet) - this.#lastFrame - 1;
    if (this.#lastTicks !== null) this.droppedFrames += Math.max(0, missed);
    this.#history.begin(store, packet, this.#lastTicks);
    this.#cursor = packet;
    this.#catchUpTo = store.next;
    this.#runKey = packet;
    this.#runFrame = store.frameOf(packet);
    this.#runMs = nowMs;
  }

  #sendNext(count: number, nowMs: MonotonicMs): void {
    const store = this.#store;
    const history = this.#history;
    this.#batch.begin();
    let ticks = 0;
    let bytes = 0;
    for (let packet = this.#cursor; packet < this.#cursor + count; packet += 1) {
      ticks = history.ticksOf(store, packet);
      bytes += this.#add(packet, history.nextIndex, ticks);
      history.nextIndex += 1;
    }
    this.#cursor += count;
    this.#lastFrame = store.frameOf(this.#cursor - 1);
    this.#lastTicks = ticks;
    this.#flush();
    this.#link.onSent(count, bytes, nowMs);
    this.#pace.take(count, bytes);
  }

  /** Returns its length. */
  #add(packet: number, index: number, ticks: number): number {
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
    return lengthBytes;
  }

  #flush(): void {
    const batch = this.#batch;
    batch.seal(this.#stream.keys);
    for (let slot = 0; slot < batch.count; slot += 1) this.#socket.send(batch.packet(slot));
    // What the system didn't take at once is sent later, from where it lies now.
    if (this.#socket.isBlocked) batch.abandon();
  }
}
