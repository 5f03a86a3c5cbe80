import { systemClock, type WallMs } from '../../../src/base/clock.js';
import { writeSenderReport, writeSourceDescription } from '../../../src/rtp/rtcp-writer.js';
import { seededRandom } from '../seeded-random.js';
import { type Faults, strikes } from './faults.js';
import type { OutPacket } from './packet-maker.js';
import type { Transport } from './transport.js';

const FOREIGN_PAYLOAD_TYPE = 50;
const REPORT_PERIOD_MS = 5_000;

/** A moment, and the RTP time that stands for it. */
export type Present = { readonly wallMs: WallMs; readonly ticks: number };

/** One RTP stream of one session: numbers the packets, reports on them, and treats them as a network may. */
export class RtpOut {
  sequence: number;
  ssrc: number;
  readonly #payloadType: number;
  readonly #faults: Faults;
  readonly #transport: Transport;
  readonly #random: () => number;
  #foreignSequence = 7_000;
  #packets = 0;
  #octets = 0;
  #held: Buffer | null = null;
  #reportedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    options: { readonly payloadType: number; readonly ssrc: number; readonly firstSequence: number },
    faults: Faults,
    transport: Transport,
  ) {
    this.sequence = options.firstSequence & 0xffff;
    this.ssrc = options.ssrc >>> 0;
    this.#payloadType = options.payloadType;
    this.#faults = faults;
    this.#transport = transport;
    this.#random = seededRandom(options.ssrc);
  }

  /** Sends the packets of one frame, and a sender report when one is due. */
  sendFrame(packets: readonly OutPacket[], isKey: boolean, present: Present): void {
    if (isKey && this.#packets > 0 && this.#faults.ssrcChangesEachGop)
      this.ssrc = (this.ssrc + 0x1234567) >>> 0;
    if (this.#faults.foreignPayloadType !== 'none') this.#sendForeign(packets[0]?.timestamp ?? 0);
    for (const packet of packets) {
      this.#dispatch(this.#serialise(packet, this.#payloadType, this.#nextSequence()));
      this.#octets += packet.payload.length;
    }
    // Networks swap packets that travel together; one held until the next frame would be late, not swapped.
    this.#release();
    const nowMs = systemClock.monotonicMs();
    if (nowMs - this.#reportedAtMs >= REPORT_PERIOD_MS && packets.length > 0) {
      this.#reportedAtMs = nowMs;
      this.sendReport(present);
    }
  }

  sendReport({ wallMs, ticks }: Present): void {
    const kind = this.#faults.senderReports;
    if (kind === 'off') return;
    const ssrc = kind === 'unknown-ssrc' ? this.ssrc ^ 0xffff : this.ssrc;
    const report = Buffer.alloc(512);
    const info = {
      wallMs: (kind === 'insane-ntp' ? wallMs - 20 * 365 * 86_400_000 : wallMs) as WallMs,
      rtpTimestamp: ticks,
      packets: this.#packets,
      octets: this.#octets,
    };
    const end = writeSourceDescription(report, writeSenderReport(report, 0, ssrc, info), ssrc, 'fake-camera');
    this.#transport.sendRtcp(report.subarray(0, end));
  }

  #sendForeign(timestamp: number): void {
    const isInSequence = this.#faults.foreignPayloadType === 'in-sequence';
    if (!isInSequence) this.#foreignSequence = (this.#foreignSequence + 1) & 0xffff;
    const sequence = isInSequence ? this.#nextSequence() : this.#foreignSequence;
    const packet = { payload: Buffer.from('not a picture'), marker: false, timestamp };
    this.#dispatch(this.#serialise(packet, FOREIGN_PAYLOAD_TYPE, sequence));
  }

  #nextSequence(): number {
    const sequence = this.sequence;
    this.sequence = (sequence + 1) & 0xffff;
    return sequence;
  }

  #serialise(packet: OutPacket, payloadType: number, sequence: number): Buffer {
    const bytes = Buffer.allocUnsafe(12 + packet.payload.length);
    bytes[0] = 0x80;
    bytes[1] = (packet.marker ? 0x80 : 0) | payloadType;
    bytes.writeUInt16BE(sequence, 2);
    bytes.writeUInt32BE(packet.timestamp >>> 0, 4);
    bytes.writeUInt32BE(this.ssrc, 8);
    packet.payload.copy(bytes, 12);
    return bytes;
  }

  /** What the network does to a packet. */
  #dispatch(bytes: Buffer): void {
    const faults = this.#faults;
    const count = this.#packets;
    this.#packets += 1;
    if (faults.stall || strikes(faults.loss, count, this.#random)) return;
    if (this.#held === null && strikes(faults.reordering, count, this.#random)) {
      this.#held = bytes;
      return;
    }
    this.#transport.sendRtp(bytes);
    if (strikes(faults.duplication, count, this.#random)) this.#transport.sendRtp(bytes);
    this.#release();
  }

  /** Sends the packet that another one was to overtake. */
  #release(): void {
    if (this.#held === null) return;
    const held = this.#held;
    this.#held = null;
    this.#transport.sendRtp(held);
  }
}
