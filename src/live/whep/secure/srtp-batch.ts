import { hash } from 'node:crypto';
import { sha1Block } from './sha1.js';
import { type SrtpKeys, TAG_BYTES } from './srtp-keys.js';

/** An RTP packet of ours at most: with the tag and the headers below, it fits IPv6's least MTU of 1280 bytes. */
export const MAX_PACKET_BYTES = 1_212;
/** Packets that are secured together. */
export const BATCH_PACKETS = 32;

const HEADER_BYTES = 12;
/** HMAC's key block, the packet, then the rollover counter that is hashed with it, or the tag in its place. */
const KEY_BLOCK_BYTES = 64;
const SLOT_BYTES = 1_344;
const BLOCKS_PER_PACKET = Math.ceil((MAX_PACKET_BYTES - HEADER_BYTES) / 16);

/** The sending state of one SSRC (RFC 3711 §3.2.1): what all its packets have in common. */
export class SrtpStream {
  readonly keys: SrtpKeys;
  readonly ssrc: number;
  readonly payloadType: number;
  /** The first two words of every counter: salt and SSRC (§4.1.1), in the machine's byte order. */
  readonly ivWord0: number;
  readonly ivWord1: number;

  constructor(keys: SrtpKeys, ssrc: number, payloadType: number) {
    this.keys = keys;
    this.ssrc = ssrc;
    this.payloadType = payloadType;
    const iv = Buffer.alloc(8);
    keys.salt.copy(iv, 0, 0, 8);
    iv.writeUInt32BE((iv.readUInt32BE(4) ^ ssrc) >>> 0, 4);
    this.ivWord0 = iv.readInt32LE(0);
    this.ivWord1 = iv.readInt32LE(4);
  }
}

const byteSwapped = (value: number): number =>
  (value << 24) | ((value & 0xff00) << 8) | ((value >>> 8) & 0xff00) | (value >>> 24);

/**
 * Turns plain packets into secured ones, many at a time: the keystream of all of them is one call into OpenSSL, the
 * authentication of each one call and a block in JavaScript. One object and its buffers serve all viewers of a
 * thread, since a datagram is sent before the next batch begins.
 */
export class SrtpBatch {
  count = 0;
  #out = Buffer.alloc(BATCH_PACKETS * SLOT_BYTES);
  #outWords = new Int32Array(this.#out.buffer, this.#out.byteOffset, this.#out.length / 4);
  /** Views of a slot for packets of full size, which most are: a new view costs as much as a third of a hash. */
  #fullViews: Buffer[] = [];
  #fullHashed: Buffer[] = [];
  readonly #counters = Buffer.alloc(BATCH_PACKETS * BLOCKS_PER_PACKET * 16);
  readonly #counterWords = new Int32Array(
    this.#counters.buffer,
    this.#counters.byteOffset,
    this.#counters.length / 4,
  );
  readonly #sources: Int32Array[] = [];
  readonly #sourceWords = new Int32Array(BATCH_PACKETS);
  readonly #lengths = new Int32Array(BATCH_PACKETS);
  readonly #rollovers = new Int32Array(BATCH_PACKETS);
  readonly #block = new Int32Array(16);
  readonly #digest = new Int32Array(5);
  #blocks = 0;

  constructor() {
    this.#makeViews();
    // HMAC's outer message: a key block and 20 bytes, then the padding (FIPS 180-4 §5.1.1).
    this.#block[5] = 0x80000000 | 0;
    this.#block[15] = (KEY_BLOCK_BYTES + 20) * 8;
  }

  begin(): void {
    this.count = 0;
    this.#blocks = 0;
  }

  /**
   * Adds a plain packet that lies at `start`, a multiple of 4 bytes, in `source`; its header counts for the marker
   * alone. `index` is the packet's number since the session began: the sequence number and how often it wrapped.
   */
  add(
    stream: SrtpStream,
    source: Int32Array,
    start: number,
    lengthBytes: number,
    hasMarker: boolean,
    index: number,
    timestamp: number,
  ): void {
    const slot = this.count;
    const sequence = index & 0xffff;
    const rollover = Math.floor(index / 0x10000) | 0;
    this.#sources[slot] = source;
    this.#sourceWords[slot] = (start + HEADER_BYTES) >> 2;
    this.#lengths[slot] = lengthBytes;
    this.#rollovers[slot] = rollover;
    this.#writeHeader(stream, slot * SLOT_BYTES + KEY_BLOCK_BYTES, hasMarker, sequence, timestamp);
    this.#writeCounters(stream, lengthBytes - HEADER_BYTES, sequence, rollover);
    this.count = slot + 1;
  }

  /** Encrypts and signs all that was added with one stream's keys. */
  seal(keys: SrtpKeys): void {
    const keystream = keys.cipher.update(this.#counters.subarray(0, this.#blocks * 16));
    const keyWords = new Int32Array(keystream.buffer, keystream.byteOffset, keystream.length >> 2);
    let keyAt = 0;
    for (let slot = 0; slot < this.count; slot += 1) {
      const words = (this.#lengths[slot]! - HEADER_BYTES + 3) >> 2;
      this.#encrypt(slot, words, keyWords, keyAt);
      this.#sign(keys, slot);
      keyAt += ((words + 3) >> 2) * 4;
    }
  }

  /** One of the secured packets, until `begin`. */
  packet(slot: number): Buffer {
    const lengthBytes = this.#lengths[slot]!;
    if (lengthBytes === MAX_PACKET_BYTES) return this.#fullViews[slot]!;
    const start = slot * SLOT_BYTES + KEY_BLOCK_BYTES;
    return this.#out.subarray(start, start + lengthBytes + TAG_BYTES);
  }

  /** Leaves the packets' memory to whoever still holds them, and goes on in other memory. */
  abandon(): void {
    this.#out = Buffer.alloc(BATCH_PACKETS * SLOT_BYTES);
    this.#outWords = new Int32Array(this.#out.buffer, this.#out.byteOffset, this.#out.length / 4);
    this.#makeViews();
  }

  #makeViews(): void {
    const slots = Array.from({ length: BATCH_PACKETS }, (_, slot) => slot * SLOT_BYTES);
    this.#fullViews = slots.map((at) =>
      this.#out.subarray(at + KEY_BLOCK_BYTES, at + KEY_BLOCK_BYTES + MAX_PACKET_BYTES + TAG_BYTES),
    );
    this.#fullHashed = slots.map((at) => this.#out.subarray(at, at + KEY_BLOCK_BYTES + MAX_PACKET_BYTES + 4));
  }

  #writeHeader(
    stream: SrtpStream,
    at: number,
    hasMarker: boolean,
    sequence: number,
    timestamp: number,
  ): void {
    const out = this.#out;
    const { ssrc } = stream;
    out[at] = 0x80;
    out[at + 1] = (hasMarker ? 0x80 : 0) | stream.payloadType;
    out[at + 2] = sequence >> 8;
    out[at + 3] = sequence;
    out[at + 4] = timestamp >>> 24;
    out[at + 5] = timestamp >>> 16;
    out[at + 6] = timestamp >>> 8;
    out[at + 7] = timestamp;
    out[at + 8] = ssrc >>> 24;
    out[at + 9] = ssrc >>> 16;
    out[at + 10] = ssrc >>> 8;
    out[at + 11] = ssrc;
  }

  /** The counters of a packet's blocks: salt, SSRC and index, then the block's number (RFC 3711 §4.1.1). */
  #writeCounters(stream: SrtpStream, payloadBytes: number, sequence: number, rollover: number): void {
    const words = this.#counterWords;
    const { ivWord0, ivWord1 } = stream;
    const { salt } = stream.keys;
    const ivWord2 = salt.readInt32LE(8) ^ byteSwapped(rollover);
    const ivWord3 = (salt[12]! ^ (sequence >> 8)) | ((salt[13]! ^ (sequence & 0xff)) << 8);
    const blocks = (payloadBytes + 15) >> 4;
    let at = this.#blocks * 4;
    for (let block = 0; block < blocks; block += 1) {
      words[at] = ivWord0;
      words[at + 1] = ivWord1;
      words[at + 2] = ivWord2;
      words[at + 3] = ivWord3 | (block << 24);
      at += 4;
    }
    this.#blocks += blocks;
  }

  #encrypt(slot: number, words: number, keystream: Int32Array, keyAt: number): void {
    const out = this.#outWords;
    const source = this.#sources[slot]!;
    const from = this.#sourceWords[slot]!;
    const to = (slot * SLOT_BYTES + KEY_BLOCK_BYTES + HEADER_BYTES) >> 2;
    for (let i = 0; i < words; i += 1) out[to + i] = source[from + i]! ^ keystream[keyAt + i]!;
  }

  /** HMAC-SHA1 over the packet and the rollover counter (§4.2), its first 80 bits put behind the packet. */
  #sign(keys: SrtpKeys, slot: number): void {
    const out = this.#out;
    const at = slot * SLOT_BYTES;
    const lengthBytes = this.#lengths[slot]!;
    const end = at + KEY_BLOCK_BYTES + lengthBytes;
    const rollover = this.#rollovers[slot]!;
    keys.innerBlock.copy(out, at);
    out[end] = rollover >>> 24;
    out[end + 1] = rollover >>> 16;
    out[end + 2] = rollover >>> 8;
    out[end + 3] = rollover;
    const hashed = lengthBytes === MAX_PACKET_BYTES ? this.#fullHashed[slot]! : out.subarray(at, end + 4);
    const inner = hash('sha1', hashed, 'binary');
    const block = this.#block;
    for (let i = 0; i < 5; i += 1) {
      block[i] =
        (inner.charCodeAt(i * 4) << 24) |
        (inner.charCodeAt(i * 4 + 1) << 16) |
        (inner.charCodeAt(i * 4 + 2) << 8) |
        inner.charCodeAt(i * 4 + 3);
    }
    sha1Block(keys.outerState, this.#digest, block);
    for (let i = 0; i < TAG_BYTES; i += 1) out[end + i] = this.#digest[i >> 2]! >>> (24 - 8 * (i & 3));
  }
}
