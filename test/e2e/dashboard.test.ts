import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { Prometheus, type Vector } from '../support/prometheus.js';
import { startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { WebSocketViewer } from '../support/websocket-viewer.js';

const ops = join(import.meta.dirname, '../../../src/ops');

type Box = { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
type Panel = {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: Box;
  readonly datasource?: { readonly uid: string };
  readonly repeat?: string;
  readonly targets?: readonly { readonly refId: string; readonly expr: string }[];
};
type Variable = { readonly name: string; readonly type: string; readonly definition?: string };
const { panels, templating } = JSON.parse(readFileSync(join(ops, 'dashboard.json'), 'utf8')) as {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly Variable[] };
};

const ALONE = 'the box is alone';

/** What has no figure in a house where all is well, and nobody looks for objects. */
const RIGHTLY_EMPTY: Readonly<Record<string, string>> = {
  'Alerts A': 'no alert fires',
  'Offline A': 'the camera is online',
  'Age of what is known A': 'there is no model, so nothing was looked at',
  'Objects A': 'there is no model, so nothing was found',
  'Boxes A': ALONE,
  'Boxes B': ALONE,
  'Whose cameras A': ALONE,
  'Whose cameras B': ALONE,
  'Whose cameras C': ALONE,
  'Pulls A': ALONE,
  'Pulls B': ALONE,
  'Sent to other boxes A': ALONE,
  'Frames that other boxes missed A': ALONE,
};

/** Grafana's own: so that a few scrapes of a busy machine are in it. */
const RATE_INTERVAL = '20s';
const filledIn = (expr: string): string =>
  expr
    .replaceAll('$__rate_interval', RATE_INTERVAL)
    .replaceAll('$instance', '.*')
    .replaceAll('$camera', 'gate');

/** A store in which nothing is, and nothing was begun; nothing is copied to it in so short a time. */
const emptyStore = async (t: TestContext): Promise<string> => {
  const store = createServer(({ url = '' }, response) => {
    response.end(url.includes('list-type=2') ? '<ListBucketResult/>' : '<ListMultipartUploadsResult/>');
  });
  store.listen(0, '127.0.0.1');
  await once(store, 'listening');
  t.after(() => store.close());
  return `http://key:secret@127.0.0.1:${(store.address() as AddressInfo).port}/bucket`;
};

/** A camera that is recorded and watched, and a Prometheus that asks the service of it. */
const setUp = async (t: TestContext): Promise<Prometheus> => {
  const mounts = { '/gate': { video: fixtures.h264High(), audio: fixtures.aac() } };
  const camera = await FakeCamera.start({ mounts });
  t.after(() => camera[Symbol.asyncDispose]());
  // Nobody answers there, which has its figures, too.
  const MQTT_URL = 'mqtt://127.0.0.1:9';
  const service = await startService({ DATA_DIR: tempFolder(t), MQTT_URL, ARCHIVE_S3: await emptyStore(t) });
  t.after(() => service.process.kill('SIGKILL'));
  const token = await service.login('admin', service.adminPassword);
  const body = { id: 'gate', url: camera.url(), record: true };
  assert.equal((await service.call('POST', '/api/cameras', { token, body })).status, 201);
  await until('the camera streams', async () => {
    const { body: cameras } = await service.call('GET', '/api/cameras', { token });
    return cameras[0]?.state === 'streaming';
  });
  const viewer = new WebSocketViewer(`${service.url.replace(/^http/, 'ws')}/stream/ws/gate`);
  t.after(() => viewer.webSocket.terminate());
  await viewer.untilFrames(15);
  return Prometheus.start(t, new URL(service.metricsUrl).host, join(ops, 'alerts.yml'));
};

const hasFigure = ({ result }: Vector): boolean =>
  result.some(({ value }) => Number.isFinite(Number(value[1])));

test('each query of the dashboard has figures of a running service, in a real Prometheus', async (t) => {
  const prometheus = await setUp(t);
  for (const { title, targets = [] } of panels)
    for (const { refId, expr } of targets) {
      const name = `${title} ${refId}`;
      const path = `query?query=${encodeURIComponent(filledIn(expr))}`;
      // What must not be understood gets no data at all, and is waited for in vain.
      const isGood = name in RIGHTLY_EMPTY ? (vector: Vector) => !hasFigure(vector) : hasFigure;
      await prometheus.until<Vector>(path, (vector) => vector !== undefined && isGood(vector));
    }
  for (const { type, definition = '' } of templating.list) {
    if (type !== 'query') continue;
    const [, selector = '', label = ''] = /^label_values\((.+), (\w+)\)$/.exec(definition) ?? [];
    const match = encodeURIComponent(filledIn(selector));
    await prometheus.until<string[]>(
      `label/${label}/values?match[]=${match}`,
      (values) => values.length === 1,
    );
  }
  const names = panels.flatMap(({ title, targets = [] }) => targets.map(({ refId }) => `${title} ${refId}`));
  assert.deepEqual(
    Object.keys(RIGHTLY_EMPTY).filter((name) => !names.includes(name)),
    [],
  );
});

const overlap = (one: Box, other: Box): boolean =>
  one.x < other.x + other.w &&
  other.x < one.x + one.w &&
  one.y < other.y + other.h &&
  other.y < one.y + one.h;

test('its panels say what they show, lie beside each other, and ask the Prometheus that is chosen', () => {
  const shown = panels.filter(({ type }) => type !== 'row');
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length, 'each id is used once');
  assert.equal(new Set(shown.map(({ title }) => title)).size, shown.length, 'each title is used once');
  for (const { title, description = '', datasource, targets = [], gridPos } of shown) {
    assert.ok(description !== '', title);
    assert.equal(datasource?.uid, `\${datasource}`, title);
    assert.ok(targets.length > 0 && gridPos.x + gridPos.w <= 24, title);
    assert.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length, title);
    for (const { expr } of targets) assert.match(expr, /instance=~"\$instance"/, title);
  }
  for (const [index, one] of panels.entries())
    for (const other of panels.slice(index + 1))
      assert.ok(!overlap(one.gridPos, other.gridPos), `${one.title} lies on ${other.title}`);
  assert.deepEqual(
    templating.list.map(({ name }) => name),
    ['datasource', 'instance', 'camera'],
  );
  const ofCamera = panels.findIndex(({ repeat }) => repeat === 'camera');
  for (const [index, { title, targets = [] }] of panels.entries())
    for (const { expr } of targets)
      assert.equal(expr.includes('$camera'), index > ofCamera, `${title}: cameras are in the row of each`);
});
