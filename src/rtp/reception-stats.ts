import type { MonotonicMs } from '../base/clock.js';
import type { ReportBlock } from './rtcp-writer.js';
import type { SequenceSpan } from './sequencer.js';

/** What a receiver report says of one source (RFC 3550 §6.4.1, §A.3, §A.8). */
export class ReceptionStats {
  readonly #clockRateHz: number;
  #jitterTicks = 0;
  #hasArrival = false;
  #lastArrivalMs = 0;
  #lastTimestamp = 0;
  #generation = 0;
  #priorExpected = 0;
  #priorReceived = 0;
  #lastReport = 0;
  #lastReportMs = 0;

  constructor(clockRateHz: number) {
    this.#clockRateHz = clockRateHz;
  }

  get jitterTicks(): number {
    return this.#jitterTicks;
  }

  /** Interarrival jitter: the smoothed difference of how far apart packets came and were sent (§A.8). */
  onPacket(timestamp: number, arrivalMs: MonotonicMs): void {
    if (this.#hasArrival) {
      const apartTicks = ((arrivalMs - this.#lastArrivalMs) * this.#clockRateHz) / 1000;
      const differenceTicks = Math.abs(apartTicks - ((timestamp - this.#lastTimestamp) | 0));
      this.#jitterTicks += (differenceTicks - this.#jitterTicks) / 16;
    }
    this.#hasArrival = true;
    this.#lastArrivalMs = arrivalMs;
    this.#lastTimestamp = timestamp;
  }

  onSenderReport(ntpSeconds: number, ntpFraction: number, arrivalMs: MonotonicMs): void {
    this.#lastReport = (((ntpSeconds & 0xffff) << 16) | (ntpFraction >>> 16)) >>> 0;
    this.#lastReportMs = arrivalMs;
  }

  /** The block for a report that is sent now; the next one counts its losses from here. */
  report(ssrc: number, span: SequenceSpan, nowMs: MonotonicMs): ReportBlock {
    if (span.generation !== this.#generation) {
      this.#generation = span.generation;
      this.#priorExpected = 0;
      this.#priorReceived = 0;
    }
    const expected = span.expected - this.#priorExpected;
    const lost = expected - (span.received - this.#priorReceived);
    this.#priorExpected = span.expected;
    this.#priorReceived = span.received;
    const delayMs = this.#lastReport === 0 ? 0 : Math.max(0, nowMs - this.#lastReportMs);
    return {
      ssrc,
      fractionLost: expected <= 0 || lost <= 0 ? 0 : Math.min(255, Math.floor((lost * 256) / expected)),
      cumulativeLost: span.expected - span.received,
      extendedHighest: span.extendedHighest,
      jitterTicks: this.#jitterTicks,
      lastSenderReport: this.#lastReport,
      delaySinceLastSenderReport: Math.round((delayMs * 65_536) / 1000),
    };
  }

  /** A new source. */
  restart(): void {
    this.#jitterTicks = 0;
    this.#hasArrival = false;
    this.#lastReport = 0;
  }
}
