import type { MonotonicMs } from '../src/base/clock.js';
import type { VideoSink } from '../src/codec/frame-sink.js';
import { H264Depacketizer } from '../src/rtp/depacketize-h264.js';
import { PacketWriter } from '../src/rtp/packet-writer.js';
import { H264Packetizer } from '../src/rtp/packetize-h264.js';
import { TrackReceiver } from '../src/rtp/receiver.js';

type DepacketizeOptions = {
  /** Packets to measure, after a warm-up of a tenth of that. */
  readonly packets: number;
};

type DepacketizeResult = {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
};

/** A GOP of 2 s at 4 Mbit/s and 25 frames/s, as a 1080p camera sends it. */
const FRAMES_PER_GOP = 50;
const KEY_FRAME_BYTES = 120_000;
const OTHER_FRAME_BYTES = 18_000;
const PAYLOAD_BYTES = 1400;
/** Packets between two looks at the heap. */
const CHUNK_PACKETS = 10_000;
/** Less than any object: what looking at the heap costs itself, spread over the packets. */
const MAX_HEAP_BYTES_PER_PACKET = 4;

/** As the ring does it: one copy of each byte, a length in front of each NAL unit. */
class BenchSink implements VideoSink {
  bytes = 0;
  /** Off to see what we allocate ourselves: Buffer.copy makes a view for each call on Node 20. */
  copies = true;
  readonly #memory = Buffer.alloc(1 << 20);
  #at = 0;
  #nalAt = 0;

  beginNal(): void {
    this.#nalAt = this.#at;
    this.#at += 4;
  }

  append(source: Buffer, start: number, end: number): boolean {
    if (this.#at + end - start > this.#memory.length) return false;
    if (this.copies) source.copy(this.#memory, this.#at, start, end);
    this.#at += end - start;
    return true;
  }

  endNal(): void {
    this.#memory.writeUInt32BE(this.#at - this.#nalAt - 4, this.#nalAt);
  }

  abort(): void {
    this.#at = 0;
  }

  commit(): void {
    this.bytes += this.#at;
    this.#at = 0;
  }

  onParameterSet(): void {}
}

type Gop = { readonly bytes: Buffer; readonly bounds: readonly number[] };

/** The packets of one GOP in one buffer; `bounds` are their starts and, last, the end. */
const createGop = (): Gop => {
  const packets: Buffer[] = [];
  const options = { payloadType: 96, ssrc: 0xfeedbeef, firstSequence: 0, maxPayloadBytes: PAYLOAD_BYTES };
  const writer = new PacketWriter(options, Buffer.alloc(2048), 0, (buffer, start, end) => {
    packets.push(Buffer.from(buffer.subarray(start, end)));
  });
  const packetizer = new H264Packetizer({ aggregate: false, packetizationMode: 1 }, writer);
  const parameterSets = Buffer.from('000000046742c01e0000000468ce3c80', 'hex');
  for (let frame = 0; frame < FRAMES_PER_GOP; frame += 1) {
    const isKey = frame === 0;
    const nal = Buffer.alloc(4 + (isKey ? KEY_FRAME_BYTES : OTHER_FRAME_BYTES), 0x5a);
    nal.writeUInt32BE(nal.length - 4, 0);
    nal[4] = isKey ? 0x65 : 0x41;
    nal[5] = 0x88;
    const timestamp = 0xf000_0000 + frame * 3600;
    if (isKey) packetizer.packetize(parameterSets, 0, parameterSets.length, timestamp, false);
    packetizer.packetize(nal, 0, nal.length, timestamp);
  }
  const bounds = [0];
  for (const packet of packets) bounds.push(bounds.at(-1)! + packet.length);
  return { bytes: Buffer.concat(packets), bounds };
};

/** The camera: sends the GOP over and over, sequence numbers going on, eight packets a read. */
class Sender {
  readonly #gop = createGop();
  readonly #receiver: TrackReceiver;
  #next = 0;
  #arrivalMs = 0;

  constructor(receiver: TrackReceiver) {
    this.#receiver = receiver;
  }

  send(count: number): void {
    const { bytes, bounds } = this.#gop;
    for (let i = 0; i < count; i += 1) {
      const next = this.#next;
      const start = bounds[next % (bounds.length - 1)]!;
      bytes[start + 2] = (next >> 8) & 0xff;
      bytes[start + 3] = next & 0xff;
      if (next % 8 === 0) this.#arrivalMs += 20;
      this.#receiver.onRtp(
        bytes,
        start,
        bounds[(next % (bounds.length - 1)) + 1]!,
        this.#arrivalMs as MonotonicMs,
      );
      this.#next += 1;
    }
  }
}

const cpuMicrosOf = (work: () => void): number => {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
};

/** Bytes that the heap grew by, collections in between left out. */
const heapGrowthOf = (packets: number, sender: Sender): number => {
  let bytes = 0;
  for (let done = 0; done < packets; done += CHUNK_PACKETS) {
    const before = process.memoryUsage().heapUsed;
    sender.send(Math.min(CHUNK_PACKETS, packets - done));
    bytes += Math.max(0, process.memoryUsage().heapUsed - before);
  }
  return bytes;
};

/** Pushes packets through header, sequencer and depacketizer into a buffer, and measures what that costs. */
export const runDepacketizeBench = (options: DepacketizeOptions): DepacketizeResult => {
  const { packets } = options;
  const sink = new BenchSink();
  const depacketizer = new H264Depacketizer(sink);
  const receiver = new TrackReceiver(
    { transport: 'tcp', payloadType: 96, clockRateHz: 90_000, ownSsrc: 1, cname: 'bench' },
    { depacketizer },
  );
  const sender = new Sender(receiver);
  sender.send(Math.ceil(packets / 10));
  const bytesBefore = sink.bytes;
  const cpuMicros = cpuMicrosOf(() => sender.send(packets));
  const bytes = sink.bytes - bytesBefore;
  sink.copies = false;
  sender.send(Math.ceil(packets / 10));
  const heapBytes = heapGrowthOf(packets, sender);
  const { lost, malformed } = receiver.counters;
  if (lost + malformed + depacketizer.counters.damagedFrames > 0) throw new Error('the bench lost packets');
  if (heapBytes / packets > MAX_HEAP_BYTES_PER_PACKET)
    throw new Error('something is allocated for each packet');
  return {
    columns: ['H.264 FU-A of 1400 B, 4 Mbit/s', 'value', 'unit'],
    rows: [
      ['CPU per packet', (cpuMicros * 1000) / packets, 'ns'],
      ['throughput', bytes / cpuMicros, 'MB/core-s'],
      ['heap growth', (heapBytes / packets) * 1000, 'kB/million packets'],
    ],
  };
};

/** The benchmark as the registry wants it. */
export const depacketize = {
  name: 'depacketize',
  describe: 'RTP packets to access units in memory: header, sequence, payload format, one copy',
  options: { packets: 1_000_000 },
  run: runDepacketizeBench,
};
