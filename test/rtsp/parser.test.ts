import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../../src/base/errors.js';
import { CarryBuffer } from '../../src/rtsp/carry-buffer.js';
import { cseqOf } from '../../src/rtsp/message.js';
import { defaultLimits, RtspParser } from '../../src/rtsp/parser.js';
import { cpuMsOf } from '../support/took.js';
import { interleaved, rtp } from './scripted-camera.js';

/** Feeds `bytes` in pieces through one reused buffer, as a connection does, and tells what came of it. */
const eventsOf = (bytes: Buffer, cuts: readonly number[] = [], limits = defaultLimits) => {
  const events: string[] = [];
  const counters = { garbageBytes: 0, unknownChannelFrames: 0 };
  const parser = new RtspParser(
    {
      onInterleaved: (channel, buffer, start, end) =>
        void events.push(`frame ${channel} ${buffer.toString('latin1', start, end)}`),
      onResponse: (response) =>
        void events.push(
          `response ${response.status} ${response.reason} #${cseqOf(response.headers)} ${response.body.toString('latin1')}`,
        ),
      onRequest: (request) =>
        void events.push(`request ${request.method} ${request.uri} ${request.body.toString('latin1')}`),
    },
    counters,
    limits,
  );
  for (const channel of [0, 1, 2, 3]) parser.allowChannel(channel);
  const readBuffer = Buffer.alloc(bytes.length + 16);
  const borders = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  let from = 0;
  for (const border of [...borders, bytes.length]) {
    // What an earlier read left behind must not matter.
    readBuffer.fill(0x24);
    bytes.copy(readBuffer, 7, from, border);
    parser.feed(readBuffer, 7, 7 + border - from);
    from = border;
  }
  return { events, ...counters };
};

const text = (value: string): Buffer => Buffer.from(value, 'latin1');
const okText = 'RTSP/1.0 200 OK\r\nCSeq: 3\r\n\r\n';

test('messages and frames in one read', () => {
  const bytes = Buffer.concat([
    text('RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: 4\r\n\r\nbody'),
    interleaved(0, rtp(1, 'one')),
    text('OPTIONS rtsp://x/y RTSP/1.0\r\nCSeq: 9\r\n\r\n'),
    interleaved(3, text('two')),
  ]);
  assert.deepEqual(eventsOf(bytes).events, [
    'response 200 OK #1 body',
    `frame 0 ${rtp(1, 'one').toString('latin1')}`,
    'request OPTIONS rtsp://x/y ',
    'frame 3 two',
  ]);
});

test('a status line of spaces takes no longer than another, whatever ends it', () => {
  const lines = `RTSP/1.0 200${' '.repeat(4_000)}${'x'.repeat(4_000)}\rx\r\nCSeq: 1\r\n\r\n`.repeat(20);
  const tookMs = cpuMsOf(() => void eventsOf(text(lines)));
  assert.ok(tookMs < 1_000, `took ${tookMs} ms`);
});

const element = fc.oneof(
  fc
    .tuple(fc.integer({ min: 0, max: 5 }), fc.uint8Array({ maxLength: 300 }))
    .map(([channel, payload]) => interleaved(channel, Buffer.from(payload))),
  fc.constantFrom(
    text(okText),
    text('RTSP/1.0 454 Session Not Found\nCSeq: 8\n\n'),
    text('RTSP/1.0 200 OK\r\nCSeq: 2\r\nContent-Length: 11\r\n\r\n$\x00\x00\x04RTSP/1'),
    text('SET_PARAMETER * RTSP/1.0\r\nCSeq: 1\r\nContent-length: 2\r\n\r\n$\x01'),
    text('\r\n'),
    text('garbage $'),
    text('RTSP'),
    text('RTSP/1.0 what\r\n'),
    Buffer.from([0x24, 1, 0, 12, 0x80]),
    Buffer.from([0x24, 2, 0, 0]),
  ),
);

test('any chunking of a stream gives the same events', () => {
  fc.assert(
    fc.property(
      fc.array(element, { maxLength: 12 }),
      fc.array(fc.nat(4000), { maxLength: 60 }),
      (parts, cuts) => {
        const bytes = Buffer.concat(parts);
        assert.deepEqual(eventsOf(bytes, cuts), eventsOf(bytes));
      },
    ),
    { numRuns: 600 },
  );
});

test('a stream fed byte by byte gives the same events', () => {
  fc.assert(
    fc.property(fc.array(element, { maxLength: 8 }), (parts) => {
      const bytes = Buffer.concat(parts);
      const everywhere = Array.from({ length: bytes.length }, (_, at) => at);
      assert.deepEqual(eventsOf(bytes, everywhere), eventsOf(bytes));
    }),
    { numRuns: 100 },
  );
});

const hostile = fc.oneof(
  fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)),
  element,
  fc.constantFrom(
    text('RTSP/1.0 200 OK\r\nContent-Length: -1\r\n\r\n'),
    text('RTSP/1.0 200 OK\r\nContent-Length: 99999999999\r\n\r\n'),
    text('RTSP/1.0 200 OK\r\n: \r\n:\r\nCSeq\r\n x\r\n\r\n'),
    text(`PLAY ${'x'.repeat(9000)}`),
  ),
);

test('arbitrary bytes throw nothing but protocol_error, and hand on nothing out of range', () => {
  fc.assert(
    fc.property(
      fc.array(hostile, { maxLength: 10 }),
      fc.array(fc.nat(20_000), { maxLength: 20 }),
      (parts, cuts) => {
        try {
          eventsOf(Buffer.concat(parts), cuts);
        } catch (error) {
          assert.ok(error instanceof AppError && error.code === 'protocol_error', String(error));
        }
      },
    ),
    { numRuns: 600 },
  );
});

test('quirk 16: garbage between frames is passed over, up to a known channel or RTSP/', () => {
  const frame = interleaved(2, rtp(7, 'seven'));
  for (const garbage of [
    'x',
    '\x00\x00\x00',
    '$\x09\x00\x20',
    '$\x00\x00\x00',
    '$$$',
    'RTSP',
    `no$ ${'?'.repeat(99)}`,
  ]) {
    const bytes = Buffer.concat([interleaved(0, rtp(6)), text(`!${garbage}`), frame, text(okText)]);
    const seen = eventsOf(bytes);
    assert.deepEqual(seen.events.slice(1), [
      `frame 2 ${rtp(7, 'seven').toString('latin1')}`,
      'response 200 OK #3 ',
    ]);
    assert.equal(seen.garbageBytes, garbage.length + 1, JSON.stringify(garbage));
  }
});

test('too much garbage ends it, with the position', () => {
  const limits = { ...defaultLimits, garbageBytes: 1000 };
  assert.deepEqual(eventsOf(Buffer.alloc(1000), [], limits).garbageBytes, 1000);
  assert.throws(() => eventsOf(Buffer.alloc(1001), [], limits), { code: 'protocol_error' });
});

test('quirk 15: frames of other sessions on unassigned channels are passed over and counted', () => {
  const bytes = Buffer.concat([
    interleaved(8, rtp(1)),
    interleaved(9, text('zz')),
    interleaved(0, rtp(2, 'mine')),
  ]);
  const seen = eventsOf(bytes);
  assert.deepEqual(seen.events, [`frame 0 ${rtp(2, 'mine').toString('latin1')}`]);
  assert.equal(seen.unknownChannelFrames, 2);
  assert.equal(seen.garbageBytes, 0);
});

test('bounds: line, head, headers, body', () => {
  const line = `RTSP/1.0 200 OK\r\nX: ${'x'.repeat(8192)}\r\n\r\n`;
  const head = `RTSP/1.0 200 OK\r\n${`X: ${'x'.repeat(8000)}\r\n`.repeat(9)}\r\n`;
  const count = `RTSP/1.0 200 OK\r\n${'X: x\r\n'.repeat(257)}\r\n`;
  const body = 'RTSP/1.0 200 OK\r\nContent-Length: 1048577\r\n\r\n';
  for (const [name, bytes] of Object.entries({ line, head, count, body })) {
    assert.throws(() => eventsOf(text(bytes), [100, 9000]), { code: 'protocol_error' }, name);
  }
  const fits = `RTSP/1.0 200 OK\r\n${'X: x\r\n'.repeat(255)}Content-Length: 1048576\r\n\r\n`;
  assert.equal(eventsOf(Buffer.concat([text(fits), Buffer.alloc(1_048_576)]), [5000]).events.length, 1);
});

test('LF alone ends a line, and folded or broken headers do no harm', () => {
  const bytes = text('RTSP/1.0 200 OK\nnonsense\nX:\n a\n b\nCSeq:  7  \nCONTENT-LENGTH: 2\n\nok');
  assert.deepEqual(eventsOf(bytes).events, ['response 200 OK #7 ok']);
});

test('nothing is handed on after stop, not even from the same read', () => {
  const events: number[] = [];
  const parser = new RtspParser(
    {
      onInterleaved: (channel) => {
        events.push(channel);
        parser.stop();
      },
      onResponse: () => void events.push(-1),
      onRequest: () => void events.push(-2),
    },
    { garbageBytes: 0, unknownChannelFrames: 0 },
  );
  parser.allowChannel(0);
  const bytes = Buffer.concat([interleaved(0, rtp(1)), interleaved(0, rtp(2)), text(okText)]);
  parser.feed(bytes, 0, bytes.length);
  parser.feed(bytes, 0, bytes.length);
  assert.deepEqual(events, [0]);
});

test('what a straddling frame or a large message takes is bounded and given back', () => {
  const carry = new CarryBuffer();
  const chunk = Buffer.alloc(65_539);
  carry.append(chunk, 0, 5);
  assert.equal(carry.bytes.length, 2048);
  carry.append(chunk, 0, chunk.length - 5);
  assert.equal(carry.bytes.length, 131_072);
  carry.clear();
  assert.equal(carry.bytes.length, 131_072);
  for (let i = 0; i < 8; i++) carry.append(chunk, 0, chunk.length);
  carry.clear();
  assert.equal(carry.bytes.length, 0);
});
