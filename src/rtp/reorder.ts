import type { MonotonicMs } from '../base/clock.js';
import { RtpPacket } from './packet.js';
import type { PacketReceiver, Sequencer, SequencerCounters } from './sequencer.js';
import { MAX_DROPOUT, MAX_MISORDER, SequenceSpan } from './sequencer.js';

/** Packets that can wait for one that is missing: at 4 Mbit/s about 170 ms of stream. */
const WINDOW_PACKETS = 64;
/** The first packets of a stream wait until there are so many, or for so long: one that they overtook may come. */
const OPENING_PACKETS = 16;
export const OPENING_MS = 20;
/** Numbers remembered to tell a duplicate from a late packet; a power of two above MAX_MISORDER. */
const MEMORY_PACKETS = 128;

const noBuffer = Buffer.alloc(0);

/**
 * For UDP: holds packets that came early, by reference (each datagram has a Buffer of its own), until those
 * before them come, `maxAgeMs` is over, or the window is full. A packet in order costs nothing extra.
 */
export class ReorderSequencer implements Sequencer {
  readonly counters: SequencerCounters = { lost: 0, duplicates: 0, late: 0, restarts: 0 };
  readonly span = new SequenceSpan();
  readonly #receiver: PacketReceiver;
  readonly #maxAgeMs: number;
  readonly #slots: RtpPacket[] = Array.from({ length: WINDOW_PACKETS }, () => new RtpPacket());
  readonly #isHeld = new Uint8Array(WINDOW_PACKETS);
  readonly #heldSinceMs = new Float64Array(WINDOW_PACKETS);
  readonly #delivered = new Int32Array(MEMORY_PACKETS).fill(-1);
  /** A packet far off, kept until the next one tells a new count from a stray (RFC 3550 §A.1). */
  readonly #suspect = new RtpPacket();
  #hasSuspect = false;
  #heldCount = 0;
  #next = -1;
  /** Nothing has been handed out yet; `#next` is a guess. */
  #isOpening = false;
  #openedMs = 0;
  #missing = 0;
  #lostAtStart = 0;

  constructor(options: { readonly maxAgeMs: number }, receiver: PacketReceiver) {
    this.#maxAgeMs = options.maxAgeMs;
    this.#receiver = receiver;
  }

  expects(sequence: number): boolean {
    return this.#next >= 0 && ((sequence - this.#next) & 0xffff) < WINDOW_PACKETS;
  }

  push(packet: RtpPacket, nowMs: MonotonicMs): void {
    const { sequence } = packet;
    if (this.#next < 0) this.#open(sequence, nowMs);
    if (this.#isOpening && this.#collect(packet, nowMs)) return;
    const ahead = (sequence - this.#next) & 0xffff;
    if (ahead === 0) {
      this.span.count(sequence);
      this.#deliver(packet);
      if (this.#heldCount > 0) this.#drain();
    } else if (ahead < MAX_DROPOUT) {
      this.span.count(sequence);
      if (ahead >= WINDOW_PACKETS) this.#makeRoom(sequence);
      this.#hold(packet, nowMs);
      this.#drain();
    } else if (ahead >= 0x10000 - MAX_MISORDER) {
      this.span.count(sequence);
      if (this.#delivered[sequence % MEMORY_PACKETS] === sequence) this.counters.duplicates += 1;
      else this.counters.late += 1;
    } else {
      this.#judgeJump(packet, nowMs);
      return;
    }
    this.#hasSuspect = false;
    if (this.#heldCount > 0) this.flush(nowMs);
  }

  flush(nowMs: MonotonicMs): void {
    if (this.#isOpening) {
      if (nowMs - this.#openedMs < OPENING_MS) return;
      this.#begin();
    }
    while (this.#heldCount > 0) {
      let first = this.#next;
      while (this.#isHeld[first % WINDOW_PACKETS] === 0) first = (first + 1) & 0xffff;
      if (nowMs - this.#heldSinceMs[first % WINDOW_PACKETS]! < this.#maxAgeMs) return;
      this.#missing += (first - this.#next) & 0xffff;
      this.#next = first;
      this.#drain();
    }
  }

  restart(): void {
    if (this.#isOpening) this.#begin();
    while (this.#heldCount > 0) this.#step();
    if (this.#next >= 0) this.counters.restarts += 1;
    this.#next = -1;
    this.#missing = 0;
    this.#lostAtStart = 1;
    this.#hasSuspect = false;
    this.#delivered.fill(-1);
    this.span.close();
  }

  #open(sequence: number, nowMs: MonotonicMs): void {
    // After a restart two packets that follow each other have shown where the count is.
    this.#isOpening = this.#lostAtStart === 0;
    this.#openedMs = nowMs;
    this.#next = this.#isOpening ? (sequence - OPENING_PACKETS) & 0xffff : sequence;
    this.span.open(sequence);
  }

  /** Keeps one of the first packets. False: the wait is over, and this one is like any other. */
  #collect(packet: RtpPacket, nowMs: MonotonicMs): boolean {
    if (((packet.sequence - this.#next) & 0xffff) >= WINDOW_PACKETS) {
      this.#begin();
      return false;
    }
    this.#hold(packet, nowMs);
    if (this.#heldCount >= OPENING_PACKETS) this.#begin();
    else this.flush(nowMs);
    return true;
  }

  /** Begins with the first of the packets that have come by now. */
  #begin(): void {
    this.#isOpening = false;
    while (this.#isHeld[this.#next % WINDOW_PACKETS] === 0) this.#next = (this.#next + 1) & 0xffff;
    this.span.open(this.#next);
    for (let ahead = 0; ahead < WINDOW_PACKETS; ahead += 1) {
      const sequence = (this.#next + ahead) & 0xffff;
      if (this.#isHeld[sequence % WINDOW_PACKETS] === 1) this.span.count(sequence);
    }
    this.#drain();
  }

  #judgeJump(packet: RtpPacket, nowMs: MonotonicMs): void {
    const follows = this.#hasSuspect && packet.sequence === ((this.#suspect.sequence + 1) & 0xffff);
    if (!follows) {
      this.#suspect.assign(packet);
      this.#hasSuspect = true;
      return;
    }
    this.restart();
    this.push(this.#suspect, nowMs);
    this.push(packet, nowMs);
  }

  #hold(packet: RtpPacket, nowMs: MonotonicMs): void {
    const slot = packet.sequence % WINDOW_PACKETS;
    if (this.#isHeld[slot] === 1) {
      this.counters.duplicates += 1;
      return;
    }
    this.#slots[slot]!.assign(packet);
    this.#isHeld[slot] = 1;
    this.#heldSinceMs[slot] = nowMs;
    this.#heldCount += 1;
  }

  /** Moves the window on until `sequence` is its last place. */
  #makeRoom(sequence: number): void {
    while (this.#heldCount > 0 && ((sequence - this.#next) & 0xffff) >= WINDOW_PACKETS) this.#step();
    const beyond = ((sequence - this.#next) & 0xffff) - (WINDOW_PACKETS - 1);
    if (beyond > 0) {
      this.#missing += beyond;
      this.#next = (this.#next + beyond) & 0xffff;
    }
  }

  /** Hands out what is in order now. */
  #drain(): void {
    while (this.#heldCount > 0 && this.#isHeld[this.#next % WINDOW_PACKETS] === 1) this.#step();
  }

  /** Goes one number on, with its packet or without. */
  #step(): void {
    const slot = this.#next % WINDOW_PACKETS;
    if (this.#isHeld[slot] === 0) {
      this.#missing += 1;
      this.#next = (this.#next + 1) & 0xffff;
      return;
    }
    this.#isHeld[slot] = 0;
    this.#heldCount -= 1;
    const packet = this.#slots[slot]!;
    this.#deliver(packet);
    packet.buffer = noBuffer;
  }

  #deliver(packet: RtpPacket): void {
    const lostBefore = this.#missing + this.#lostAtStart;
    this.counters.lost += this.#missing;
    this.#missing = 0;
    this.#lostAtStart = 0;
    this.#delivered[packet.sequence % MEMORY_PACKETS] = packet.sequence;
    this.#next = (packet.sequence + 1) & 0xffff;
    this.#receiver.onPacket(packet, lostBefore);
  }
}
