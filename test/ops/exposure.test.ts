import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../../src/base/log.js';
import { warnOfExposure } from '../../src/ops/exposure.js';

const warnedOf = (host: string, publicCameras: number): unknown[] => {
  const records: unknown[] = [];
  const log = createLogger((level, message, fields) => records.push([level, message.slice(0, 7), fields]));
  warnOfExposure(log, { host, publicCameras });
  return records;
};

test('cameras that all may watch are told of at the start, where others than this machine can ask', () => {
  for (const host of ['0.0.0.0', '::', '192.0.2.7', 'cameras.example'])
    assert.deepEqual(warnedOf(host, 3), [['warn', 'whoever', { cameras: 3, host }]]);
  for (const host of ['127.0.0.1', '::1', 'localhost']) assert.deepEqual(warnedOf(host, 3), []);
  assert.deepEqual(warnedOf('0.0.0.0', 0), []);
});
