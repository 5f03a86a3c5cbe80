import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseStreamAddress } from '../../../src/live/rtsp/dialogue/stream-address.js';
import { parseTransportOffer } from '../../../src/live/rtsp/dialogue/transport-offer.js';
import { ReportClock } from '../../../src/live/rtsp/packets/report-clock.js';
import { StreamAxis } from '../../../src/live/rtsp/packets/stream-axis.js';
import type { RingReader } from '../../../src/ring/reader.js';
import { cpuMsOf } from '../../support/took.js';

test('an address is read however players join a track to it', () => {
  const ways = [
    'rtsp://host:8554/door/trackID=1',
    'rtsp://host:8554/door/trackID=1?token=abc',
    'rtsp://host:8554/door?token=abc/trackID=1',
    'rtsp://john:secret@host:8554/door/trackID=1',
    'RTSP://host:8554/door//trackID=1',
  ];
  for (const uri of ways) {
    const address = parseStreamAddress(uri);
    assert.deepEqual([address?.cameraId, address?.track], ['door', 'audio'], uri);
    assert.match(address?.origin ?? '', /^rtsp:\/\/host:8554$/i);
    assert.equal(address?.token, uri.includes('token') ? 'abc' : null);
  }
  assert.deepEqual(parseStreamAddress('/door/'), {
    ...{ cameraId: 'door', track: null, stream: null },
    ...{ token: null, origin: '' },
  });
  assert.equal(parseStreamAddress('rtsp://[::1]:8554/a%2Eb')?.cameraId, 'a.b');
  for (const uri of [
    '*',
    'rtsp://host',
    'rtsp://host/',
    'rtsp://host/a/b',
    'rtsp://host/%zz',
    'http://h/door',
  ])
    assert.equal(parseStreamAddress(uri), null, uri);
});

test('an address of nothing but slashes costs no time', () => {
  const tookMs = cpuMsOf(() => {
    for (let count = 0; count < 200; count += 1)
      assert.equal(parseStreamAddress(`rtsp://host/x${'/'.repeat(4_000)}x`), null);
  });
  assert.ok(tookMs < 1_000, `took ${tookMs} ms`);
});

test('no address and no transport is too strange to be read', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), (text) => {
      const address = parseStreamAddress(text);
      assert.ok(address === null || /^[A-Za-z0-9_.-]{1,64}$/.test(address.cameraId));
      for (const wanted of parseTransportOffer(text)) {
        const pair = wanted.kind === 'tcp' ? wanted.channels : wanted.ports;
        assert.ok(pair === null || (pair.rtp >= 0 && pair.rtcp <= 65_535));
      }
    }),
  );
});

test('of the transports that are offered those that can be had are left, in their order', () => {
  const offer =
    'RTP/AVP;multicast,RTP/SAVP;unicast;client_port=5-6,RTP/AVP/UDP;unicast;client_port=6000-6001;mode="PLAY",' +
    'RTP/AVP/TCP;unicast;interleaved=4-5,RTP/AVP/TCP;interleaved=300-301,RTP/AVP/TCP;mode=record';
  assert.deepEqual(parseTransportOffer(offer), [
    { kind: 'udp', ports: { rtp: 6000, rtcp: 6001 } },
    { kind: 'tcp', channels: { rtp: 4, rtcp: 5 } },
    { kind: 'tcp', channels: null },
  ]);
});

type Frame = Pick<RingReader, 'ptsTicks' | 'dtsTicks' | 'arrivalMs' | 'wallMs' | 'discontinuity'>;
const frame = (dts: number, pts = dts, arrivalMs = dts / 90, discontinuity = false): Frame =>
  ({ dtsTicks: dts, ptsTicks: pts, arrivalMs, wallMs: arrivalMs + 1e12, discontinuity }) as Frame;

test('decode times rise through restarts, and B-frames keep their places', () => {
  const axis = new StreamAxis();
  const placed = (given: Frame): [number, number] => {
    axis.placeVideo(given);
    return [axis.dtsTicks, axis.ptsTicks];
  };
  assert.deepEqual(placed(frame(9_000, 18_000)), [9_000, 18_000]);
  assert.deepEqual(placed(frame(12_000, 12_000)), [12_000, 12_000]);
  assert.deepEqual(placed(frame(12_000, 15_000)), [12_001, 15_001]);
  // 500 ms later, by a clock that began anew.
  axis.restart();
  const lastArrivalMs = 12_000 / 90;
  const [dts, pts] = placed(frame(500_000, 506_000, lastArrivalMs + 500));
  assert.ok(Math.abs(dts - 12_001 - 45_000) < 1);
  assert.equal(pts - dts, 6_000);
  assert.ok(Math.abs(axis.placeAudio(50_000, 9_000) - (50_000 + (dts - 500_000) / 10)) < 1);
  const [again] = placed(frame(0, 0, lastArrivalMs + 600, true));
  assert.ok(Math.abs(again - dts - 9_000) < 1, 'a break in the same ring');
});

test('the wall time that is told follows in small steps, or at once where the clock was set', () => {
  const clock = new ReportClock();
  const toldAt = (ticks: number, wallMs: number): number => {
    const moment = { ticks, wallMs } as Parameters<ReportClock['told']>[0];
    clock.follow(moment);
    return clock.told(moment).wallMs;
  };
  assert.equal(toldAt(0, 1_000_000), 1_000_000);
  assert.equal(toldAt(90_000, 1_001_300), 1_001_010);
  assert.equal(toldAt(180_000, 1_001_700), 1_002_000);
  assert.equal(toldAt(270_000, 1_009_000), 1_009_000);
});
