import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { MonotonicMs } from '../../src/base/clock.js';
import { AacDepacketizer } from '../../src/rtp/depacketize-aac.js';
import { H264Depacketizer } from '../../src/rtp/depacketize-h264.js';
import { H265Depacketizer } from '../../src/rtp/depacketize-h265.js';
import type { VideoDepacketizer } from '../../src/rtp/depacketizer.js';
import { packetizeAac } from '../../src/rtp/packetize-audio.js';
import { H264Packetizer } from '../../src/rtp/packetize-h264.js';
import { H265Packetizer } from '../../src/rtp/packetize-h265.js';
import type { TrackReceiverOptions } from '../../src/rtp/receiver.js';
import { TrackReceiver } from '../../src/rtp/receiver.js';
import { accessUnit, CollectingAudioSink, CollectingSink, packetCollector } from './collect.js';

type Codec = 'h264' | 'h265';
type Shape = { codec: Codec; donl: boolean; aggregate: boolean; maxPayloadBytes: number; frames: number[][] };

/** A frame is a list of slice sizes; odd ones carry SEI in front, each fourth is a key frame with parameter sets. */
const shape: fc.Arbitrary<Shape> = fc.record({
  codec: fc.constantFrom<Codec>('h264', 'h265'),
  donl: fc.boolean(),
  aggregate: fc.boolean(),
  maxPayloadBytes: fc.integer({ min: 16, max: 300 }),
  frames: fc.array(fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 4 }), {
    minLength: 2,
    maxLength: 12,
  }),
});

const nal = (codec: Codec, type: number, head: string, sizeBytes: number, salt: number): string => {
  const header =
    codec === 'h264'
      ? (0x60 | type).toString(16).padStart(2, '0')
      : `${(type << 1).toString(16).padStart(2, '0')}01`;
  // No zeros inside: this is not about start codes.
  const body = Array.from({ length: sizeBytes }, (_, i) =>
    (((i * 7 + salt * 31) % 255) + 1).toString(16).padStart(2, '0'),
  );
  return header + head + body.join('');
};

type Source = { nals: string[]; data: string[]; slices: string[]; sets: string[]; isKey: boolean };

const sourceFrames = ({ codec, frames }: Shape): Source[] =>
  frames.map((sizes, index) => {
    const isKey = index % 4 === 0;
    const setTypes = codec === 'h264' ? [7, 8] : [32, 33, 34];
    const sets = isKey ? setTypes.map((type) => nal(codec, type, '42', 20, index)) : [];
    const sei = index % 2 === 1 ? [nal(codec, codec === 'h264' ? 6 : 39, '05', 30, index)] : [];
    const type = codec === 'h264' ? (isKey ? 5 : 1) : isKey ? 19 : 1;
    const slices = sizes.map((size, slice) =>
      nal(codec, type, slice === 0 ? '80' : '40', size, index * 8 + slice),
    );
    return { nals: [...sets, ...sei, ...slices], data: [...sei, ...slices], slices, sets, isKey };
  });

const packetsOf = (source: readonly Source[], options: Shape): Buffer[] => {
  const { writer, packets } = packetCollector(options.maxPayloadBytes, 65_530);
  const packetizer =
    options.codec === 'h264'
      ? new H264Packetizer({ aggregate: options.aggregate, packetizationMode: 1 }, writer)
      : new H265Packetizer({ aggregate: options.aggregate, donl: options.donl }, writer);
  source.forEach(({ nals }, index) => {
    const frame = accessUnit(nals);
    packetizer.packetize(frame, 0, frame.length, index * 3000);
  });
  return packets;
};

const receive = (
  packets: readonly Buffer[],
  options: Shape,
  transport: TrackReceiverOptions['transport'],
): { sink: CollectingSink; depacketizer: VideoDepacketizer; receiver: TrackReceiver } => {
  const sink = new CollectingSink();
  const depacketizer =
    options.codec === 'h264'
      ? new H264Depacketizer(sink)
      : new H265Depacketizer({ donl: options.donl }, sink);
  sink.damaged = () => depacketizer.damagedSinceLastCommit;
  const receiver = new TrackReceiver(
    { transport, payloadType: 96, clockRateHz: 90_000, ownSsrc: 1, cname: 'test' },
    { depacketizer },
  );
  const oneBuffer = Buffer.alloc(4096);
  packets.forEach((packet, i) => {
    // Over TCP the receive buffer is reused: whoever keeps a reference to it gets rubbish.
    const target = transport === 'tcp' ? oneBuffer : Buffer.alloc(packet.length + 3);
    packet.copy(target, 3);
    receiver.onRtp(target, 3, 3 + packet.length, i as MonotonicMs);
  });
  receiver.flush(1e9 as MonotonicMs);
  return { sink, depacketizer, receiver };
};

/** Two more frames, so that what waits for the next timestamp is seen. */
const withTail = (source: readonly Source[], codec: Codec): Source[] => {
  const tail = sourceFrames({ codec, donl: false, aggregate: false, maxPayloadBytes: 0, frames: [[1], [1]] });
  return [...source, ...tail];
};

describe('packetize, then depacketize', () => {
  test('is the identity', () => {
    fc.assert(
      fc.property(shape, fc.constantFrom('tcp', 'udp'), (options, transport) => {
        const source = sourceFrames(options);
        const { sink, depacketizer } = receive(
          packetsOf(withTail(source, options.codec), options),
          options,
          transport,
        );
        const expected = source.map(({ data, isKey }, index) => ({
          timestamp: index * 3000,
          isKey,
          nals: data,
          isAfterDamage: false,
        }));
        assert.deepEqual(sink.frames.slice(0, source.length), expected);
        const sets = source.flatMap((frame) => frame.sets);
        assert.deepEqual(sink.parameterSets.slice(0, sets.length), sets);
        assert.deepEqual(depacketizer.counters, {
          damagedFrames: 0,
          malformedPackets: 0,
          oversizedFrames: 0,
        });
      }),
      { numRuns: 150 },
    );
  });

  test('over TCP with packets missing: each frame is a whole one, and a frame after a loss says so', () => {
    const losses = fc.array(fc.nat({ max: 400 }), { maxLength: 12 });
    fc.assert(
      fc.property(shape, losses, (options, lost) => {
        const source = withTail(sourceFrames(options), options.codec);
        const packets = packetsOf(source, options);
        const kept = packets.filter((_, i) => !lost.includes(i));
        const { sink } = receive(kept, options, 'tcp');
        checkWhole(sink, source);
      }),
      { numRuns: 200 },
    );
  });

  test('over UDP with packets missing, swapped and doubled: each frame is a whole one', () => {
    const faults = fc.array(fc.tuple(fc.nat({ max: 400 }), fc.constantFrom('lose', 'double', 'delay')), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(shape, faults, (options, list) => {
        const source = withTail(sourceFrames(options), options.codec);
        const packets = packetsOf(source, options);
        const arrived: { at: number; packet: Buffer }[] = [];
        packets.forEach((packet, i) => {
          const fault = list.find(([at]) => at === i)?.[1];
          if (fault !== 'lose') arrived.push({ at: fault === 'delay' ? i + 5.5 : i, packet });
          if (fault === 'double') arrived.push({ at: i + 2.5, packet });
        });
        arrived.sort((a, b) => a.at - b.at);
        const { sink, receiver } = receive(
          arrived.map(({ packet }) => packet),
          options,
          'udp',
        );
        checkWhole(sink, source);
        const isFaultless = list.every(([at, fault]) => at >= packets.length || (fault !== 'lose' && at > 0));
        if (!isFaultless) return;
        assert.equal(receiver.counters.lost, 0);
        assert.equal(sink.frames.length >= source.length - 1, true);
      }),
      { numRuns: 200 },
    );
  });
});

/** SEI and parameter sets may be lost around a picture, of the picture itself nothing. */
const checkWhole = (sink: CollectingSink, source: readonly Source[]): void => {
  let previous = -1;
  for (const frame of sink.frames) {
    const index = frame.timestamp / 3000;
    const origin = source[index];
    assert.ok(origin && index > previous, 'a frame of no source, or out of order');
    assert.deepEqual(frame.nals.slice(-origin.slices.length), origin.slices, 'a torn frame');
    assert.deepEqual(
      frame.nals.filter((one) => !origin.data.includes(one)),
      [],
      'a merged frame',
    );
    assert.equal(frame.isKey, origin.isKey);
    if (index > previous + 1 && previous >= 0)
      assert.equal(frame.isAfterDamage, true, 'frames vanished silently');
    previous = index;
  }
};

test('AAC over packets of any size comes back whole', () => {
  const units = fc.array(fc.uint8Array({ minLength: 1, maxLength: 700 }), { minLength: 1, maxLength: 10 });
  fc.assert(
    fc.property(units, fc.integer({ min: 16, max: 800 }), (list, maxPayloadBytes) => {
      const { writer, packets } = packetCollector(maxPayloadBytes);
      list.forEach((unit, i) => {
        packetizeAac(writer, Buffer.from(unit), 0, unit.length, i * 1024);
      });
      const sink = new CollectingAudioSink();
      const options = { sizeLength: 13, indexLength: 3, indexDeltaLength: 3, ticksPerFrame: 1024 };
      const receiver = new TrackReceiver(
        { transport: 'tcp', payloadType: 96, clockRateHz: 48_000, ownSsrc: 1, cname: 'test' },
        { depacketizer: new AacDepacketizer(options, sink) },
      );
      for (const packet of packets) receiver.onRtp(packet, 0, packet.length, 0 as MonotonicMs);
      assert.deepEqual(
        sink.frames,
        list.map((unit, i) => ({ timestamp: i * 1024, data: Buffer.from(unit).toString('hex') })),
      );
    }),
  );
});
