import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cueText } from '../../src/detect/cue.js';
import { Detections } from '../../src/detect/detections.js';
import { parseWebVtt } from '../support/webvtt.js';

const at = (wallMs: number, label = 'person') => ({
  ...{ wallMs, source: 'model' as const },
  objects: [{ label, score: 0.123456, box: [0.1, 0.2, 1 / 3, 0.4] as const, zone: 'gate' }],
});

test('a cue is one JSON object that no label can break out of', () => {
  const text = cueText(at(1_000)) ?? '';
  const object = { label: 'person', score: 0.1235, box: [0.1, 0.2, 0.3333, 0.4] };
  assert.deepEqual(JSON.parse(text), { t: '1970-01-01T00:00:01.000Z', source: 'model', objects: [object] });
  assert.equal(cueText({ ...at(1), objects: [] }), null);
  const hostile = 'a --> b\n\n<c>&amp;\u2028';
  const cue = cueText(at(1, hostile)) ?? '';
  const parsed = parseWebVtt(`WEBVTT\n\n00:00.000 --> 00:01.000\n${cue}\n`);
  assert.deepEqual(parsed.errors, []);
  assert.equal(JSON.parse(parsed.cues[0]?.text ?? '').objects[0].label, hostile);
});

test('what was seen is kept for two minutes, in order of time', () => {
  const detections = new Detections();
  const seen: number[] = [];
  detections.seen.on((_, { wallMs }) => void seen.push(wallMs));
  for (const second of [1, 3, 2, 100, 122]) detections.add('a', at(second * 1_000));
  const times = (from: number, to: number) =>
    detections.between('a', from * 1_000, to * 1_000).map(({ wallMs }) => wallMs / 1_000);
  assert.deepEqual(times(0, 999), [2, 3, 100, 122]);
  assert.deepEqual(times(3, 100), [3]);
  assert.equal(seen.length, 5);
  for (let count = 0; count < 2_000; count++) detections.add('b', at(count));
  assert.equal(detections.between('b', 0, 1e9).length, 1024);
  detections.forget('a');
  assert.deepEqual(times(0, 999), []);
});
