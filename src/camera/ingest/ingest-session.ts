import type { Clock, MonotonicMs } from '../../base/clock.js';
import { AppError, messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import type { RingWriter } from '../../ring/writer.js';
import { OPENING_MS } from '../../rtp/reorder.js';
import { RtspSession, type RtspSessionHandlers } from '../../rtsp/session.js';
import type { QuirkName } from '../../store/cameras.js';
import type { CameraSource, SessionFault, Waiting } from '../messages.js';
import { policiesOf, quirkNames } from '../quirks.js';
import { chooseMedias, type MediaChoice, mediasOf } from './choose-medias.js';
import type { MetadataListener } from './metadata-track.js';
import { Reception } from './reception.js';
import { RingTally } from './ring-tally.js';
import type { StreamTime } from './stream-time.js';

/** No video frame for this long, and the camera counts as lost, whatever its sockets say. */
const STALL_AFTER_MS = 10_000;
/** Arlo ends sessions that don't hear a receiver report that often (mediamtx#1403). */
const REPORT_PERIOD_MS = 5_000;
const REPORT_BYTES = 512;

export type IngestSessionDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly readBuffer: Buffer;
  readonly ring: RingWriter;
  readonly time: StreamTime;
  /** Called for each media packet; returns when it came. */
  readonly onPacket: () => MonotonicMs;
  /** Frames may have come without a packet. */
  readonly onFlushed: () => void;
  /** The quirks that count; there are more than before. */
  readonly onQuirks: (names: readonly QuirkName[]) => void;
  /** Whether the metadata track of a camera that has one is there. */
  readonly onMetadata: (isThere: boolean) => void;
  readonly analytics: MetadataListener;
  readonly onPlaying: () => void;
  /** The camera sends, and this is missing before anything can be shown; again when that changes. */
  readonly onWaiting: (waiting: Waiting) => void;
  readonly onStreaming: () => void;
  /** Once; no frame is written to the ring after it. */
  readonly onEnded: (fault: SessionFault) => void;
};

/**
 * One session with a camera, from DESCRIBE to its end, and the error boundary around it: whatever the camera
 * sends, and whatever we do wrong with it, ends this session and nothing else.
 */
export class IngestSession implements RtspSessionHandlers {
  readonly #deps: IngestSessionDeps;
  readonly #rtsp: RtspSession;
  readonly #wantsMetadata: boolean;
  readonly #tally: RingTally;
  #choice: MediaChoice | null = null;
  #reception: Reception | null = null;
  #isEnded = false;
  #isStreaming = false;
  /** Since when the camera owes us a frame, or null while it doesn't. */
  #waitingSinceMs: MonotonicMs | null = null;
  /** Told of last. */
  #waitsFor = '';
  #lastReportMs: MonotonicMs;
  #quirksTold = 0;
  /** Of what the camera sent, as far as it was looked at for news. */
  #noticedBytes = 0;

  constructor(source: CameraSource, deps: IngestSessionDeps) {
    this.#deps = deps;
    this.#tally = new RingTally(deps.ring);
    this.#lastReportMs = deps.clock.monotonicMs();
    const { url, transport, quirks = {}, wantsMetadata = false } = source;
    this.#wantsMetadata = wantsMetadata;
    const options = { url, transport, policies: policiesOf(quirks) };
    this.#rtsp = new RtspSession(options, {
      clock: deps.clock,
      log: deps.log,
      readBuffer: deps.readBuffer,
      handlers: this,
    });
  }

  /** Whether the camera was asked for its metadata. */
  get hasAskedForMetadata(): boolean {
    return (this.#choice?.metadata ?? null) !== null;
  }

  /** Its pictures can be shown. */
  get isStreaming(): boolean {
    return this.#isStreaming;
  }

  /** PLAY was answered. */
  get isPlaying(): boolean {
    return !this.#isEnded && this.#waitingSinceMs !== null;
  }

  /** Whether the camera has answered in its handshake since this was last asked: one that is not there never does. */
  takeHandshakeNews(): boolean {
    if (this.#isEnded) return false;
    const { receivedBytes } = this.#rtsp.counters;
    const isNews = receivedBytes !== this.#noticedBytes;
    this.#noticedBytes = receivedBytes;
    return isNews && this.#waitingSinceMs === null;
  }

  /** Runs until PLAY is answered; what follows comes through the handlers. */
  async run(): Promise<void> {
    if (this.#isEnded) return;
    try {
      this.#choice = chooseMedias(await this.#rtsp.describe(), this.#wantsMetadata);
      await this.#rtsp.setup(mediasOf(this.#choice));
      await this.#rtsp.play();
      this.#waitingSinceMs = this.#deps.clock.monotonicMs();
      this.#deps.onPlaying();
      this.#tellMetadata(this.#choice);
      this.#tellQuirks();
    } catch (fault) {
      this.#end(fault);
    }
  }

  /** Ends the session politely; resolves when its sockets are closed, and all that came is counted. */
  close(): Promise<void> {
    this.#end(new AppError('aborted', 'the session was ended by us'));
    return this.#closed();
  }

  async #closed(): Promise<void> {
    await this.#rtsp.close();
    this.#publishCounters();
  }

  #tellMetadata({ metadata }: MediaChoice): void {
    if (metadata !== null) this.#deps.onMetadata(this.#rtsp.liveTracks.at(-1) === true);
  }

  #tellQuirks(): void {
    const { activeQuirks } = this.#rtsp;
    if (activeQuirks.size === this.#quirksTold) return;
    this.#quirksTold = activeQuirks.size;
    this.#deps.onQuirks(quirkNames(activeQuirks));
  }

  /** Tells the ring what its sockets saw: all bytes from the camera, whatever they were, and what was none of its media. */
  #publishCounters(): void {
    const { counters } = this.#rtsp;
    this.#tally.tell('receivedBytes', counters.receivedBytes);
    this.#tally.tell('garbageBytes', counters.garbageBytes);
    this.#tally.tell('packetsForeign', counters.unknownChannelFrames + counters.foreignUdpPackets);
    this.#tally.tell('unsentPackets', counters.droppedWrites);
  }

  /** Every second: the stall watchdog, receiver reports, counters. */
  tick(): void {
    if (this.#isEnded) return;
    const nowMs = this.#deps.clock.monotonicMs();
    const reception = this.#reception;
    reception?.video.settle(nowMs);
    this.#flush();
    if (this.#isEnded) return;
    this.#publishCounters();
    this.#tellQuirks();
    reception?.publishCounters();
    this.#tellClockError();
    this.#tellWaiting();
    // Any whole access unit is life: a keyframe may come once a minute.
    const aliveMs = reception?.video.lastUnitMs ?? this.#waitingSinceMs;
    if (aliveMs !== null && nowMs - aliveMs > STALL_AFTER_MS) {
      this.#end(new AppError('stalled', `no video frame for ${STALL_AFTER_MS / 1000} s`));
    } else if (reception !== null && nowMs - this.#lastReportMs >= REPORT_PERIOD_MS) {
      this.#lastReportMs = nowMs;
      const report = Buffer.allocUnsafe(REPORT_BYTES);
      reception.writeReports(report, nowMs, (index, end) =>
        this.#rtsp.sendRtcp(index, report.subarray(0, end)),
      );
    }
  }

  #tellWaiting(): void {
    const waitsFor = this.#reception?.video.lastUnitMs == null ? '' : this.#reception.video.waitsFor;
    if (waitsFor === this.#waitsFor || this.#isStreaming) return;
    this.#waitsFor = waitsFor;
    const sinceMs = this.#waitingSinceMs;
    if (waitsFor !== '' && sinceMs !== null) this.#deps.onWaiting({ waitsFor, sinceMs });
  }

  #tellClockError(): void {
    const ppm = this.#deps.time.takeClockErrorPpm();
    if (ppm === 0) return;
    this.#deps.log.warn("the camera's clock runs wrong: its times are corrected", {
      clock_error_ppm: Math.round(ppm),
    });
  }

  onRtp(trackIndex: number, buffer: Buffer, start: number, end: number): void {
    const reception = this.#reception ?? this.#receive();
    if (reception === null || this.#isEnded) return;
    try {
      reception.onRtp(trackIndex, buffer, start, end, this.#deps.onPacket());
    } catch (fault) {
      this.#end(fault);
      return;
    }
    this.#noticeFirstFrame(reception);
  }

  onRtcp(trackIndex: number, buffer: Buffer, start: number, end: number): void {
    if (this.#isEnded) return;
    try {
      this.#reception?.onRtcp(trackIndex, buffer, start, end, this.#deps.clock.monotonicMs());
    } catch (fault) {
      this.#end(fault);
    }
  }

  /** Begins with the first packet: only then it is settled which transport the media comes over. */
  #receive(): Reception | null {
    if (this.#choice === null || this.#isEnded) return null;
    const { clock, ring, time, analytics } = this.#deps;
    const { transport } = this.#rtsp;
    const onFirstPacket = (): void => {
      if (transport === 'udp') clock.after(OPENING_MS, () => this.#flush());
    };
    this.#reception = new Reception(this.#choice, {
      ...{ clock, ring, time, transport },
      ...{ onFirstPacket, analytics },
    });
    return this.#reception;
  }

  /** Hands out what has waited long enough for packets that are missing before it (UDP). */
  #flush(): void {
    const reception = this.#reception;
    if (reception === null || this.#isEnded) return;
    try {
      reception.flush(this.#deps.clock.monotonicMs());
    } catch (fault) {
      this.#end(fault);
      return;
    }
    this.#deps.onFlushed();
    this.#noticeFirstFrame(reception);
  }

  #noticeFirstFrame(reception: Reception): void {
    if (this.#isStreaming || !reception.video.isSettled) return;
    this.#isStreaming = true;
    this.#deps.onStreaming();
  }

  /** The same tracks begin anew, over another transport. */
  onRestart(): void {
    this.#reception?.end();
    this.#reception = null;
  }

  onEnd(reason: AppError): void {
    this.#end(reason);
  }

  #end(fault: unknown): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#reception?.end();
    void this.#closed();
    const code = fault instanceof AppError ? fault.code : 'internal_error';
    if (code === 'internal_error') {
      const stack = fault instanceof Error ? fault.stack : String(fault);
      this.#deps.log.error('the session failed inside', { stack });
    }
    this.#deps.onEnded({ code, message: messageOf(fault) });
  }
}
