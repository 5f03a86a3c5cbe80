import { MAX_PACKET_BYTES } from '../secure/srtp-batch.js';
import { StreamRate } from './stream-rate.js';

const FIRST_ARENA_BYTES = 1 << 20;
/** A group of pictures beyond this can't be had from its keyframe: whoever comes then waits for the next one. */
const MAX_ARENA_BYTES = 1 << 24;
/** Packets for each of which there is room in the tables: as many as are in an arena at 512 bytes each. */
const BYTES_PER_SLOT = 512;

/** What is newer than this is kept beyond the next keyframe: for repeats, and for who is still catching up. */
const KEPT_TICKS = 135_000;
/** So long after a keyframe the one before it is kept: who began there has come to the new one by then. */
const HANDOVER_TICKS = 45_000;

const aligned = (position: number): number => Math.ceil(position / 8) * 8;

/**
 * The plain video packets of one camera, numbered from 0, shared by all its viewers: each has a cursor here, begins
 * at a keyframe here, and has lost packets repeated from here. It holds everything since the newest keyframe, and of
 * the last one and a half seconds, as long as that is less than 16 MB.
 */
export class PacketStore {
  /** The oldest packet that is still there. */
  first = 0;
  /** The number that the next packet gets. */
  next = 0;
  /** The first packet of the newest keyframe, -1 if it is gone. */
  newestKey = -1;
  /** The number and time of the newest frame. */
  frame = -1;
  frameTicks = 0;
  /** How large the newest keyframe is, as far as it is there. */
  keyBytes = 0;
  readonly #rate = new StreamRate();
  bytes = Buffer.alloc(FIRST_ARENA_BYTES);
  words = new Int32Array(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length / 4);
  #slots = FIRST_ARENA_BYTES / BYTES_PER_SLOT;
  #starts = new Int32Array(this.#slots);
  #lengths = new Int32Array(this.#slots);
  #markers = new Uint8Array(this.#slots);
  #frames = new Int32Array(this.#slots);
  #ticks = new Float64Array(this.#slots);
  /** Positions grow by every byte that was ever skipped or written; a packet lies at its position modulo the size. */
  #positions = new Float64Array(this.#slots);
  #position = 0;
  /** The first packet of the keyframe before the newest, and the newest one's time. */
  #previousKey = -1;
  #keyTicks = 0;
  #keyFrame = -1;
  /** The next packet is a keyframe's first. */
  #isKeyNext = false;

  /** What the camera sends, in the last seconds. */
  get bytesPerMs(): number {
    return this.#rate.bytesPerMs;
  }

  get sizeBytes(): number {
    return this.bytes.length;
  }

  /** Where the next packet is to be written: there is room for one of full size. */
  get writeStart(): number {
    return this.#position % this.bytes.length;
  }

  startOf(packet: number): number {
    return this.#starts[packet & (this.#slots - 1)]!;
  }

  lengthOf(packet: number): number {
    return this.#lengths[packet & (this.#slots - 1)]!;
  }

  /** It ends its frame. */
  hasMarker(packet: number): boolean {
    return this.#markers[packet & (this.#slots - 1)] === 1;
  }

  frameOf(packet: number): number {
    return this.#frames[packet & (this.#slots - 1)]!;
  }

  ticksOf(packet: number): number {
    return this.#ticks[packet & (this.#slots - 1)]!;
  }

  /** The packets from now on belong to another frame. */
  beginFrame(ticks: number, isKey: boolean): void {
    this.frame += 1;
    this.frameTicks = ticks;
    this.#isKeyNext = isKey;
    this.#rate.beginFrame(ticks);
  }

  /** Takes in the packet that was written at `writeStart`, and makes room for another one. */
  push(lengthBytes: number, hasMarker: boolean): void {
    const slot = this.next & (this.#slots - 1);
    this.#starts[slot] = this.writeStart;
    this.#lengths[slot] = lengthBytes;
    this.#markers[slot] = hasMarker ? 1 : 0;
    this.#frames[slot] = this.frame;
    this.#ticks[slot] = this.frameTicks;
    this.#positions[slot] = this.#position;
    if (this.#isKeyNext) this.#beginKey();
    this.#isKeyNext = false;
    if (this.frame === this.#keyFrame) this.keyBytes += lengthBytes;
    this.#rate.add(lengthBytes);
    this.next += 1;
    this.#advance(lengthBytes);
  }

  /** The present group of pictures can't be begun at any more: another stream follows. */
  forgetKey(): void {
    this.newestKey = -1;
  }

  #beginKey(): void {
    this.#previousKey = this.newestKey;
    this.newestKey = this.next;
    this.#keyTicks = this.frameTicks;
    this.#keyFrame = this.frame;
    this.keyBytes = 0;
  }

  #advance(lengthBytes: number): void {
    this.#position = aligned(this.#position + lengthBytes);
    this.#skipEnd();
    if (this.#isNeeded(this.#evictedUpTo()) && this.#grow()) this.#skipEnd();
    this.first = this.#evictedUpTo();
    if (this.newestKey < this.first) this.newestKey = -1;
    if (this.#previousKey < this.first) this.#previousKey = -1;
  }

  /** Whether anything before `packet` should stay. */
  #isNeeded(packet: number): boolean {
    if (packet === this.first) return false;
    const isHandover = this.frameTicks - this.#keyTicks < HANDOVER_TICKS;
    const key = isHandover && this.#previousKey >= 0 ? this.#previousKey : this.newestKey;
    const isKeyLost = key >= 0 && packet > key;
    return isKeyLost || this.ticksOf(packet - 1) > this.frameTicks - KEPT_TICKS;
  }

  #skipEnd(): void {
    const at = this.#position % this.bytes.length;
    if (at + MAX_PACKET_BYTES > this.bytes.length) this.#position += this.bytes.length - at;
  }

  /** The oldest packet that a full packet at the present position leaves alone. */
  #evictedUpTo(): number {
    const limit = this.#position + MAX_PACKET_BYTES - this.bytes.length;
    let first = Math.max(this.first, this.next - this.#slots + 1);
    while (first < this.next && this.#positions[first & (this.#slots - 1)]! < limit) first += 1;
    return first;
  }

  #grow(): boolean {
    const sizeBytes = this.bytes.length * 2;
    if (sizeBytes > MAX_ARENA_BYTES) return false;
    const old = { bytes: this.bytes, slots: this.#slots, starts: this.#starts, lengths: this.#lengths };
    const oldTables = { markers: this.#markers, frames: this.#frames, ticks: this.#ticks };
    this.bytes = Buffer.alloc(sizeBytes);
    this.words = new Int32Array(this.bytes.buffer, this.bytes.byteOffset, sizeBytes / 4);
    this.#slots = sizeBytes / BYTES_PER_SLOT;
    this.#starts = new Int32Array(this.#slots);
    this.#lengths = new Int32Array(this.#slots);
    this.#markers = new Uint8Array(this.#slots);
    this.#frames = new Int32Array(this.#slots);
    this.#ticks = new Float64Array(this.#slots);
    this.#positions = new Float64Array(this.#slots);
    this.#position = 0;
    for (let packet = this.first; packet < this.next; packet += 1) {
      const from = packet & (old.slots - 1);
      const to = packet & (this.#slots - 1);
      const start = old.starts[from]!;
      const lengthBytes = old.lengths[from]!;
      old.bytes.copy(this.bytes, this.#position, start, start + lengthBytes);
      this.#starts[to] = this.#position;
      this.#lengths[to] = lengthBytes;
      this.#markers[to] = oldTables.markers[from]!;
      this.#frames[to] = oldTables.frames[from]!;
      this.#ticks[to] = oldTables.ticks[from]!;
      this.#positions[to] = this.#position;
      this.#position = aligned(this.#position + lengthBytes);
    }
    return true;
  }
}
