import type { MonotonicMs } from '../base/clock.js';
import type { RtpPacket } from './packet.js';

/** Takes packets in sequence order; `lostBefore` are missing right before this one. The view is reused. */
export interface PacketReceiver {
  onPacket(packet: RtpPacket, lostBefore: number): void;
}

/** What sequence numbers tell of the way here. */
export type SequencerCounters = {
  /** Packets that were passed over. */
  lost: number;
  duplicates: number;
  /** Packets that came after they had been given up. */
  late: number;
  /** Jumps that can't be loss: the camera started counting anew. */
  restarts: number;
};

/** Turns packets in order of arrival into packets in order of sequence. Has no timer: the owner calls `flush`. */
export interface Sequencer {
  readonly counters: Readonly<SequencerCounters>;
  readonly span: SequenceSpan;
  /** Whether `sequence` continues the count: not the first, nothing old, no gap that could be chance. */
  expects(sequence: number): boolean;
  push(packet: RtpPacket, nowMs: MonotonicMs): void;
  /** Stops waiting for packets that are overdue by now. */
  flush(nowMs: MonotonicMs): void;
  /** Hands out what waits; the next packet starts a new count, as after an unknown loss. */
  restart(): void;
}

/** Steps ahead of up to this many packets are loss, beyond it a new count (RFC 3550 §A.1, MAX_DROPOUT). */
export const MAX_DROPOUT = 3000;

/** Steps back of up to this many packets are old packets, beyond it a new count (RFC 3550 §A.1, MAX_MISORDER). */
export const MAX_MISORDER = 100;

/** The figures that a receiver report needs of one count of sequence numbers (RFC 3550 §6.4.1, §A.3). */
export class SequenceSpan {
  #isOpen = false;
  #base = 0;
  /** The highest sequence number so far, extended by its wraps; not cut to 32 bits. */
  extendedHighest = 0;
  /** Packets that came, late ones and duplicates too. */
  received = 0;
  /** Changes with every new count. */
  generation = 0;

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get expected(): number {
    return this.#isOpen ? this.extendedHighest - this.#base + 1 : 0;
  }

  open(sequence: number): void {
    this.#isOpen = true;
    this.#base = sequence;
    this.extendedHighest = sequence;
    this.received = 0;
    this.generation += 1;
  }

  close(): void {
    this.#isOpen = false;
  }

  /** Counts a packet that isn't a jump. */
  count(sequence: number): void {
    this.received += 1;
    const step = (sequence - this.extendedHighest) & 0xffff;
    if (step < 0x8000) this.extendedHighest += step;
  }
}

/** For TCP, where order is given: passes packets through and counts the gaps that the camera itself made. */
export class InOrderSequencer implements Sequencer {
  readonly counters: SequencerCounters = { lost: 0, duplicates: 0, late: 0, restarts: 0 };
  readonly span = new SequenceSpan();
  readonly #receiver: PacketReceiver;
  #next = -1;
  #lostAtStart = 0;

  constructor(receiver: PacketReceiver) {
    this.#receiver = receiver;
  }

  expects(sequence: number): boolean {
    return sequence === this.#next;
  }

  push(packet: RtpPacket): void {
    const { sequence } = packet;
    let lostBefore = (sequence - this.#next) & 0xffff;
    if (this.#next < 0) {
      lostBefore = this.#open(sequence);
    } else if (lostBefore >= 0x10000 - MAX_MISORDER) {
      this.span.count(sequence);
      if (lostBefore === 0xffff) this.counters.duplicates += 1;
      else this.counters.late += 1;
      return;
    } else if (lostBefore >= MAX_DROPOUT) {
      this.restart();
      lostBefore = this.#open(sequence);
    } else {
      this.counters.lost += lostBefore;
    }
    this.span.count(sequence);
    this.#next = (sequence + 1) & 0xffff;
    this.#receiver.onPacket(packet, lostBefore);
  }

  flush(): void {
    // Nothing ever waits here.
  }

  restart(): void {
    if (this.#next >= 0) this.counters.restarts += 1;
    this.#next = -1;
    this.#lostAtStart = 1;
    this.span.close();
  }

  #open(sequence: number): number {
    this.span.open(sequence);
    const lostBefore = this.#lostAtStart;
    this.#lostAtStart = 0;
    return lostBefore;
  }
}
