import { randomBytes } from 'node:crypto';
import { VIDEO_CLOCK_HZ } from '../../../codec/track.js';
import { RTP_HEADER_BYTES } from '../../../rtp/packet-writer.js';
import { writeBye, writeSenderReport, writeSourceDescription } from '../../../rtp/rtcp-writer.js';
import { INTERLEAVING_BYTES, nextPacket, type PacketBatch } from './packet-batch.js';
import { randomNumbers, rtpTime } from './rtp-numbers.js';
import type { AxisMoment } from './stream-axis.js';

const MAX_BYTES = 128;
/** By which a player knows that both tracks are of one clock (RFC 3550 §6.5.1); nothing of ours is told. */
const CNAME = randomBytes(9).toString('base64url');

/** One track of a camera: its numbers, and what was sent of it since they began. */
export class SentTrack {
  readonly numbers = randomNumbers();
  #packets = 0;
  #octets = 0;

  count({ bytes }: PacketBatch): void {
    for (let at = 0; at < bytes.length; at = nextPacket(bytes, at)) {
      this.#packets += 1;
      this.#octets += bytes.readUInt16BE(at + INTERLEAVING_BYTES - 2) - RTP_HEADER_BYTES;
    }
  }

  /** A sender report for a moment of the axis (RFC 3550 §6.4.1). */
  report(clockRateHz: number, { ticks, wallMs }: AxisMoment): Buffer {
    const packet = Buffer.alloc(MAX_BYTES);
    const rtpTimestamp = rtpTime(this.numbers, (ticks / VIDEO_CLOCK_HZ) * clockRateHz);
    const sent = { packets: this.#packets, octets: this.#octets };
    const end = writeSenderReport(packet, 0, this.numbers.ssrc, { wallMs, rtpTimestamp, ...sent });
    return packet.subarray(0, writeSourceDescription(packet, end, this.numbers.ssrc, CNAME));
  }

  /** That nothing more comes: behind a report, as every compound packet begins with one. */
  goodbye(clockRateHz: number, moment: AxisMoment): Buffer {
    const report = this.report(clockRateHz, moment);
    const packet = Buffer.alloc(MAX_BYTES);
    report.copy(packet);
    return packet.subarray(0, writeBye(packet, report.length, this.numbers.ssrc));
  }
}
