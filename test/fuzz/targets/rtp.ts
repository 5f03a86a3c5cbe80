import assert from 'node:assert/strict';
import { MAX_DOCUMENT_BYTES } from '../../../src/analytics/read-metadata.js';
import type { MonotonicMs, WallMs } from '../../../src/base/clock.js';
import { Feedback } from '../../../src/live/whep/send/feedback.js';
import { AacDepacketizer } from '../../../src/rtp/depacketize-aac.js';
import { AudioFrameDepacketizer } from '../../../src/rtp/depacketize-audio.js';
import { H264Depacketizer } from '../../../src/rtp/depacketize-h264.js';
import { H265Depacketizer } from '../../../src/rtp/depacketize-h265.js';
import { MetadataDepacketizer } from '../../../src/rtp/depacketize-metadata.js';
import type { Depacketizer } from '../../../src/rtp/depacketizer.js';
import { H264Packetizer } from '../../../src/rtp/packetize-h264.js';
import { H265Packetizer } from '../../../src/rtp/packetize-h265.js';
import { TrackReceiver } from '../../../src/rtp/receiver.js';
import { parseRtcp } from '../../../src/rtp/rtcp.js';
import { writeSenderReport } from '../../../src/rtp/rtcp-writer.js';
import { CollectingAudioSink, CollectingSink, packetCollector } from '../../rtp/collect.js';
import { fixtures } from '../../support/fixtures.js';
import { joined, pieces, type Target } from '../target.js';

const MAX_FRAME_BYTES = 1 << 20;

/** A track that gets what the pieces of an input are: even ones are RTP, each tenth RTCP. */
const receive = (input: Buffer, depacketizer: Depacketizer, transport: 'tcp' | 'udp'): void => {
  const receiver = new TrackReceiver(
    { transport, payloadType: 96, clockRateHz: 90_000, ownSsrc: 1, cname: 'framering' },
    { depacketizer },
  );
  let nowMs = 0;
  for (const [index, piece] of pieces(input).entries()) {
    nowMs += 7;
    if (index % 10 === 9) receiver.onRtcp(piece, 0, piece.length, nowMs as MonotonicMs);
    else receiver.onRtp(piece, 0, piece.length, nowMs as MonotonicMs);
  }
  receiver.flush((nowMs + 1_000) as MonotonicMs);
};

const videoPackets = (codec: 'h264' | 'h265'): Buffer => {
  const stream = codec === 'h264' ? fixtures.h264High() : fixtures.h265Main();
  const { writer, packets } = packetCollector(400);
  const packetizer =
    codec === 'h264'
      ? new H264Packetizer({ aggregate: true, packetizationMode: 1 }, writer)
      : new H265Packetizer({ aggregate: true, donl: false }, writer);
  for (const { bytes, ptsTicks } of stream.frames.slice(0, 3))
    packetizer.packetize(bytes, 0, bytes.length, ptsTicks);
  return joined(packets.slice(0, 30));
};

const video = (codec: 'h264' | 'h265', transport: 'tcp' | 'udp'): Target => ({
  get seeds() {
    return [videoPackets(codec)];
  },
  run: (input) => {
    const sink = new CollectingSink(MAX_FRAME_BYTES);
    const depacketizer =
      codec === 'h264'
        ? new H264Depacketizer(sink)
        : new H265Depacketizer({ donl: (input[0] ?? 0) > 127 }, sink);
    sink.damaged = () => depacketizer.damagedSinceLastCommit;
    receive(input, depacketizer, transport);
    const told = sink.frames.flatMap(({ nals }) => nals).reduce((sum, hex) => sum + hex.length / 2, 0);
    assert.ok(told <= 2 * input.length, 'more pictures than packets');
  },
});

const AAC_PACKET = joined(
  ['8060000100000001000012340010004021aabbccdd11223344'].map((hex) => Buffer.from(hex, 'hex')),
);

const sound: Target = {
  seeds: [AAC_PACKET],
  run: (input) => {
    const sink = new CollectingAudioSink();
    const framing = { sizeLength: 13, indexLength: 3, indexDeltaLength: 3 };
    receive(input, new AacDepacketizer({ ...framing, ticksPerFrame: 1024 }, sink), 'udp');
    receive(input, new AudioFrameDepacketizer(sink), 'tcp');
  },
};

const metadata: Target = {
  seeds: [
    joined(
      ['80e0000100000001000012343c612f3e', '8060000200000002000012343c613e'].map((hex) =>
        Buffer.from(hex, 'hex'),
      ),
    ),
  ],
  words: ['<?xml version="1.0"?>', '</a>', '\0', '<'],
  run: (input) => {
    const document = (bytes: Buffer, end: number): void => {
      assert.ok(end > 0 && end <= bytes.length && end <= MAX_DOCUMENT_BYTES);
    };
    receive(input, new MetadataDepacketizer({ maxBytes: MAX_DOCUMENT_BYTES }, { document }), 'tcp');
  },
};

const senderReport = (): Buffer => {
  const target = Buffer.alloc(200);
  const end = writeSenderReport(target, 0, 7, {
    wallMs: 1e12 as WallMs,
    rtpTimestamp: 9,
    packets: 1,
    octets: 2,
  });
  return target.subarray(0, end);
};

const within = (buffer: Buffer, start: number, end: number): void =>
  assert.ok(0 <= start && start <= end && end <= buffer.length);

const rtcp: Target = {
  get seeds() {
    return [
      senderReport(),
      Buffer.from('81c90007000000010000000200ffffff00010203000000040000000500000006', 'hex'),
      Buffer.from('81cd000300000001000000020001ffff', 'hex'),
      Buffer.from('81ca00020000000101026162', 'hex'),
      Buffer.from('81cb000100000001', 'hex'),
    ];
  },
  run: (input) => {
    parseRtcp(input, 0, input.length, {
      onSenderReport: () => {},
      onReportBlock: (_ssrc, buffer, start) => within(buffer, start, start + 24),
      onSourceDescription: () => {},
      onBye: () => {},
      onOther: () => {},
    });
    let lost = 0;
    const target = { onLost: () => void lost++, onKeyframeWanted: () => {}, onReport: () => {} };
    new Feedback(target, 0 as MonotonicMs).read(input, 0 as MonotonicMs);
    assert.ok(lost <= 2_000, 'more is asked for than may be');
  },
};

export const rtpTargets = {
  'rtp-h264-udp': video('h264', 'udp'),
  'rtp-h264-tcp': video('h264', 'tcp'),
  'rtp-h265-udp': video('h265', 'udp'),
  'rtp-sound': sound,
  'rtp-metadata': metadata,
  rtcp,
};
