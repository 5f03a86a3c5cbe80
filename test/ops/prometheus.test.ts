import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.js';
import { Metrics } from '../../src/ops/metrics.js';
import { type Alert, Prometheus, type Vector } from '../support/prometheus.js';
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

test('promtool finds the alert rules well formed', () => {
  const { status, output } = promtool(['check', 'rules', 'src/ops/alerts.yml']);
  assert.equal(status, 0, output);
  assert.match(output, /8 rules found/);
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

test('a real Prometheus scrapes it, answers for what it saw, and raises an alert', async (t) => {
  const { source, metrics } = sampleMetrics();
  // An id can hold nothing that needs escaping, yet a label must survive whatever it holds.
  source.list.push(sampleCamera('a "quoted\\one"\n'));
  const target = createServer((_request, response) => {
    void metrics.exposition().then((text) => {
      response.setHeader('content-type', metrics.contentType);
      response.end(text);
    });
  }).listen(0, '127.0.0.1');
  t.after(() => {
    target.closeAllConnections();
    target.close();
  });
  await once(target, 'listening');
  const address = `127.0.0.1:${(target.address() as AddressInfo).port}`;
  const prometheus = await Prometheus.start(t, address, join(repo, 'src/ops/alerts.yml'));
  const { result } = await prometheus.until<Vector>(
    'query?query=svc_stream_online',
    (seen) => seen.result.length === 3,
  );
  const online = Object.fromEntries(result.map(({ metric, value }) => [metric['camera_id'], value[1]]));
  assert.deepEqual(online, { 'front-door': '1', 'yard.2': '0', 'a "quoted\\one"\n': '1' });
  type Targets = { activeTargets: { health: string; lastError: string }[] };
  const { activeTargets } = await prometheus.until<Targets>(
    'targets',
    (seen) => seen.activeTargets.length === 1,
  );
  assert.deepEqual([activeTargets[0]?.health, activeTargets[0]?.lastError], ['up', '']);
  const { alerts } = await prometheus.until<{ alerts: Alert[] }>('alerts', (seen) => seen.alerts.length > 0);
  assert.deepEqual(
    alerts.map(({ state, labels }) => [state, labels['alertname'], labels['camera_id'], labels['severity']]),
    [['pending', 'StreamOffline', 'yard.2', 'warning']],
  );
  const buckets = 'query?query=histogram_quantile(0.5,svc_thread_loop_lag_seconds_bucket)';
  await prometheus.until<Vector>(buckets, (seen) => seen.result.length === 1);
});
