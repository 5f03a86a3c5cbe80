import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { smallDisk } from '../archive/keep/small-disk.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { Prometheus } from '../support/prometheus.js';
import { type RunningService, startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { WebSocketViewer } from '../support/websocket-viewer.js';

const shipped = join(import.meta.dirname, '../../../src/ops/alerts.yml');
/** Long enough for some scrapes on a busy machine: a rate takes two. */
const RANGE = '[10s]';

/** The shipped rules, in a hurry: nothing but their durations is another. */
const hurriedRules = (t: TestContext): string => {
  let replaced = 0;
  const hurried = readFileSync(shipped, 'utf8').replace(/(?<=\bfor: )\d+m$|\[\d+m\]/gm, (duration) => {
    replaced++;
    return duration.startsWith('[') ? RANGE : '1s';
  });
  assert.equal(replaced, 9, 'eight rules wait, and one looks back');
  const path = join(tempFolder(t), 'alerts.yml');
  writeFileSync(path, hurried);
  return path;
};

/** The service with one camera, and a Prometheus that is content with it. */
const setUp = async (t: TestContext, env: Readonly<Record<string, string>> = {}) => {
  const mounts = { '/gate': { video: fixtures.h264Large() } };
  const camera = await FakeCamera.start({ mounts });
  t.after(() => camera[Symbol.asyncDispose]());
  const service = await startService({ DATA_DIR: tempFolder(t), ...env });
  t.after(() => service.process.kill('SIGKILL'));
  const token = await service.login('admin', service.adminPassword);
  await service.call('POST', '/api/cameras', { token, body: { id: 'gate', url: camera.url() } });
  const prometheus = await Prometheus.start(t, new URL(service.metricsUrl).host, hurriedRules(t));
  await untilOnline(prometheus);
  await prometheus.untilNoAlert();
  return { camera, mounts, service, prometheus };
};

const untilOnline = (prometheus: Prometheus) =>
  prometheus.until<{ result: unknown[] }>(
    `query?query=${encodeURIComponent('svc_stream_online == 1')}`,
    ({ result }) => result.length === 1,
  );

const watch = (t: TestContext, service: RunningService): WebSocketViewer => {
  const viewer = new WebSocketViewer(`${service.url.replace(/^http/, 'ws')}/stream/ws/gate`);
  t.after(() => viewer.webSocket.terminate());
  return viewer;
};

test('StreamOffline: a camera is unplugged, and plugged in again', async (t) => {
  const { camera, mounts, prometheus } = await setUp(t);
  await camera[Symbol.asyncDispose]();
  const { labels, annotations } = await prometheus.untilFiring('StreamOffline');
  assert.equal(labels['camera_id'], 'gate');
  assert.equal(annotations['summary'], 'Camera gate has sent no picture for a minute.');
  await using _again = await FakeCamera.start({ mounts, port: camera.port });
  await prometheus.untilNoAlert();
  await untilOnline(prometheus);
});

test('BufferDrops: a viewer reads nothing for a while, and goes on', async (t) => {
  const { service, prometheus } = await setUp(t);
  const viewer = watch(t, service);
  await viewer.untilFrames(15);
  viewer.webSocket.pause();
  const { labels, annotations } = await prometheus.untilFiring('BufferDrops');
  assert.equal(labels['camera_id'], 'gate');
  assert.equal(annotations['summary'], 'Viewers of camera gate are losing frames.');
  viewer.webSocket.resume();
  await prometheus.untilNoAlert();
  await untilOnline(prometheus);
});

test('StorageLow: the disk of the archive fills up, and has room again', async (t) => {
  const disk = await smallDisk(t, 64);
  if (disk === null) return;
  const { prometheus } = await setUp(t, { ARCHIVE_DIR: disk, STORAGE_MIN_FREE_PERCENT: '0' });
  const ballast = join(disk, 'ballast');
  writeFileSync(ballast, Buffer.alloc(60 << 20));
  const { annotations } = await prometheus.untilFiring('StorageLow');
  assert.match(annotations['summary'] ?? '', /^Only [1-9](\.\d+)?% of the archive disk is free\.$/);
  rmSync(ballast);
  await prometheus.untilNoAlert();
  const free = encodeURIComponent('svc_storage_free_bytes / svc_storage_total_bytes > 0.9');
  await prometheus.until<{ result: unknown[] }>(`query?query=${free}`, ({ result }) => result.length === 1);
});

test('CopiesLate: nobody answers where the store should be', async (t) => {
  const store = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  t.after(() => store.close());
  await once(store, 'listening');
  const { port } = store.address() as AddressInfo;
  const ARCHIVE_S3 = `http://key:secret@127.0.0.1:${port}/bucket`;
  const service = await startService({ DATA_DIR: tempFolder(t), ARCHIVE_S3 });
  t.after(() => service.process.kill('SIGKILL'));
  const prometheus = await Prometheus.start(t, new URL(service.metricsUrl).host, hurriedRules(t));
  const { annotations } = await prometheus.untilFiring('CopiesLate');
  assert.match(annotations['description']!, /archive_s3/);
  const { status, body } = await service.call('GET', '/readyz');
  assert.equal(status, 200);
  assert.match(body.remarks.archive_s3, /can't be reached.*0 recordings wait/);
});
