import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ratiosText } from '../../native-free-bench/box/box-report.js';
import type { BoxResult } from '../../native-free-bench/box/result.js';
import { tempFolder } from '../support/temp-folder.js';
import { measuredWithoutLoss, runBench } from './run-bench.js';

test('two cameras that are recorded, with a viewer of each kind, lose nothing; the JSON says what it took, and is drawn', async (t) => {
  const folder = tempFolder(t);
  const [json, svg] = [join(folder, 'box.json'), join(folder, 'chart.svg')];
  const load = ['--cameras', '2', '--mbit', '1', '--fps', '10', '--gop', '0.5', '--record'];
  const viewers = ['--ws', '1', '--wall', '2', '--hls', '1', '--rtsp', '1', '--whep', '1'];
  const time = ['--seconds', '2', '--warm-up', '0', '--api', '5', '--json', json];
  const result = await measuredWithoutLoss(t, /_for_viewers$|_missed_by_/, () => {
    const run = runBench('box', ...load, ...viewers, ...time);
    assert.equal(run.status, 0, run.stderr);
    const measured = JSON.parse(readFileSync(json, 'utf8')) as BoxResult;
    const isWhole = Object.values(measured.lost).every((count) => count === 0);
    assert.equal(run.stdout.includes('No frame was lost'), isWhole, run.stdout);
    return measured;
  });
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
  assert.equal(runBench('chart', `of "a" & b=${json}`, '--out', svg).status, 0);
  const drawn = readFileSync(svg, 'utf8');
  for (const words of ['of &#34;a&#34; &#38; b, recorded, paced', 'b, whep, p99', 'b, hls'])
    assert.ok(drawn.includes(words), `${words} in ${drawn}`);
  const dearer = { ...result, cpuMsPerSecPerCamera: (result.cpuMsPerSecPerCamera ?? 0) * 2 };
  assert.match(ratiosText(result, dearer), /^CPU ms\/s a camera +\S+ +\S+ +0\.50$/m);
});

test('what the bench can not do is said in one line, and nothing is started', (t) => {
  const file = join(tempFolder(t), 'cameras');
  const server = ['box', '--server', 'rtsp://127.0.0.1:1/{n}', '--cameras-file', file];
  for (const [args, message] of [
    [['box', '--camera', '2'], /box has no --camera; it has --cameras, /],
    [['box', '--cameras', 'two'], /--cameras wants a number, not two/],
    [['box', '--cameras', '0'], /--cameras is 1 or more/],
    [['box', '--ws', '1.5'], /--ws is a number of viewers/],
    [['box', '--codec', 'av1'], /--codec is h264 or h265/],
    [['box', '--seconds'], /--seconds wants a number, not nothing/],
    [['box', '--record=maybe'], /--record is true or false, not maybe/],
    [['box', 'more'], /box takes options alone/],
    [['box', '--against', '/nowhere.json'], /\/nowhere.json is no JSON of this bench/],
    [['box', '--server', 'rtsp://127.0.0.1:1/camera'], /--server is rtsp:\/\/…\/\{n\}/],
    [['box', '--server-pid', '1'], /--server-pid and --cameras-file go with --server/],
    [[...server, '--whep', '1'], /--server has no address for --whep/],
    [[...server, '--record'], /its own configuration says/],
    [['capacity', '--most', '10'], /--most is --cameras or more/],
    [['soak', '--hours', '0'], /--hours is more than 0/],
    [['chart', '--out', 'chart.svg'], /chart wants files/],
    [['boxes'], /no benchmark boxes; there are: .*box/],
    [['flac', '--seconds', 'x'], /--seconds wants a number, not x/],
    [['flac', '--loud', '1'], /flac has no --loud; it has --seconds/],
  ] as const) {
    const { status, stderr, stdout } = runBench(...args);
    assert.deepEqual([status, stdout, stderr.trim().split('\n').length], [2, '', 1], stderr);
    assert.match(stderr, message);
  }
});
