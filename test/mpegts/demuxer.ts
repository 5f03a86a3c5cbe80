import assert from 'node:assert/strict';
import { crc32Mpeg } from '../../src/mpegts/crc32.js';

/** One PES as a player would get it. */
export type DemuxedPes = {
  readonly pid: number;
  readonly pts: number;
  readonly dts: number;
  readonly payload: Buffer;
  readonly isRandomAccess: boolean;
  readonly isDiscontinuity: boolean;
  /** The newest clock when its first packet came. */
  readonly clock: number | null;
};

export type Demuxed = {
  readonly pes: readonly DemuxedPes[];
  readonly clocks: readonly number[];
  /** PIDs and stream types of the last program map. */
  readonly streams: ReadonlyMap<number, number>;
  readonly pmtVersions: readonly number[];
};

type Open = Omit<DemuxedPes, 'pts' | 'dts' | 'payload'> & { readonly pieces: Buffer[] };

const readTimestamp = (bytes: Buffer, at: number, prefix: number): number => {
  assert.equal(bytes[at]! >> 4, prefix);
  assert.equal(bytes[at]! & bytes[at + 2]! & bytes[at + 4]! & 1, 1, 'marker bits');
  const top = (bytes[at]! >> 1) & 7;
  return (
    top * 2 ** 30 + (bytes[at + 1]! << 22) + ((bytes[at + 2]! >> 1) << 15) + (bytes.readUInt16BE(at + 3) >> 1)
  );
};

const closePes = ({ pieces, ...rest }: Open): DemuxedPes => {
  const bytes = Buffer.concat(pieces);
  assert.equal(bytes.readUIntBE(0, 3), 1, 'packet_start_code_prefix');
  const declared = bytes.readUInt16BE(4);
  if (declared !== 0) assert.equal(declared, bytes.length - 6, 'PES_packet_length');
  else assert.ok(bytes[3]! >= 0xe0 && bytes.length - 6 > 0xffff, 'only large video leaves its length out');
  const hasDts = (bytes[7]! & 0x40) !== 0;
  const pts = readTimestamp(bytes, 9, hasDts ? 3 : 2);
  const dts = hasDts ? readTimestamp(bytes, 14, 1) : pts;
  return { ...rest, pts, dts, payload: bytes.subarray(9 + bytes[8]!) };
};

/** A demuxer that forgives nothing: every rule of ISO 13818-1 that we rely on is an assertion. */
export class StrictDemuxer {
  readonly #counters = new Map<number, number>();
  readonly #open = new Map<number, Open>();
  readonly #pes: DemuxedPes[] = [];
  readonly #clocks: number[] = [];
  readonly #streams = new Map<number, number>();
  readonly #pmtVersions: number[] = [];
  #pmtPid = -1;

  /** Counters of every PID go on from one call to the next, as across joined segments. */
  push(bytes: Buffer): void {
    assert.equal(bytes.length % 188, 0);
    for (let at = 0; at < bytes.length; at += 188) this.#packet(bytes.subarray(at, at + 188));
  }

  end(): Demuxed {
    for (const open of this.#open.values()) this.#pes.push(closePes(open));
    this.#open.clear();
    return { pes: this.#pes, clocks: this.#clocks, streams: this.#streams, pmtVersions: this.#pmtVersions };
  }

  #packet(packet: Buffer): void {
    assert.equal(packet[0], 0x47, 'sync byte');
    const pid = packet.readUInt16BE(1) & 0x1fff;
    const isStart = (packet[1]! & 0x40) !== 0;
    const hasField = (packet[3]! & 0x20) !== 0;
    const hasPayload = (packet[3]! & 0x10) !== 0;
    const fieldBytes = hasField ? packet[4]! + 1 : 0;
    const last = this.#counters.get(pid);
    const counter = packet[3]! & 15;
    if (last !== undefined)
      assert.equal(counter, (last + (hasPayload ? 1 : 0)) & 15, `counter of pid ${pid}`);
    this.#counters.set(pid, counter);
    if (hasField) assert.ok(hasPayload ? fieldBytes <= 183 : fieldBytes === 184, 'adaptation_field_length');
    const flags = fieldBytes > 1 ? packet[5]! : 0;
    this.#field(packet, fieldBytes, flags);
    if (!hasPayload) return;
    const payload = packet.subarray(4 + fieldBytes);
    if (pid === 0 || pid === this.#pmtPid) this.#section(pid, payload);
    else this.#piece(pid, payload, isStart, flags);
  }

  #field(packet: Buffer, fieldBytes: number, flags: number): void {
    assert.equal(flags & 0x2f, 0, 'flags that we never set');
    let used = 2;
    if ((flags & 0x10) !== 0) {
      this.#clocks.push(packet.readUInt32BE(6) * 2 + (packet[10]! >> 7));
      assert.equal(packet[10]! & 0x7f, 0x7e);
      assert.equal(packet[11], 0);
      used = 8;
    }
    for (let at = 4 + used; at < 4 + fieldBytes; at += 1) assert.equal(packet[at], 0xff, 'stuffing');
  }

  #section(pid: number, payload: Buffer): void {
    const section = payload.subarray(1 + payload[0]!);
    const end = 3 + (section.readUInt16BE(1) & 0xfff);
    assert.equal(crc32Mpeg(section, 0, end), 0, 'CRC over a section and its CRC');
    if (pid === 0) {
      this.#pmtPid = section.readUInt16BE(10) & 0x1fff;
      return;
    }
    this.#pmtVersions.push((section[5]! >> 1) & 31);
    this.#streams.clear();
    for (let at = 12; at < end - 4; at += 5 + (section.readUInt16BE(at + 3) & 0xfff)) {
      this.#streams.set(section.readUInt16BE(at + 1) & 0x1fff, section[at]!);
    }
  }

  #piece(pid: number, payload: Buffer, isStart: boolean, flags: number): void {
    assert.ok(this.#streams.has(pid), `pid ${pid} is in the program map`);
    const open = this.#open.get(pid);
    if (!isStart) {
      assert.ok(open !== undefined, 'a PES begins with a start');
      open.pieces.push(payload);
      return;
    }
    if (open !== undefined) this.#pes.push(closePes(open));
    const isRandomAccess = (flags & 0x40) !== 0;
    const clock = this.#clocks.at(-1) ?? null;
    this.#open.set(pid, {
      pid,
      isRandomAccess,
      isDiscontinuity: (flags & 0x80) !== 0,
      clock,
      pieces: [payload],
    });
  }
}

export const demux = (...segments: readonly Buffer[]): Demuxed => {
  const demuxer = new StrictDemuxer();
  for (const segment of segments) demuxer.push(segment);
  return demuxer.end();
};
