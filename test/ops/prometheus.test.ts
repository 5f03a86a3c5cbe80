import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.js';
import { Metrics } from '../../src/ops/metrics.js';
import { sampleCamera, sampleSource } from './sample-source.js';

const repo = join(import.meta.dirname, '../../..');

const promtool = (args: string[], input = ''): { status: number | null; output: string } => {
  const run = spawnSync('promtool', args, { cwd: repo, input, encoding: 'utf8' });
  return { status: run.status, output: `${run.stdout}${run.stderr}` };
};

const sampleMetrics = () => {
  const source = sampleSource();
  const metrics = new Metrics('1.2.3', { clock: systemClock, source });
  metrics.requestDone('/api/cameras', 'GET', 200, 0.01);
  metrics.loginFailed('limited');
  return { source, metrics };
};

/** A port that nobody listens on at this moment. */
const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
};

test('promtool finds the alert rules well formed', () => {
  const { status, output } = promtool(['check', 'rules', 'src/ops/alerts.yml']);
  assert.equal(status, 0, output);
  assert.match(output, /3 rules found/);
});

test('each alert fires and resolves', () => {
  const { status, output } = promtool(['test', 'rules', 'test/ops/alerts.test.yml']);
  assert.equal(status, 0, output);
});

test('promtool finds nothing to say about the exposition', async () => {
  const { metrics } = sampleMetrics();
  const { status, output } = promtool(['check', 'metrics'], await metrics.exposition());
  assert.equal(output, '');
  assert.equal(status, 0);
});

test('a real Prometheus scrapes it, answers for what it saw, and raises an alert', {
  timeout: 60_000,
}, async () => {
  const { source, metrics } = sampleMetrics();
  // An id can hold nothing that needs escaping, yet a label must survive whatever it holds.
  source.list.push(sampleCamera('a "quoted\\one"\n'));
  const target = createServer((_request, response) => {
    void metrics.exposition().then((text) => {
      response.setHeader('content-type', metrics.contentType);
      response.end(text);
    });
  }).listen(0, '127.0.0.1');
  await once(target, 'listening');
  const folder = mkdtempSync(join(tmpdir(), 'prometheus-'));
  const port = await freePort();
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    scrape_configs: [
      {
        job_name: 'service',
        static_configs: [{ targets: [`127.0.0.1:${(target.address() as AddressInfo).port}`] }],
      },
    ],
    rule_files: [join(repo, 'src/ops/alerts.yml')],
  };
  // JSON is YAML.
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config));
  const prometheus = spawn(
    'prometheus',
    [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let complaints = '';
  prometheus.stderr.on('data', (text) => {
    complaints += text;
  });
  const get = (path: string): Promise<Response | null> =>
    fetch(`http://127.0.0.1:${port}/${path}`).catch(() => null);
  const ask = async (path: string): Promise<unknown> => {
    const response = await get(`api/v1/${path}`);
    return response === null ? null : ((await response.json()) as { data: unknown }).data;
  };
  /** Asks until the answer is good: it comes after the next scrape or evaluation. */
  const until = async <Answer>(path: string, isGood: (answer: Answer) => boolean): Promise<Answer> => {
    for (;;) {
      assert.equal(prometheus.exitCode, null, complaints);
      const answer = (await ask(path)) as Answer | null;
      if (answer !== null && isGood(answer)) return answer;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  type Vector = { result: { metric: Record<string, string>; value: [number, string] }[] };
  try {
    // It listens before it has read its data, and answers everything with 503 in plain text until then.
    while ((await get('-/ready'))?.ok !== true) {
      assert.equal(prometheus.exitCode, null, complaints);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const { result } = await until<Vector>(
      'query?query=svc_stream_online',
      (seen) => seen.result.length === 3,
    );
    const online = Object.fromEntries(result.map(({ metric, value }) => [metric['camera_id'], value[1]]));
    assert.deepEqual(online, { 'front-door': '1', 'yard.2': '0', 'a "quoted\\one"\n': '1' });
    type Targets = { activeTargets: { health: string; lastError: string }[] };
    const { activeTargets } = await until<Targets>('targets', (seen) => seen.activeTargets.length === 1);
    assert.deepEqual([activeTargets[0]?.health, activeTargets[0]?.lastError], ['up', '']);
    type Alerts = { alerts: { state: string; labels: Record<string, string> }[] };
    const { alerts } = await until<Alerts>('alerts', (seen) => seen.alerts.length > 0);
    assert.deepEqual(
      alerts.map(({ state, labels }) => [
        state,
        labels['alertname'],
        labels['camera_id'],
        labels['severity'],
      ]),
      [['pending', 'StreamOffline', 'yard.2', 'warning']],
    );
    const buckets = 'query?query=histogram_quantile(0.5,svc_thread_loop_lag_seconds_bucket)';
    assert.equal((await until<Vector>(buckets, (seen) => seen.result.length === 1)).result.length, 1);
  } finally {
    prometheus.kill('SIGTERM');
    await once(prometheus, 'exit');
    target.closeAllConnections();
    target.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
