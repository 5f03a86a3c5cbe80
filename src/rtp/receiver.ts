import type { MonotonicMs, WallMs } from '../base/clock.js';
import type { Depacketizer } from './depacketizer.js';
import { RtpPacket } from './packet.js';
import { ReceptionStats } from './reception-stats.js';
import { ReorderSequencer } from './reorder.js';
import type { RtcpHandler } from './rtcp.js';
import { parseRtcp } from './rtcp.js';
import { ntpToWallMs, writeReceiverReport, writeSourceDescription } from './rtcp-writer.js';
import type { PacketReceiver, Sequencer } from './sequencer.js';
import { InOrderSequencer } from './sequencer.js';
import { isNearInTime, SourceProbation } from './source-probation.js';

/** What is known of a track before its first packet. */
export type TrackReceiverOptions = {
  readonly transport: 'tcp' | 'udp';
  /** What the SDP says of this track. */
  readonly payloadType: number;
  readonly clockRateHz: number;
  /** Our own identity in RTCP. */
  readonly ownSsrc: number;
  readonly cname: string;
};

/** What the owner of a track wants to hear of besides its frames. */
export type TrackReceiverDeps = {
  readonly depacketizer: Depacketizer;
  /** The first packet came: over UDP it waits, and a `flush` is due in OPENING_MS. */
  readonly onFirstPacket?: () => void;
  /** The camera goes on under another SSRC, from the next frame on. */
  readonly onSourceChange?: () => void;
  /** The camera's clock showed `senderWallMs` at `rtpTimestamp`. */
  readonly onSenderReport?: (senderWallMs: WallMs, rtpTimestamp: number, arrivalMs: MonotonicMs) => void;
};

/** What became of what came, since the receiver was made. */
export type TrackCounters = {
  /** RTP packets of this track, whatever became of them. */
  packets: number;
  lost: number;
  duplicates: number;
  late: number;
  /** What came for RTP or RTCP and was neither. */
  malformed: number;
  /** Packets of a payload type that isn't this track's, as Geovision's 50. */
  foreign: number;
  /** Packets of another SSRC that weren't followed up. */
  strays: number;
};

/** How long a gap may hold up packets over UDP. */
const REORDER_AGE_MS = 100;

/**
 * Everything between a track's transport and its depacketizer: header, payload type, source, order. Has no
 * timer: the owner calls `flush` every so often (UDP) and sends what `writeReceiverReport` writes.
 */
export class TrackReceiver implements PacketReceiver {
  readonly #options: TrackReceiverOptions;
  readonly #deps: TrackReceiverDeps;
  readonly #packet = new RtpPacket();
  readonly #sequencer: Sequencer;
  readonly #stats: ReceptionStats;
  readonly #probation = new SourceProbation();
  readonly #rtcp: RtcpHandler;
  #ssrc = -1;
  #lastTimestamp = 0;
  #rtcpArrivalMs = 0 as MonotonicMs;
  /** Losses right before packets that were counted but not wanted. */
  #lostBeforeForeign = 0;
  #packets = 0;
  #malformed = 0;
  #foreign = 0;
  #strays = 0;

  constructor(options: TrackReceiverOptions, deps: TrackReceiverDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#stats = new ReceptionStats(options.clockRateHz);
    this.#sequencer =
      options.transport === 'tcp'
        ? new InOrderSequencer(this)
        : new ReorderSequencer({ maxAgeMs: REORDER_AGE_MS }, this);
    this.#rtcp = {
      onSenderReport: (ssrc, seconds, fraction, timestamp) =>
        this.#onSenderReport(ssrc, seconds, fraction, timestamp),
      onReportBlock: ignore,
      onSourceDescription: ignore,
      onBye: ignore,
      onOther: ignore,
    };
  }

  /** The camera's SSRC, null before its first packet. */
  get ssrc(): number | null {
    return this.#ssrc < 0 ? null : this.#ssrc;
  }

  get counters(): TrackCounters {
    const { lost, duplicates, late } = this.#sequencer.counters;
    return {
      packets: this.#packets,
      lost,
      duplicates,
      late,
      malformed: this.#malformed,
      foreign: this.#foreign,
      strays: this.#strays,
    };
  }

  /** One RTP packet, in `buffer[start, end)`. Over UDP the buffer may be kept for a while: it must not be reused. */
  onRtp(buffer: Buffer, start: number, end: number, arrivalMs: MonotonicMs): void {
    const packet = this.#packet;
    if (!packet.parse(buffer, start, end)) {
      this.#malformed += 1;
      return;
    }
    this.#packets += 1;
    if (packet.payloadType !== this.#options.payloadType) {
      this.#foreign += 1;
      // Where it counts along with the track it must be counted, or it would look like a loss.
      const countsAlong = packet.ssrc === this.#ssrc && this.#sequencer.expects(packet.sequence);
      if (countsAlong) this.#sequencer.push(packet, arrivalMs);
      return;
    }
    if (packet.ssrc === this.#ssrc) this.#accept(packet, arrivalMs);
    else this.#onOtherSource(packet, arrivalMs);
  }

  /** One compound RTCP packet. */
  onRtcp(buffer: Buffer, start: number, end: number, arrivalMs: MonotonicMs): void {
    this.#rtcpArrivalMs = arrivalMs;
    if (!parseRtcp(buffer, start, end, this.#rtcp)) this.#malformed += 1;
  }

  /** Stops waiting for packets that are overdue. */
  flush(nowMs: MonotonicMs): void {
    this.#sequencer.flush(nowMs);
  }

  /** Writes a receiver report with our CNAME at the start of `target`, which has room for 300 bytes. */
  writeReceiverReport(target: Buffer, nowMs: MonotonicMs): number {
    const { ownSsrc, cname } = this.#options;
    const block = this.#ssrc < 0 ? null : this.#stats.report(this.#ssrc, this.#sequencer.span, nowMs);
    const at = writeReceiverReport(target, 0, ownSsrc, block);
    return writeSourceDescription(target, at, ownSsrc, cname);
  }

  /** The sequencer's next packet in order. */
  onPacket(packet: RtpPacket, lostBefore: number): void {
    if (packet.payloadType === this.#options.payloadType) {
      this.#deps.depacketizer.push(packet, lostBefore + this.#lostBeforeForeign);
      this.#lostBeforeForeign = 0;
    } else {
      this.#lostBeforeForeign += lostBefore;
    }
  }

  #accept(packet: RtpPacket, arrivalMs: MonotonicMs): void {
    if (this.#probation.release()) this.#strays += 1;
    this.#lastTimestamp = packet.timestamp | 0;
    this.#stats.onPacket(packet.timestamp | 0, arrivalMs);
    this.#sequencer.push(packet, arrivalMs);
  }

  /**
   * A new SSRC is taken at once where it goes on with sequence and time, as with Uniview, which changes it each
   * GOP; else when a second packet confirms it. It is dropped as a stray if the old source goes on instead.
   */
  #onOtherSource(packet: RtpPacket, arrivalMs: MonotonicMs): void {
    const { clockRateHz } = this.#options;
    if (this.#ssrc < 0) {
      this.#ssrc = packet.ssrc;
      this.#accept(packet, arrivalMs);
      this.#deps.onFirstPacket?.();
      return;
    }
    const goesOn =
      this.#sequencer.expects(packet.sequence) &&
      isNearInTime(packet.timestamp, this.#lastTimestamp, clockRateHz);
    if (goesOn) {
      this.#changeSource(packet.ssrc);
      this.#accept(packet, arrivalMs);
      return;
    }
    const isConfirmed = this.#probation.isConfirmedBy(packet, clockRateHz);
    const wasHolding = this.#probation.release();
    if (!isConfirmed) {
      if (wasHolding) this.#strays += 1;
      this.#probation.hold(packet);
      return;
    }
    const held = this.#probation.packet;
    const isSwapped = ((packet.sequence - held.sequence) & 0x8000) !== 0;
    this.#sequencer.restart();
    this.#stats.restart();
    this.#changeSource(packet.ssrc);
    this.#accept(isSwapped ? packet : held, arrivalMs);
    this.#accept(isSwapped ? held : packet, arrivalMs);
  }

  #changeSource(ssrc: number): void {
    this.#ssrc = ssrc;
    this.#deps.onSourceChange?.();
  }

  /** Reports of SSRCs that send no media (Tapo C320WS) are no use: nothing says what their time refers to. */
  #onSenderReport(ssrc: number, ntpSeconds: number, ntpFraction: number, rtpTimestamp: number): void {
    if (ssrc !== this.#ssrc || ntpSeconds === 0) return;
    const arrivalMs = this.#rtcpArrivalMs;
    this.#stats.onSenderReport(ntpSeconds, ntpFraction, arrivalMs);
    this.#deps.onSenderReport?.(ntpToWallMs(ntpSeconds, ntpFraction), rtpTimestamp, arrivalMs);
  }
}

const ignore = (): void => {};
