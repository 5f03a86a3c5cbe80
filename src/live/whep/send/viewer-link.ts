import type { MonotonicMs } from '../../../base/clock.js';
import type { ReportBlock } from '../../../rtp/rtcp-writer.js';
import { RequestFlood } from './request-flood.js';
import type { RoundTrips } from './round-trips.js';

/** Browsers send a report along with each NACK: one look for so long, and so many packets, at least. */
const REPORT_MS = 900;
const REPORT_PACKETS = 40;
/** A pause in what is sent that isn't just the time between frames, and in which a queue is emptied. */
const IDLE_MS = 250;
const TRIED_MS = 300;

/** Below: nothing to speak of. Above: more than a burst of ours explains. */
const CALM_LOSS = 0.02;
const BAD_LOSS = 0.1;
/** Above this repeats help little: nearly a third of them is lost, too. */
const HEAVY_LOSS = 0.3;
/** So much longer than it can be, a way there and back has packets waiting in a queue; and far too many. */
const QUEUE_MS = 80;
const LONG_QUEUE_MS = 250;

/** In multiples of the stream's own rate: how fast who lost something is sent to, and whoever lost something then. */
const PACED = 2;
const TIGHT = 1.5;
/** Of what the link is seen to carry, or of where it last was too much, so much goes at once. */
const SAFE = 0.9;
/** Of what was sent, whatever a single report says. */
const MOST_CUT = 1 / 4;
/** Of the stream's rate: less isn't worth sending. */
const LEAST_SHARE = 1 / 20;
const LEAST_BYTES_PER_MS = 2;
/** A rate that is used by less isn't tried. */
const BUSY = 0.5;
/** Share by which the rate grows in a calm second: to where it is safe, and beyond, twice as fast each few seconds. */
const FAST_GROWTH = 0.25;
const SLOW_GROWTH = 0.05;
const MOST_SLOW_GROWTH = 0.15;
const CALM_FOR_FASTER = 4;
/** Calm reports in a row until nothing is held back; twice as many each time that was too early. */
const CALM_TO_OPEN = 5;
const MOST_CALM_TO_OPEN = 60;
const EARLY_MS = 15_000;

/** What a flood of requests takes away at once. */
const MOST_FLOOD_CUT = 1 / 2;

/** Reports in a row (RFC 8083 §4.3: three, where they come each second). */
const BREAK_REPORTS = 3;
const MEND_REPORTS = 2;
/** A TCP flow's rate may be exceeded so many times (RFC 8083 §4.3). */
const TCP_MULTIPLE = 10;
/** Of a stream: what is less shows little but keyframes anyway. */
const FRAMES_SHARE = 1 / 4;
/** What can't be helped by keyframes alone in this time ends. */
const LAST_CHANCE_MS = 10_000;
const HOPELESS_LOSS = 0.5;
/** A keyframe may take so long; a link that takes longer shows nothing. */
const PICTURE_MS = 2_000;
const LONGEST_PICTURE_MS = 4_000;

/** The stream, as the link has to carry it. */
export type Load = { readonly bytesPerMs: number; readonly keyBytes: number };

/** What a stream needs to be in time: smart encoders send little for many seconds, and then a large keyframe. */
const usualPerMs = ({ bytesPerMs, keyBytes }: Load): number => Math.max(bytesPerMs, keyBytes / PICTURE_MS);

/**
 * What one viewer's link takes, as far as its reports tell: all there is, a rate, or keyframes alone; and when to give
 * up. The camera can't be told to send less, so whoever sends by this rate leaves frames out.
 */
export class ViewerLink {
  /** Repeats included; infinite: nothing is held back. */
  bytesPerMs = Number.POSITIVE_INFINITY;
  isKeysOnly = false;
  /** Of the packets between the last two reports, sent once or twice. */
  loss = 0;
  /** Why nothing more should be sent. */
  endReason: string | null = null;
  /** What the next packet gets, and got when the rate was lowered. */
  #next: number;
  #loweredAt = -1;
  #highest: number;
  #lost = 0;
  #reportMs: number;
  // Since that report: what was sent, and what of it again.
  #sentPackets = 0;
  #sentBytes = 0;
  #repeatedPackets = 0;
  #idleMs = 0;
  #sentMs: number;
  // By the last report, a millisecond: what was sent, and what arrived.
  #sentPerMs = 0;
  #carriedPerMs = 0;
  /** What arrived when it was last too much. */
  #provenPerMs = Number.POSITIVE_INFINITY;
  #wasQueueing = false;
  /** Reports in a row without loss, and how many of them are to open the link. */
  #calm = 0;
  #calmToOpen = CALM_TO_OPEN;
  #openedMs = Number.NEGATIVE_INFINITY;
  /** Reports in a row that broke the rule, negative: that kept it. Since when keyframes alone go, or can't even. */
  #broken = 0;
  #keysSinceMs = 0;
  #tooThinSinceMs = Number.POSITIVE_INFINITY;
  readonly #trips: RoundTrips;
  readonly #flood: RequestFlood;

  /** `firstSequence`: of the first packet that goes out. */
  constructor(firstSequence: number, trips: RoundTrips, nowMs: MonotonicMs) {
    this.#trips = trips;
    this.#flood = new RequestFlood(nowMs);
    this.#next = firstSequence;
    this.#highest = firstSequence - 1;
    this.#reportMs = nowMs;
    this.#sentMs = nowMs;
  }

  onSent(packets: number, bytes: number, nowMs: MonotonicMs): void {
    this.#noteIdle(nowMs);
    this.#sentMs = nowMs;
    this.#next += packets;
    this.#count(packets, bytes);
  }

  onRepeated(bytes: number): void {
    this.#repeatedPackets += 1;
    this.#count(1, bytes);
  }

  /** A packet was asked for again. */
  onAsked(index: number, nowMs: MonotonicMs, load: Load): void {
    const flood = this.#flood.onAsked(index, this.#next, nowMs);
    if (flood === null) return;
    const perMs = Math.min(this.bytesPerMs, flood.bytesPerMs, PACED * usualPerMs(load));
    this.#limit(perMs * Math.max(MOST_FLOOD_CUT, SAFE * (1 - flood.share)), load);
  }

  onReport(report: ReportBlock, nowMs: MonotonicMs, load: Load): void {
    const expected = (report.extendedHighest - this.#highest) | 0;
    // Of packets that were never sent nothing can be known.
    if (expected >= this.#next - this.#highest) return;
    const passedMs = nowMs - this.#reportMs;
    // While nothing was sent the link wasn't tried.
    this.#noteIdle(nowMs);
    const triedMs = passedMs - this.#idleMs;
    if (passedMs < REPORT_MS || triedMs < TRIED_MS) return;
    if (expected < REPORT_PACKETS) {
      // Media timeout (RFC 8083 §4.1). After a pause the first packets are still on their way.
      const isMute = expected <= 0 && this.#sentPackets > REPORT_PACKETS && triedMs > LAST_CHANCE_MS;
      if (isMute) this.endReason = 'nothing of what is sent arrives';
      return;
    }
    const transmitted = expected + this.#repeatedPackets;
    const came = expected - (report.cumulativeLost - this.#lost);
    // Chromium takes repeats of old packets for a new start, and then counts as lost what never was.
    if (came >= 0) {
      this.loss = Math.max(0, 1 - came / transmitted);
      this.#sentPerMs = this.#sentBytes / triedMs;
      this.#carriedPerMs = (this.#sentPerMs * Math.min(came, transmitted)) / Math.max(1, this.#sentPackets);
      this.#conclude(nowMs, passedMs, load);
    }
    this.#highest = report.extendedHighest;
    this.#lost = report.cumulativeLost;
    this.#reportMs = nowMs;
    this.#sentPackets = 0;
    this.#sentBytes = 0;
    this.#repeatedPackets = 0;
    this.#idleMs = 0;
  }

  #conclude(nowMs: number, passedMs: number, load: Load): void {
    // What was lost before the rate was lowered says nothing of the rate.
    if (this.#highest >= this.#loweredAt) {
      this.#adapt(nowMs, passedMs, load);
      this.#judge(this.#sentBytes / passedMs, nowMs, load);
    }
    this.#judgeUse(nowMs, load);
  }

  #noteIdle(nowMs: number): void {
    const idleMs = nowMs - this.#sentMs - IDLE_MS;
    if (idleMs <= 0) return;
    this.#idleMs += idleMs;
    this.#sentMs = nowMs - IDLE_MS;
  }

  #count(packets: number, bytes: number): void {
    this.#sentPackets += packets;
    this.#sentBytes += bytes;
    this.#flood.onSent(packets, bytes);
  }

  /**
   * Loss along with a queue is ours to mend. Without one it may be a bad radio link's own, which repeats make good for,
   * or a queue's that is too short to be seen: then up to a third more than the link takes is sent for a while.
   */
  #adapt(nowMs: number, passedMs: number, load: Load): void {
    const { loss } = this;
    const { queueMs, smoothedMs } = this.#trips;
    const isQueueing = queueMs > QUEUE_MS || smoothedMs === 0;
    // Once it may be the viewer that was slow to answer; if it always is, it gets all that is sent nonetheless.
    const isStanding = isQueueing && this.#wasQueueing;
    const isFallingBehind = queueMs > LONG_QUEUE_MS && this.#carriedPerMs < SAFE * this.#sentPerMs;
    this.#wasQueueing = isQueueing;
    const isTooMuch = loss > HEAVY_LOSS || (isStanding && (loss > BAD_LOSS || isFallingBehind));
    if (isTooMuch) this.#lower(isQueueing, nowMs, load);
    else if (loss > CALM_LOSS && this.bytesPerMs > TIGHT * usualPerMs(load)) this.#pace(load);
    else if (!isQueueing || loss < CALM_LOSS) this.#grow(loss < CALM_LOSS, nowMs, passedMs, load);
  }

  /** Bursts first, then less than there is: what is seen to arrive. */
  #lower(isQueueing: boolean, nowMs: number, load: Load): void {
    if (this.loss < HEAVY_LOSS && this.bytesPerMs > TIGHT * usualPerMs(load)) {
      this.#pace(load);
      return;
    }
    this.#provenPerMs = this.#carriedPerMs;
    // Without a queue the loss may stay, whatever the rate.
    const cutPerMs = MOST_CUT * Math.min(this.bytesPerMs, this.#sentPerMs, load.bytesPerMs);
    const leastPerMs = isQueueing ? cutPerMs : Math.max(cutPerMs, load.keyBytes / PICTURE_MS);
    this.#limit(Math.max(SAFE * this.#carriedPerMs, leastPerMs), load);
    this.#loweredAt = this.#next;
    this.#flood.begin(this.#next, nowMs);
  }

  #pace(load: Load): void {
    const isPaced = this.bytesPerMs < Number.POSITIVE_INFINITY;
    this.#limit((isPaced ? TIGHT : PACED) * usualPerMs(load), load);
  }

  #limit(bytesPerMs: number, load: Load): void {
    const most = Math.min(this.bytesPerMs, PACED * usualPerMs(load));
    const least = Math.max(LEAST_BYTES_PER_MS, LEAST_SHARE * load.bytesPerMs);
    this.bytesPerMs = Math.max(least, Math.min(most, bytesPerMs));
    this.#calm = 0;
  }

  #grow(isCalm: boolean, nowMs: number, passedMs: number, load: Load): void {
    if (this.bytesPerMs === Number.POSITIVE_INFINITY) return;
    if (this.#calm === 0 && nowMs - this.#openedMs < EARLY_MS) {
      this.#calmToOpen = Math.min(2 * this.#calmToOpen, MOST_CALM_TO_OPEN);
      this.#openedMs = Number.NEGATIVE_INFINITY;
    }
    if (isCalm) this.#calm += 1;
    const mostPerMs = Math.max(LEAST_BYTES_PER_MS, PACED * usualPerMs(load));
    if (this.bytesPerMs >= mostPerMs && this.#calm >= this.#calmToOpen) {
      this.bytesPerMs = Number.POSITIVE_INFINITY;
      this.#openedMs = nowMs;
      return;
    }
    const seconds = Math.min(passedMs, 5_000) / 1000;
    const slow = Math.min(MOST_SLOW_GROWTH, SLOW_GROWTH * 2 ** Math.floor(this.#calm / CALM_FOR_FASTER));
    const fastPerMs = this.bytesPerMs * (1 + FAST_GROWTH) ** seconds;
    const isTried = this.bytesPerMs >= TIGHT * usualPerMs(load) || this.#sentPerMs > BUSY * this.bytesPerMs;
    const slowPerMs = isTried ? this.bytesPerMs * (1 + slow) ** seconds : this.bytesPerMs;
    this.bytesPerMs = Math.min(mostPerMs, Math.max(slowPerMs, Math.min(fastPerMs, this.#provenPerMs)));
  }

  /** Circuit breakers (RFC 8083 §4.3, §4.4): first keyframes alone, which is a tenth or so (§4.5), then the end. */
  #judge(sentPerMs: number, nowMs: number, load: Load): void {
    const { loss } = this;
    const packetBytes = this.#sentBytes / Math.max(1, this.#sentPackets);
    // By the least round trip: queues have been dealt with.
    const tcpPerMs = packetBytes / (Math.max(1, this.#trips.leastMs) * Math.sqrt((2 * loss) / 3));
    const isTooMuch = this.#trips.smoothedMs > 0 && loss > CALM_LOSS && sentPerMs > TCP_MULTIPLE * tcpPerMs;
    const isBroken = isTooMuch || loss > HEAVY_LOSS;
    this.#broken = isBroken ? Math.max(1, this.#broken + 1) : Math.min(0, this.#broken - 1);
    if (this.isKeysOnly) {
      const hadChance = nowMs - this.#keysSinceMs > LAST_CHANCE_MS && this.#broken >= BREAK_REPORTS;
      if (hadChance && (isTooMuch || loss > HOPELESS_LOSS))
        this.endReason = 'the link loses too many packets';
      if (this.#broken <= -MEND_REPORTS) this.isKeysOnly = false;
    } else if (this.#broken >= BREAK_REPORTS) {
      const mostPerMs = TCP_MULTIPLE * tcpPerMs;
      this.isKeysOnly = loss > HEAVY_LOSS || mostPerMs < FRAMES_SHARE * load.bytesPerMs;
      this.#keysSinceMs = nowMs;
      this.#broken = 0;
      if (!this.isKeysOnly) this.#limit(SAFE * mostPerMs, load);
      this.#loweredAt = this.#next;
    }
  }

  /** Media usability (RFC 8083 §4.4). */
  #judgeUse(nowMs: number, load: Load): void {
    const isTooThin = load.keyBytes > this.bytesPerMs * LONGEST_PICTURE_MS;
    this.#tooThinSinceMs = isTooThin ? Math.min(this.#tooThinSinceMs, nowMs) : Number.POSITIVE_INFINITY;
    if (nowMs - this.#tooThinSinceMs > LAST_CHANCE_MS) this.endReason = 'the link is too thin for a picture';
  }
}
