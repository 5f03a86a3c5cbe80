import assert from 'node:assert/strict';
import type { AudioSink, VideoSink } from '../../src/codec/frame-sink.js';
import { RtpPacket } from '../../src/rtp/packet.js';
import type { PacketSink } from '../../src/rtp/packet-writer.js';
import { PacketWriter } from '../../src/rtp/packet-writer.js';

export type Frame = { timestamp: number; isKey: boolean; nals: string[]; isAfterDamage: boolean };

/** A VideoSink that keeps everything as hex and holds its caller to the contract. */
export class CollectingSink implements VideoSink {
  readonly frames: Frame[] = [];
  readonly parameterSets: string[] = [];
  aborts = 0;
  damaged = (): boolean => false;
  #nals: string[] = [];
  #open: string | null = null;
  #bytes = 0;
  readonly #limitBytes: number;

  constructor(limitBytes = Number.POSITIVE_INFINITY) {
    this.#limitBytes = limitBytes;
  }

  beginNal(): void {
    assert.equal(this.#open, null, 'a NAL unit is open already');
    this.#open = '';
  }

  append(source: Buffer, start: number, end: number): boolean {
    assert.notEqual(this.#open, null, 'no NAL unit is open');
    assert.ok(0 <= start && start <= end && end <= source.length, 'out of range');
    this.#bytes += end - start;
    if (this.#bytes > this.#limitBytes) return false;
    this.#open += source.toString('hex', start, end);
    return true;
  }

  endNal(): void {
    assert.ok(this.#open, 'no NAL unit is open, or it is empty');
    this.#nals.push(this.#open);
    this.#open = null;
  }

  abort(): void {
    this.aborts += 1;
    this.#clear();
  }

  commit(timestamp: number, isKey: boolean): void {
    assert.equal(this.#open, null, 'committed in the middle of a NAL unit');
    assert.ok(this.#nals.length > 0, 'committed without a NAL unit');
    this.frames.push({ timestamp, isKey, nals: this.#nals, isAfterDamage: this.damaged() });
    this.#clear();
  }

  onParameterSet(source: Buffer, start: number, end: number): void {
    assert.ok(0 <= start && start < end && end <= source.length, 'out of range');
    this.parameterSets.push(source.toString('hex', start, end));
  }

  #clear(): void {
    this.#nals = [];
    this.#open = null;
    this.#bytes = 0;
  }
}

/** An AudioSink that keeps everything as hex. */
export class CollectingAudioSink implements AudioSink {
  readonly frames: { timestamp: number; data: string }[] = [];

  frame(source: Buffer, start: number, end: number, timestamp: number): void {
    assert.ok(0 <= start && start < end && end <= source.length, 'out of range');
    this.frames.push({ timestamp, data: source.toString('hex', start, end) });
  }
}

/** NAL units in hex as the ring holds them: each behind its length. */
export const accessUnit = (nals: readonly string[]): Buffer => {
  const pieces: Buffer[] = [];
  for (const hex of nals) {
    const prefix = Buffer.alloc(4);
    prefix.writeUInt32BE(hex.length / 2);
    pieces.push(prefix, Buffer.from(hex, 'hex'));
  }
  return Buffer.concat(pieces);
};

/** A writer that keeps a copy of each packet. */
export const packetCollector = (
  maxPayloadBytes: number,
  firstSequence = 0,
): { writer: PacketWriter; packets: Buffer[] } => {
  const packets: Buffer[] = [];
  const sink: PacketSink = (buffer, start, end) => {
    packets.push(Buffer.from(buffer.subarray(start, end)));
  };
  const options = { payloadType: 96, ssrc: 0x1234, firstSequence, maxPayloadBytes };
  return { writer: new PacketWriter(options, Buffer.alloc(1 << 16), 0, sink), packets };
};

/** The view of a packet whose payload is given in hex. */
export const packetOf = (
  payload: string,
  options: { timestamp?: number; marker?: boolean; sequence?: number } = {},
): RtpPacket => {
  const bytes = Buffer.from(payload, 'hex');
  const { writer, packets } = packetCollector(Math.max(16, bytes.length), options.sequence ?? 0);
  writer.begin();
  writer.copy(bytes, 0, bytes.length);
  writer.finish(options.timestamp ?? 0, options.marker ?? false);
  const packet = new RtpPacket();
  // Strange bytes around it: whoever reads past the payload gets a wrong result.
  const framed = Buffer.concat([Buffer.alloc(5, 0xa5), packets[0]!, Buffer.alloc(5, 0x5a)]);
  assert.ok(packet.parse(framed, 5, framed.length - 5));
  return packet;
};
