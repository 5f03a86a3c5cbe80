import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { MonotonicMs, WallMs } from '../../src/base/clock.js';
import { AacDepacketizer } from '../../src/rtp/depacketize-aac.js';
import { H264Depacketizer } from '../../src/rtp/depacketize-h264.js';
import { H265Depacketizer } from '../../src/rtp/depacketize-h265.js';
import type { Depacketizer } from '../../src/rtp/depacketizer.js';
import type { RtpPacket } from '../../src/rtp/packet.js';
import { PacketWriter } from '../../src/rtp/packet-writer.js';
import { TrackReceiver } from '../../src/rtp/receiver.js';
import type { RtcpHandler } from '../../src/rtp/rtcp.js';
import { parseRtcp } from '../../src/rtp/rtcp.js';
import { writeSenderReport } from '../../src/rtp/rtcp-writer.js';
import { CollectingAudioSink, CollectingSink } from './collect.js';

/** Stands for any depacketizer: notes what it is given. */
class Recorder implements Depacketizer {
  readonly counters = { damagedFrames: 0, malformedPackets: 0, oversizedFrames: 0 };
  readonly packets: [payload: string, sequence: number, lostBefore: number][] = [];

  push(packet: RtpPacket, lostBefore: number): void {
    const { buffer, payloadStart, payloadEnd, sequence } = packet;
    this.packets.push([buffer.toString('hex', payloadStart, payloadEnd), sequence, lostBefore]);
  }

  reset(): void {}
}

const TCP = {
  transport: 'tcp',
  payloadType: 96,
  clockRateHz: 90_000,
  ownSsrc: 0xbeef,
  cname: 'framering',
} as const;
const A = 0xaaaa;
const B = 0xbbbb;

type Sent = { payload?: string; payloadType?: number; ssrc?: number; sequence: number; timestamp?: number };

const setUp = (
  transport: 'tcp' | 'udp' = 'tcp',
): {
  receiver: TrackReceiver;
  recorder: Recorder;
  events: string[];
  send: (packet: Sent, arrivalMs?: number) => void;
} => {
  const recorder = new Recorder();
  const events: string[] = [];
  const receiver = new TrackReceiver(
    { ...TCP, transport },
    {
      depacketizer: recorder,
      onSourceChange: () => events.push(`source after ${recorder.packets.length}`),
      onSenderReport: (wallMs, rtpTimestamp, arrivalMs) =>
        events.push(`report ${wallMs} ${rtpTimestamp} ${arrivalMs}`),
    },
  );
  // One buffer for all, as a socket has over TCP.
  const shared = Buffer.alloc(2048);
  const send = (packet: Sent, arrivalMs = 0): void => {
    const options = {
      payloadType: packet.payloadType ?? 96,
      ssrc: packet.ssrc ?? A,
      firstSequence: packet.sequence,
      maxPayloadBytes: 1400,
    };
    const target = transport === 'tcp' ? shared : Buffer.alloc(2048);
    const writer = new PacketWriter(options, target, 4, (buffer, start, end) =>
      receiver.onRtp(buffer, start, end, arrivalMs as MonotonicMs),
    );
    const payload = Buffer.from(packet.payload ?? 'aa', 'hex');
    writer.begin();
    writer.copy(payload, 0, payload.length);
    writer.finish(packet.timestamp ?? 0, false);
  };
  return { receiver, recorder, events, send };
};

const sequencesOf = (recorder: Recorder): number[] => recorder.packets.map(([, sequence]) => sequence);

describe('payload types', () => {
  test('foreign packets (Geovision`s 50) are skipped, whether they count along or on their own', () => {
    const { receiver, recorder, events, send } = setUp();
    send({ sequence: 1 });
    send({ sequence: 2, payloadType: 50 });
    send({ sequence: 3 });
    send({ sequence: 9000, payloadType: 50 });
    send({ sequence: 77, payloadType: 50, ssrc: B });
    send({ sequence: 4 });
    assert.deepEqual(
      recorder.packets.map(([, sequence, lost]) => [sequence, lost]),
      [
        [1, 0],
        [3, 0],
        [4, 0],
      ],
    );
    const { foreign, lost, packets } = receiver.counters;
    assert.deepEqual({ foreign, lost, packets }, { foreign: 3, lost: 0, packets: 6 });
    assert.deepEqual(events, []);
  });
});

describe('sources', () => {
  test('a new SSRC that goes on in sequence and time (Uniview) is taken at once', () => {
    const { receiver, recorder, events, send } = setUp();
    send({ sequence: 1, timestamp: 0 });
    send({ sequence: 2, timestamp: 3000, ssrc: B });
    assert.deepEqual(
      recorder.packets.map(([, , lost]) => lost),
      [0, 0],
    );
    assert.deepEqual(events, ['source after 1']);
    assert.equal(receiver.ssrc, B);
  });

  for (const transport of ['tcp', 'udp'] as const) {
    test(`one that starts anew is taken when a second packet confirms it, and loses none (${transport})`, () => {
      const { receiver, recorder, events, send } = setUp(transport);
      send({ sequence: 1, payload: '01' });
      receiver.flush(50 as MonotonicMs);
      send({ sequence: 40_000, payload: '02', timestamp: 1 << 30, ssrc: B });
      assert.deepEqual(sequencesOf(recorder), [1]);
      send({ sequence: 40_001, payload: '03', timestamp: 1 << 30, ssrc: B });
      assert.deepEqual(recorder.packets, [
        ['01', 1, 0],
        ['02', 40_000, 1],
        ['03', 40_001, 0],
      ]);
      assert.deepEqual(events, ['source after 1']);
      assert.deepEqual([receiver.counters.strays, receiver.counters.lost], [0, 0]);
    });
  }

  test('the first two packets of a new source may be swapped', () => {
    const { recorder, send } = setUp('udp');
    send({ sequence: 1 });
    send({ sequence: 501, ssrc: B });
    send({ sequence: 500, ssrc: B });
    send({ sequence: 502, ssrc: B });
    assert.deepEqual(sequencesOf(recorder), [1, 500, 501, 502]);
  });

  test('packets of somebody else`s session (Reolink) are strays', () => {
    const { receiver, recorder, events, send } = setUp();
    for (let i = 0; i < 10; i += 1) {
      send({ sequence: i });
      send({ sequence: 30_000 + i * 500, ssrc: B });
    }
    assert.deepEqual(sequencesOf(recorder), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert.equal(receiver.counters.strays, 9);
    assert.deepEqual(events, []);
  });
});

describe('RTCP', () => {
  type Block = {
    fractionLost: number;
    cumulativeLost: number;
    highest: number;
    jitter: number;
    lsr: number;
    dlsr: number;
  };

  const reportOf = (receiver: TrackReceiver, nowMs: number): Block | null => {
    const target = Buffer.alloc(300);
    const lengthBytes = receiver.writeReceiverReport(target, nowMs as MonotonicMs);
    const found: { block: Block | null; cname: string } = { block: null, cname: '' };
    const handler: RtcpHandler = {
      onSenderReport: () => assert.fail('we send no media'),
      onReportBlock: (sender, buffer, at) => {
        assert.equal(sender, 0xbeef);
        found.block = {
          fractionLost: buffer[at + 4]!,
          cumulativeLost: buffer.readIntBE(at + 5, 3),
          highest: buffer.readUInt32BE(at + 8),
          jitter: buffer.readUInt32BE(at + 12),
          lsr: buffer.readUInt32BE(at + 16),
          dlsr: buffer.readUInt32BE(at + 20),
        };
      },
      onSourceDescription: (_ssrc, _type, buffer, start, end) => {
        found.cname = buffer.toString('latin1', start, end);
      },
      onBye: () => {},
      onOther: () => {},
    };
    assert.ok(parseRtcp(target, 0, lengthBytes, handler));
    assert.equal(found.cname, 'framering');
    return found.block;
  };

  test('a report before the first packet has no block', () => {
    assert.equal(reportOf(setUp().receiver, 0), null);
  });

  test('loss since the last report, loss in all, highest sequence', () => {
    const { receiver, send } = setUp();
    for (const sequence of [65_533, 65_534, 1, 2]) send({ sequence });
    const first = reportOf(receiver, 0)!;
    assert.deepEqual([first.fractionLost, first.cumulativeLost, first.highest], [85, 2, 65_538]);
    for (const sequence of [3, 4, 5]) send({ sequence });
    const second = reportOf(receiver, 0)!;
    assert.deepEqual([second.fractionLost, second.cumulativeLost, second.highest], [0, 2, 65_541]);
    send({ sequence: 30_000 });
    const third = reportOf(receiver, 0)!;
    assert.deepEqual([third.fractionLost, third.cumulativeLost, third.highest], [0, 0, 30_000]);
    // A new count with losses of its own, and what was told of the old one forgotten.
    send({ sequence: 100 });
    for (let sequence = 102; sequence <= 118; sequence += 2) send({ sequence });
    const fourth = reportOf(receiver, 0)!;
    assert.deepEqual([fourth.fractionLost, fourth.cumulativeLost, fourth.highest], [121, 9, 118]);
  });

  test('jitter after RFC 3550 §A.8', () => {
    const { receiver, send } = setUp();
    // Sent 40 ms apart; came 40 ms apart, but for one that was 16 ms late.
    send({ sequence: 0, timestamp: 0 }, 0);
    send({ sequence: 1, timestamp: 3600 }, 40);
    assert.equal(reportOf(receiver, 0)!.jitter, 0);
    send({ sequence: 2, timestamp: 7200 }, 96);
    assert.equal(reportOf(receiver, 0)!.jitter, 90);
  });

  test('sender reports are told and answered with LSR and DLSR; those of unknown SSRCs (Tapo) are nothing', () => {
    const { receiver, events, send } = setUp();
    send({ sequence: 0 });
    const report = Buffer.alloc(28);
    const info = { wallMs: 1_800_000_000_500 as WallMs, rtpTimestamp: 7, packets: 1, octets: 1 };
    writeSenderReport(report, 0, B, info);
    receiver.onRtcp(report, 0, 28, 50 as MonotonicMs);
    assert.deepEqual(events, []);
    writeSenderReport(report, 0, A, info);
    receiver.onRtcp(report, 0, 28, 100 as MonotonicMs);
    assert.deepEqual(events, ['report 1800000000500 7 100']);
    const block = reportOf(receiver, 1600)!;
    assert.equal(block.lsr, report.readUInt32BE(10));
    assert.equal(block.dlsr, 65_536 * 1.5);
  });

  test('what is neither RTP nor RTCP is counted', () => {
    const { receiver } = setUp();
    receiver.onRtp(Buffer.from('4060'), 0, 2, 0 as MonotonicMs);
    receiver.onRtcp(Buffer.from('0000', 'hex'), 0, 2, 0 as MonotonicMs);
    assert.equal(receiver.counters.malformed, 2);
  });
});

test('arbitrary packets never throw, never read out of range, and always keep to the sink`s contract', () => {
  const packet = fc.record({
    bytes: fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      // Bytes that mean something to the payload formats.
      fc.array(
        fc.constantFrom(
          0,
          0,
          0,
          1,
          2,
          5,
          8,
          16,
          0x18,
          0x19,
          0x1c,
          0x1d,
          0x41,
          0x60,
          0x62,
          0x65,
          0x67,
          0x7c,
          0x80,
          0x85,
          0xc5,
        ),
        {
          maxLength: 40,
        },
      ),
    ),
    step: fc.constantFrom(0, 0, 1, 1, 1, 2, 5000, -1),
    timestamp: fc.nat({ max: 3 }),
    marker: fc.boolean(),
    ssrc: fc.constantFrom(A, A, A, A, B),
  });
  fc.assert(
    fc.property(fc.array(packet, { maxLength: 60 }), fc.constantFrom('tcp', 'udp'), (list, transport) => {
      const aac = { sizeLength: 13, indexLength: 3, indexDeltaLength: 3, ticksPerFrame: 1024 };
      const depacketizers = [
        new H264Depacketizer(new CollectingSink(200)),
        new H265Depacketizer({ donl: false }, new CollectingSink(200)),
        new H265Depacketizer({ donl: true }, new CollectingSink(200)),
        new AacDepacketizer(aac, new CollectingAudioSink()),
      ];
      for (const depacketizer of depacketizers) {
        const receiver = new TrackReceiver({ ...TCP, transport }, { depacketizer });
        let sequence = 65_530;
        list.forEach(({ bytes, step, timestamp, marker, ssrc }, i) => {
          sequence = (sequence + step) & 0xffff;
          // Exactly as long as the packet: reading past its end gives undefined, which the sink would refuse.
          const buffer = Buffer.alloc(12 + bytes.length);
          buffer[0] = 0x80;
          buffer[1] = (marker ? 0x80 : 0) | 96;
          buffer.writeUInt16BE(sequence, 2);
          buffer.writeUInt32BE(timestamp * 3000, 4);
          buffer.writeUInt32BE(ssrc, 8);
          buffer.set(bytes, 12);
          receiver.onRtp(buffer, 0, buffer.length, (i * 20) as MonotonicMs);
        });
        receiver.flush(1e6 as MonotonicMs);
      }
    }),
    { numRuns: 500 },
  );
});
