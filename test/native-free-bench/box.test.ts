import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { BoxResult } from '../../native-free-bench/box/result.js';
import { tempFolder } from '../support/temp-folder.js';

const entry = join(import.meta.dirname, '../../native-free-bench/main.js');

const bench = (...args: readonly string[]) =>
  spawnSync(process.execPath, ['--enable-source-maps', entry, ...args], { encoding: 'utf8' });

test('two cameras that are recorded, with a viewer of each kind, lose nothing, and the JSON says what it took', (t) => {
  const json = join(tempFolder(t), 'box.json');
  const load = ['--cameras', '2', '--mbit', '1', '--fps', '10', '--gop', '0.5', '--record'];
  const viewers = ['--ws', '1', '--wall', '2', '--hls', '1', '--rtsp', '1', '--whep', '1'];
  const time = ['--seconds', '2', '--warm-up', '0', '--api', '5', '--json', json];
  const run = bench('box', ...load, ...viewers, ...time);
  assert.equal(run.status, 0, run.stderr);
  const result = JSON.parse(readFileSync(json, 'utf8')) as BoxResult;
  assert.deepEqual(
    result.windows.map(({ name }) => name),
    ['no viewers', '1 ws', '2 wall', '1 hls', '1 rtsp', '1 whep'],
  );
  assert.deepEqual(result.faults, []);
  assert.deepEqual([...new Set(Object.values(result.lost))], [0], JSON.stringify(result.lost));
  for (const { viewers: seen, cameras, api, name } of result.windows) {
    assert.ok(cameras.frames > 10, `${name}: ${cameras.frames} frames of cameras`);
    assert.ok((api?.count ?? 0) > 0 && api?.failed === 0, `${name}: ${JSON.stringify(api)}`);
    for (const { kind, frames, latency } of seen)
      assert.ok(frames > 0 && latency.count > 0, `${name}: ${kind} saw ${frames}`);
  }
  assert.ok((result.allStreamingMs ?? 0) > 0);
  assert.equal(result.options['cameras'], 2);
  assert.match(run.stdout, /No frame was lost/);
  const again = bench('box', '--cameras', '1', '--seconds', '0.5', '--warm-up', '0', '--against', json);
  assert.match(again.stdout, /CPU ms\/s a camera +\S+ +\S+ +\d/);
});

test('what the bench can not do is said in one line, and nothing is started', () => {
  for (const [args, message] of [
    [['box', '--camera', '2'], /box has no --camera; it has --cameras, /],
    [['box', '--cameras', 'two'], /--cameras wants a number, not two/],
    [['box', '--cameras', '0'], /--cameras is 1 or more/],
    [['box', '--ws', '1.5'], /--ws is a number of viewers/],
    [['box', '--codec', 'av1'], /--codec is h264 or h265/],
    [['box', '--seconds'], /--seconds wants a number, not nothing/],
    [['box', 'more'], /box takes options alone/],
    [['box', '--against', '/nowhere.json'], /\/nowhere.json is no JSON of this bench/],
    [['boxes'], /no benchmark boxes; there are: .*box/],
    [['flac', '--seconds', 'x'], /--seconds wants a number, not x/],
    [['flac', '--loud', '1'], /flac has no --loud; it has --seconds/],
  ] as const) {
    const { status, stderr, stdout } = bench(...args);
    assert.deepEqual([status, stdout, stderr.trim().split('\n').length], [2, '', 1], stderr);
    assert.match(stderr, message);
  }
});
