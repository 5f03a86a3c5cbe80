import type { ReportBlock } from '../../../src/rtp/rtcp-writer.js';

const NACK_EVERY_MS = 20;
const NACK_AGAIN_MS = 100;
const NACK_TRIES = 10;
const MOST_MISSING = 1_000;
const REPORT_EVERY_MS = 1_000;
const NO_PICTURE_MS = 3_000;

type Said = {
  lost(sequence: number): void;
  wanted(): void;
  report(block: Omit<ReportBlock, 'ssrc'>): void;
};

export type Shown = { readonly timestamp: number; readonly atMs: number };

/**
 * Receives as a browser does: asks for what is missing every 100 ms, ten times at most; shows frames in order, or goes
 * on at a keyframe that is whole; asks for one when nothing could be shown for 3 s; tells each second what came.
 */
export class ModelViewer {
  readonly shown: Shown[] = [];
  wanted = 0;
  asked = 0;
  repeats = 0;
  readonly #isKey: (timestamp: number) => boolean;
  readonly #say: Said;
  readonly #base: number;
  readonly #got = new Map<number, { readonly timestamp: number; readonly marker: boolean }>();
  readonly #missing = new Map<number, { tries: number; askedMs: number }>();
  #highest: number;
  #received = 0;
  /** The next packet to show; -1: that of a keyframe. */
  #next = -1;
  readonly #keys = new Set<number>();
  #pictureMs = 0;
  #reportedMs = 0;
  #priorExpected = 0;
  #priorReceived = 0;
  #lastReport = 0;
  #lastReportMs = 0;

  constructor(firstIndex: number, isKey: (timestamp: number) => boolean, say: Said) {
    this.#base = firstIndex;
    this.#highest = firstIndex - 1;
    this.#isKey = isKey;
    this.#say = say;
  }

  take(packet: Buffer, nowMs: number): void {
    if (packet[1] === 200) {
      this.#lastReport = packet.readUInt32BE(4);
      this.#lastReportMs = nowMs;
      return;
    }
    if (this.#pictureMs === 0) this.#pictureMs = nowMs;
    const sequence = packet.readUInt16BE(2);
    const index = this.#highest + (((sequence - this.#highest) << 16) >> 16);
    this.#received += 1;
    if (this.#got.has(index)) this.repeats += 1;
    const timestamp = packet.readUInt32BE(4);
    for (let at = this.#highest + 1; at < index; at += 1) this.#missing.set(at, { tries: 0, askedMs: 0 });
    this.#highest = Math.max(this.#highest, index);
    this.#missing.delete(index);
    this.#got.set(index, { timestamp, marker: (packet[1]! & 0x80) !== 0 });
    if (this.#isKey(timestamp)) this.#keys.add(timestamp);
    if (this.#missing.size > MOST_MISSING) {
      this.#missing.clear();
      this.#want();
    }
    this.#show(nowMs);
  }

  step(nowMs: number): void {
    if (this.#received === 0) return;
    if (nowMs % NACK_EVERY_MS === 0) this.#ask(nowMs);
    if (nowMs - this.#reportedMs >= REPORT_EVERY_MS) this.#report(nowMs);
    if (nowMs - this.#pictureMs > NO_PICTURE_MS) {
      this.#want();
      this.#pictureMs = nowMs - NO_PICTURE_MS + 1_000;
    }
  }

  #want(): void {
    this.wanted += 1;
    this.#say.wanted();
  }

  #ask(nowMs: number): void {
    let hasAsked = false;
    for (const [index, state] of this.#missing) {
      if (state.tries > 0 && nowMs - state.askedMs < NACK_AGAIN_MS) continue;
      state.tries += 1;
      state.askedMs = nowMs;
      if (state.tries > NACK_TRIES) this.#missing.delete(index);
      else {
        hasAsked = true;
        this.asked += 1;
        this.#say.lost(index & 0xffff);
      }
    }
    // Browsers put a report before each request.
    if (hasAsked) this.#report(nowMs);
  }

  #report(nowMs: number): void {
    this.#reportedMs = nowMs;
    const expected = this.#highest - this.#base + 1;
    const lost = expected - this.#priorExpected - (this.#received - this.#priorReceived);
    const share = lost <= 0 ? 0 : lost / Math.max(1, expected - this.#priorExpected);
    this.#priorExpected = expected;
    this.#priorReceived = this.#received;
    this.#say.report({
      fractionLost: Math.min(255, Math.floor(share * 256)),
      cumulativeLost: expected - this.#received,
      extendedHighest: this.#highest,
      jitterTicks: 0,
      lastSenderReport: this.#lastReport,
      delaySinceLastSenderReport: Math.round(((nowMs - this.#lastReportMs) * 65_536) / 1000),
    });
  }

  #show(nowMs: number): void {
    for (;;) {
      const end = this.#next < 0 ? -1 : this.#endOf(this.#next);
      if (end >= 0) this.#showUpTo(end, nowMs);
      else if (!this.#jump()) return;
    }
  }

  #showUpTo(end: number, nowMs: number): void {
    const { timestamp } = this.#got.get(end)!;
    this.shown.push({ timestamp, atMs: nowMs });
    this.#pictureMs = nowMs;
    this.#next = end + 1;
    this.#keys.delete(timestamp);
    // All before a keyframe is of no use any more.
    if (this.#isKey(timestamp))
      for (const index of this.#missing.keys()) if (index < end) this.#missing.delete(index);
  }

  /** The last packet of the frame that begins here; -1: it isn't whole. */
  #endOf(start: number): number {
    const timestamp = this.#got.get(start)?.timestamp;
    for (let index = start; ; index += 1) {
      const packet = this.#got.get(index);
      if (packet === undefined || packet.timestamp !== timestamp) return -1;
      if (packet.marker) return index;
    }
  }

  /** On to a later keyframe that is whole. */
  #jump(): boolean {
    if (this.#keys.size === 0) return false;
    for (const [index, { timestamp }] of this.#got) {
      if (index < this.#next || !this.#keys.has(timestamp)) continue;
      const before = this.#got.get(index - 1);
      const isFirst = index === this.#base || (before !== undefined && before.timestamp !== timestamp);
      if (!isFirst || this.#endOf(index) < 0) continue;
      this.#next = index;
      return true;
    }
    return false;
  }
}
