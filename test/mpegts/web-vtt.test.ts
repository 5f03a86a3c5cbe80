import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainWebVttOf } from '../../src/mpegts/web-vtt.js';

test('what is said of a picture holds until the same one says something else of it', () => {
  const said = [
    { wallMs: 1_000, source: 'model', text: 'a car' },
    { wallMs: 1_200, source: 'onvif', text: 'somebody' },
    { wallMs: 1_400, source: 'onvif', text: null },
    { wallMs: 2_000, source: 'model', text: 'two cars' },
    { wallMs: 2_200, source: 'onvif', text: 'somebody else' },
    { wallMs: 2_600, source: 'model', text: null },
  ];
  assert.equal(
    plainWebVttOf({ wallMs: 1_000, durationMs: 10_000 }, said),
    `WEBVTT

00:00:00.000 --> 00:00:01.000
a car

00:00:00.200 --> 00:00:00.400
somebody

00:00:01.000 --> 00:00:01.600
two cars

00:00:01.200 --> 00:00:06.200
somebody else

`,
  );
});
