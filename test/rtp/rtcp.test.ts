import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { WallMs } from '../../src/base/clock.js';
import type { RtcpHandler } from '../../src/rtp/rtcp.js';
import { parseRtcp } from '../../src/rtp/rtcp.js';
import {
  ntpToWallMs,
  writeReceiverReport,
  writeSenderReport,
  writeSourceDescription,
} from '../../src/rtp/rtcp-writer.js';

const recorder = (): { handler: RtcpHandler; heard: unknown[][] } => {
  const heard: unknown[][] = [];
  const handler: RtcpHandler = {
    onSenderReport: (ssrc, seconds, fraction, timestamp) =>
      heard.push(['sr', ssrc, seconds, fraction, timestamp]),
    onReportBlock: (sender, buffer, start) =>
      heard.push(['block', sender, buffer.toString('hex', start, start + 24)]),
    onSourceDescription: (ssrc, type, buffer, start, end) => {
      assert.ok(start <= end && end <= buffer.length);
      heard.push(['sdes', ssrc, type, buffer.toString('latin1', start, end)]);
    },
    onBye: (ssrc) => heard.push(['bye', ssrc]),
    onOther: (type, format, buffer, start, end) =>
      heard.push(['other', type, format, buffer.toString('hex', start, end)]),
  };
  return { handler, heard };
};

const parse = (hex: string): { ok: boolean; heard: unknown[][] } => {
  const { handler, heard } = recorder();
  const buffer = Buffer.concat([Buffer.alloc(3, 0xff), Buffer.from(hex, 'hex'), Buffer.alloc(3, 0xff)]);
  return { ok: parseRtcp(buffer, 3, buffer.length - 3, handler), heard };
};

const block = {
  ssrc: 0xcafe,
  fractionLost: 64,
  cumulativeLost: -2,
  extendedHighest: 0x1_0003_0005,
  jitterTicks: 12.9,
  lastSenderReport: 0xffff_0001,
  delaySinceLastSenderReport: 65_536,
};

describe('written, then parsed', () => {
  test('receiver report with CNAME', () => {
    const target = Buffer.alloc(300, 0xee);
    const end = writeSourceDescription(
      target,
      writeReceiverReport(target, 0, 0xbeef, block),
      0xbeef,
      'framering',
    );
    assert.equal(end, 32 + 20);
    assert.deepEqual(parse(target.toString('hex', 0, end)), {
      ok: true,
      heard: [
        ['block', 0xbeef, '0000cafe40fffffe000300050000000cffff000100010000'],
        ['sdes', 0xbeef, 1, 'framering'],
      ],
    });
  });

  test('an empty receiver report', () => {
    const target = Buffer.alloc(8);
    assert.equal(writeReceiverReport(target, 0, 7, null), 8);
    assert.equal(target.toString('hex'), '80c9000100000007');
  });

  test('sender report: wall time survives to a fraction of a millisecond, in both NTP eras', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 4e12, noNaN: true }),
        fc.nat(0xffff_ffff),
        (wallMs, rtpTimestamp) => {
          const target = Buffer.alloc(28);
          const info = { wallMs: wallMs as WallMs, rtpTimestamp, packets: 1, octets: 2 };
          assert.equal(writeSenderReport(target, 0, 5, info), 28);
          const { ok, heard } = parse(target.toString('hex'));
          const [kind, ssrc, seconds, fraction, timestamp] = heard[0]!;
          assert.deepEqual([ok, kind, ssrc, timestamp], [true, 'sr', 5, rtpTimestamp]);
          assert.ok(Math.abs(ntpToWallMs(seconds as number, fraction as number) - wallMs) < 0.01);
        },
      ),
    );
  });

  test('CNAMEs of every length end on a 32-bit border, with a zero', () => {
    for (let length = 0; length < 9; length += 1) {
      const target = Buffer.alloc(64, 0xee);
      const end = writeSourceDescription(target, 0, 1, 'x'.repeat(length));
      assert.equal(end % 4, 0);
      assert.equal(target[end - 1], 0);
      assert.deepEqual(parse(target.toString('hex', 0, end)).heard, [['sdes', 1, 1, 'x'.repeat(length)]]);
    }
  });
});

describe('from cameras', () => {
  test('a compound of all kinds, feedback and APP included', () => {
    const { ok, heard } = parse(
      `80c80006000000010102030405060708090a0b0c0000000100000002${'81ca000300000001010361620000000000'.slice(0, 32)}` +
        '81cb000100000001' +
        '80cc00020000000161626364' +
        '81ce00020000000100000002',
    );
    assert.equal(ok, true);
    assert.deepEqual(heard, [
      ['sr', 1, 0x01020304, 0x05060708, 0x090a0b0c],
      ['sdes', 1, 1, 'ab\0'],
      ['bye', 1],
      ['other', 204, 0, '0000000161626364'],
      ['other', 206, 1, '0000000100000002'],
    ]);
  });

  test('SDES without its end', () => {
    assert.deepEqual(parse('81ca00020000000101026162'), { ok: true, heard: [['sdes', 1, 1, 'ab']] });
  });

  test('two SDES chunks', () => {
    assert.deepEqual(parse('82ca000400000001010161000000000202016200').heard, [
      ['sdes', 1, 1, 'a'],
      ['sdes', 2, 2, 'b'],
    ]);
  });

  test('padding is no report', () => {
    assert.deepEqual(parse('a1cb00020000000900000004'), { ok: true, heard: [['bye', 9]] });
  });

  test('what breaks off is refused', () => {
    for (const hex of [
      '',
      '80',
      '40c90001' + '00000001',
      '80c9000200000001',
      '80c8000100000001',
      '81c9000100000001',
      '82cb000100000001',
      '81ca000200000001' + '01ff6162',
      'a0c90001000000ff',
      '80c9000100000001' + '80',
    ]) {
      assert.equal(parse(hex).ok, false, hex);
    }
  });

  test('arbitrary bytes never throw', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.constantFrom(200, 201, 202, 203, 204, 206),
        (bytes, type) => {
          parse(Buffer.from(bytes).toString('hex'));
          // The same with a header that is believed.
          const body = Buffer.from(bytes.subarray(0, bytes.length & ~3));
          const head = Buffer.from([0x80 | (bytes[0] ?? 0), type, 0, body.length / 4]);
          parse(Buffer.concat([head, body]).toString('hex'));
        },
      ),
      { numRuns: 500 },
    );
  });
});
