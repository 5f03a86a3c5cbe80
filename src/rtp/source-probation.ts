import { RtpPacket } from './packet.js';

/** Two packets of one source are this close in sequence, even if the network swapped them. */
const NEAR_PACKETS = 16;
/** And this close in time. */
const NEAR_MS = 10_000;

/** Whether `timestamp` is near `reference` on the clock of the track. */
export const isNearInTime = (timestamp: number, reference: number, clockRateHz: number): boolean =>
  Math.abs((timestamp - reference) | 0) <= (NEAR_MS * clockRateHz) / 1000;

/**
 * Keeps the first packet of an unknown SSRC until the next one tells a source that goes on from a stray packet
 * of somebody else's session (Reolink sends those after a reconnect). A copy: over TCP the buffer is reused.
 */
export class SourceProbation {
  readonly packet = new RtpPacket();
  #isHolding = false;

  hold(packet: RtpPacket): void {
    this.packet.assign(packet);
    this.packet.buffer = Buffer.from(packet.buffer.subarray(packet.payloadStart, packet.payloadEnd));
    this.packet.payloadStart = 0;
    this.packet.payloadEnd = this.packet.buffer.length;
    this.#isHolding = true;
  }

  /** Gives the kept packet up, or over. False: there was none. */
  release(): boolean {
    const wasHolding = this.#isHolding;
    this.#isHolding = false;
    return wasHolding;
  }

  /** Whether `packet` and the kept one speak for a source that is really there. */
  isConfirmedBy(packet: RtpPacket, clockRateHz: number): boolean {
    if (!this.#isHolding || packet.ssrc !== this.packet.ssrc || packet.sequence === this.packet.sequence) {
      return false;
    }
    const apart = Math.abs(((packet.sequence - this.packet.sequence) << 16) >> 16);
    return apart <= NEAR_PACKETS && isNearInTime(packet.timestamp, this.packet.timestamp, clockRateHz);
  }
}
