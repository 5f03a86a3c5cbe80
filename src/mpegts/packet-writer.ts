import { writeClock } from './timestamp.js';

/** Every packet's size (ISO 13818-1 §2.4.3.2). */
export const PACKET_BYTES = 188;
const HEADER_BYTES = 4;
const PAYLOAD_BYTES = PACKET_BYTES - HEADER_BYTES;
const COUNTER_MASK = 0x0f;

/** Flags of the adaptation field (ISO 13818-1 §2.4.3.4). */
export const ADAPTATION = { discontinuity: 0x80, randomAccess: 0x40, clock: 0x10 } as const;
/** Adaptation fields with flags alone, and with a PCR; their length byte is counted. */
const FLAGGED_BYTES = 2;
const CLOCKED_BYTES = 8;

/** The packets of one elementary stream: its counter, and where its newest PES is. */
export class PacketTrack {
  readonly pid: number;
  /** continuity_counter of the next packet with payload. */
  counter = 0;
  pesAt = 0;
  /** 0: there is none in this segment. */
  pesPackets = 0;

  constructor(pid: number) {
    this.pid = pid;
  }

  copyFrom(other: PacketTrack): void {
    this.counter = other.counter;
    this.pesAt = other.pesAt;
    this.pesPackets = other.pesPackets;
  }
}

/** The most packets that a PES of this size can take, its clock included. */
export const packetsFor = (pesBytes: number): number => Math.ceil((pesBytes + CLOCKED_BYTES) / PAYLOAD_BYTES);

/** Cuts PES into packets, straight into memory that grows and is used for one segment after the other. */
export class PacketWriter {
  /** Bytes of the segment so far. */
  lengthBytes = 0;
  #out: Buffer;
  /** Payload of the newest PES' first and last packet: where its bytes lie. */
  #firstPayload = 0;
  #lastPayload = 0;

  constructor(initialBytes: number) {
    this.#out = Buffer.allocUnsafeSlow(Math.max(initialBytes, PACKET_BYTES));
  }

  /** What is written so far, in place: valid until anything more is written. */
  view(): Buffer {
    return this.#out.subarray(0, this.lengthBytes);
  }

  /** Makes room, so that what follows neither grows nor checks. */
  reserve(packets: number): void {
    const needed = this.lengthBytes + packets * PACKET_BYTES;
    if (needed <= this.#out.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#out.length * 2));
    this.#out.copy(larger, 0, 0, this.lengthBytes);
    this.#out = larger;
  }

  /** Whole packets that are ready but for their counter. */
  writeReady(packets: Buffer, counter: number): void {
    this.reserve(packets.length / PACKET_BYTES);
    packets.copy(this.#out, this.lengthBytes);
    for (let at = 3; at < packets.length; at += PACKET_BYTES) {
      this.#out[this.lengthBytes + at] = 0x10 | (counter & COUNTER_MASK);
    }
    this.lengthBytes += packets.length;
  }

  /** A packet with a clock and nothing else; it has no payload, so the counter stays (§2.4.3.3). */
  writeClockPacket(track: PacketTrack, clockTicks: number): void {
    this.reserve(1);
    const at = this.lengthBytes;
    this.#writeHeader(at, track.pid, false, 0x20 | ((track.counter - 1) & COUNTER_MASK));
    this.#writeAdaptation(at + HEADER_BYTES, PAYLOAD_BYTES, ADAPTATION.clock, clockTicks);
    this.lengthBytes = at + PACKET_BYTES;
  }

  /** A PES of `head[0, headBytes)` and `source[start, end)`. Needs `reserve(packetsFor(...))` before. */
  writePes(
    track: PacketTrack,
    head: Buffer,
    headBytes: number,
    source: Buffer,
    start: number,
    end: number,
    flags: number,
    clockTicks: number,
  ): void {
    const out = this.#out;
    const totalBytes = headBytes + end - start;
    let adaptationBytes = (flags & ADAPTATION.clock) !== 0 ? CLOCKED_BYTES : flags !== 0 ? FLAGGED_BYTES : 0;
    let at = this.lengthBytes;
    let done = 0;
    track.pesAt = at;
    while (done < totalBytes) {
      const payload = Math.min(PAYLOAD_BYTES - adaptationBytes, totalBytes - done);
      adaptationBytes = PAYLOAD_BYTES - payload;
      const isFirst = done === 0;
      this.#writeHeader(at, track.pid, isFirst, (adaptationBytes > 0 ? 0x30 : 0x10) | track.counter);
      if (adaptationBytes > 0) {
        this.#writeAdaptation(at + HEADER_BYTES, adaptationBytes, isFirst ? flags : 0, clockTicks);
      }
      if (isFirst) this.#firstPayload = payload;
      this.#lastPayload = payload;
      const to = at + PACKET_BYTES - payload;
      const fromHead = Math.max(Math.min(payload, headBytes - done), 0);
      if (fromHead > 0) head.copy(out, to, done, done + fromHead);
      if (fromHead < payload) {
        const from = start + done + fromHead - headBytes;
        source.copy(out, to + fromHead, from, from + payload - fromHead);
      }
      done += payload;
      at += PACKET_BYTES;
      adaptationBytes = 0;
      track.counter = (track.counter + 1) & COUNTER_MASK;
    }
    this.lengthBytes = at;
    track.pesPackets = (at - track.pesAt) / PACKET_BYTES;
  }

  /** Puts a start code over the four bytes at `offset` of the PES just written, wherever packets cut them. */
  putStartCode(track: PacketTrack, offset: number): void {
    for (let i = 0; i < 4; i += 1) this.#out[this.#placeOf(track, offset + i)] = i === 3 ? 1 : 0;
  }

  /**
   * Lets the newest PES of `track` take `extra` packets more (at most 15), with the same bytes in them: the
   * last bytes of a packet go into packets of their own. `other` is told if its packets move.
   */
  stretch(track: PacketTrack, other: PacketTrack, extra: number): void {
    if (extra === 0 || track.pesPackets === 0) return;
    this.reserve(extra);
    const out = this.#out;
    // Not the last packet, unless it is the only one: it may hold a single byte.
    const at = track.pesAt + Math.max(track.pesPackets - 2, 0) * PACKET_BYTES;
    const next = at + PACKET_BYTES;
    const movedBytes = extra * PACKET_BYTES;
    out.copyWithin(next + movedBytes, next, this.lengthBytes);
    this.lengthBytes += movedBytes;
    if (other.pesAt >= next) other.pesAt += movedBytes;
    const counter = out[at + 3]! & COUNTER_MASK;
    for (let i = 0; i < extra; i += 1) {
      const packetAt = next + i * PACKET_BYTES;
      this.#writeHeader(packetAt, track.pid, false, 0x30 | ((counter + 1 + i) & COUNTER_MASK));
      this.#writeAdaptation(packetAt + HEADER_BYTES, PAYLOAD_BYTES - 1, 0, 0);
      out[packetAt + PACKET_BYTES - 1] = out[next - extra + i]!;
    }
    this.#widenAdaptation(at, extra);
    if (track.pesPackets > 1) {
      const lastAt = next + movedBytes;
      out[lastAt + 3] = (out[lastAt + 3]! & 0xf0) | ((counter + 1 + extra) & COUNTER_MASK);
    }
    track.pesPackets += extra;
    track.counter = (track.counter + extra) & COUNTER_MASK;
  }

  /** Adds `extra` stuffing bytes in front of a packet's payload, whose last `extra` bytes are given up. */
  #widenAdaptation(at: number, extra: number): void {
    const out = this.#out;
    const fieldAt = at + HEADER_BYTES;
    const hasField = (out[at + 3]! & 0x20) !== 0;
    const oldBytes = hasField ? out[fieldAt]! + 1 : 0;
    out.copyWithin(fieldAt + oldBytes + extra, fieldAt + oldBytes, at + PACKET_BYTES - extra);
    out[at + 3] = out[at + 3]! | 0x20;
    if (oldBytes < FLAGGED_BYTES) {
      this.#writeAdaptation(fieldAt, oldBytes + extra, 0, 0);
    } else {
      out[fieldAt] = oldBytes + extra - 1;
      out.fill(0xff, fieldAt + oldBytes, fieldAt + oldBytes + extra);
    }
  }

  #placeOf(track: PacketTrack, offset: number): number {
    if (offset < this.#firstPayload) return track.pesAt + PACKET_BYTES - this.#firstPayload + offset;
    const rest = offset - this.#firstPayload;
    const index = 1 + Math.floor(rest / PAYLOAD_BYTES);
    const payload = index === track.pesPackets - 1 ? this.#lastPayload : PAYLOAD_BYTES;
    return track.pesAt + (index + 1) * PACKET_BYTES - payload + (rest % PAYLOAD_BYTES);
  }

  #writeHeader(at: number, pid: number, isStart: boolean, controlAndCounter: number): void {
    const out = this.#out;
    out[at] = 0x47;
    out[at + 1] = (isStart ? 0x40 : 0) | (pid >> 8);
    out[at + 2] = pid;
    out[at + 3] = controlAndCounter;
  }

  /** An adaptation field of exactly `sizeBytes`, its length byte included; a size of 1 has no flags. */
  #writeAdaptation(at: number, sizeBytes: number, flags: number, clockTicks: number): void {
    const out = this.#out;
    out[at] = sizeBytes - 1;
    if (sizeBytes < FLAGGED_BYTES) return;
    out[at + 1] = flags;
    let used = FLAGGED_BYTES;
    if ((flags & ADAPTATION.clock) !== 0) {
      writeClock(out, at + FLAGGED_BYTES, clockTicks);
      used = CLOCKED_BYTES;
    }
    if (used < sizeBytes) out.fill(0xff, at + used, at + sizeBytes);
  }
}
