import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { BoxResult } from '../../native-free-bench/box/result.js';
import { recordsOf, startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { measuredWithoutLoss } from './run-bench.js';

const entry = join(import.meta.dirname, '../../native-free-bench/main.js');

/** The service stands in for another product: it is not told that it is measured. */
const measure = async (t: TestContext): Promise<BoxResult> => {
  const folder = tempFolder(t);
  const [json, list] = [join(folder, 'box.json'), join(folder, 'cameras.jsonl')];
  const service = await startService({ DATA_DIR: join(folder, 'data'), LOG_LEVEL: 'warn', RTSP_PORT: '0' });
  t.after(() => service.process.kill('SIGKILL'));
  const rtspUrl = String(recordsOf(service.out()).find(({ msg }) => msg === 'listening')?.['rtsp_url']);
  const templates = [
    `${rtspUrl.replace(/\/$/, '')}/cam{n}`,
    new URL('/stream/webrtc/whep/cam{n}', service.url).href.replace('%7Bn%7D', '{n}'),
    new URL('/stream/hls/cam{n}/ll.m3u8', service.url).href.replace('%7Bn%7D', '{n}'),
  ];
  const load = ['--cameras', '2', '--mbit', '1', '--gop', '0.5', '--seconds', '1', '--warm-up', '0'];
  const viewers = ['--rtsp', '2', '--hls', '1', '--whep', '1', '--json', json];
  const server = ['--server', templates.join(','), '--server-pid', String(service.process.pid)];
  const bench = spawn(
    process.execPath,
    [entry, 'box', ...load, ...viewers, ...server, '--cameras-file', list],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  t.after(() => bench.kill('SIGKILL'));
  let said = '';
  bench.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await until('the cameras are told', () => existsSync(list));
  const token = await service.login('admin', service.adminPassword);
  const create = readFileSync(list, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { n: number; url: string })
    .map(({ n, url }) => ({ id: `cam${n}`, url }));
  const { status } = await service.call('POST', '/api/cameras/bulk', {
    token,
    body: { create, update: [], delete: [] },
  });
  assert.equal(status, 200);
  await until('it is measured', () => bench.exitCode !== null, { deadlineMs: 120_000, describe: () => said });
  assert.equal(bench.exitCode, 0, said);
  assert.equal(await service.stop(), 0);
  return JSON.parse(readFileSync(json, 'utf8')) as BoxResult;
};

test('another server that was given the cameras is watched by its addresses, and its CPU told by its pid', async (t) => {
  // By UDP nothing waits for a viewer.
  const result = await measuredWithoutLoss(t, /_missed_by_whep$/, () => measure(t));
  assert.deepEqual(result.faults, []);
  assert.equal(result.allStreamingMs, null);
  assert.deepEqual(
    result.windows.at(-1)?.viewers.map(({ kind, viewers: count, lostFrames }) => [kind, count, lostFrames]),
    [
      ['hls', 1, 0],
      ['rtsp', 2, 0],
      ['whep', 1, 0],
    ],
  );
  if (process.platform === 'linux') assert.ok((result.windows[0]?.cpuMsPerSec ?? 0) > 0);
  assert.equal(result.windows[0]?.losses, null);
});
