import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { CameraProcess } from '../support/fake-camera/camera-process.js';
import { type RunningService, startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const CAMERAS = 100;
const STREAMING = 50;
const FRAME_RATE_HZ = 15;
const RATE_PER_SEC = 2_000;
const CONNECTIONS = 50;
const SECONDS = 3;

/** A browser of the wall: asks over one connection, the next time when the answer is whole. */
const openBrowser = (service: RunningService, token: string) => {
  const { hostname, port } = new URL(service.url);
  const request = `GET /api/cameras HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let waitingBytes = -1;
  let onWhole: (status: string) => void = () => {};
  let status = '';
  socket.on('data', (chunk) => {
    if (waitingBytes === -1) {
      const bodyAt = chunk.indexOf('\r\n\r\n') + 4;
      const head = chunk.toString('latin1', 0, bodyAt);
      status = head.slice(9, 12);
      waitingBytes = Number(/content-length: (\d+)/i.exec(head)?.[1]) + bodyAt;
    }
    waitingBytes -= chunk.length;
    if (waitingBytes > 0) return;
    waitingBytes = -1;
    onWhole(status);
  });
  return {
    ask: () =>
      new Promise<string>((resolve) => {
        onWhole = resolve;
        socket.write(request);
      }),
    close: () => socket.destroy(),
  };
};

/** The sum of a metric over all of its series that match. */
const sumOf = (metrics: string, series: RegExp): number =>
  metrics
    .split('\n')
    .filter((line) => series.test(line))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);

/** Half of the cameras stream, the other half is switched off. */
const fill = async (t: TestContext) => {
  const source = await CameraProcess.start({
    cameras: STREAMING,
    pattern: 'burst',
    kbps: 1_000,
    frameRateHz: FRAME_RATE_HZ,
  });
  t.after(() => source.stop());
  const service = await startService({ DATA_DIR: tempFolder(t), LOG_LEVEL: 'warn' });
  t.after(() => service.process.kill('SIGKILL'));
  const token = await service.login('admin', service.adminPassword);
  const { body: snapshot } = await service.call('GET', '/api/system/backup/export', { token });
  snapshot.cameras = Array.from({ length: CAMERAS }, (_, index) => ({
    id: `camera-${String(index).padStart(3, '0')}`,
    url: source.urls[index] ?? `rtsp://root:secret@192.0.2.${index}/stream1`,
    comment: 'above the door',
    tags: ['indoor', 'ground-floor'],
    disabled: index >= STREAMING,
  }));
  const { status } = await service.call('POST', '/api/system/backup/import', { token, body: snapshot });
  assert.equal(status, 200);
  await until('all stream', async () => sumOf(await metricsOf(service), /^svc_stream_online/) === STREAMING, {
    deadlineMs: 60_000,
  });
  return { service, source, token };
};

const metricsOf = async (service: RunningService): Promise<string> =>
  (await service.call('GET', '/metrics')).text;

/** How many frames the service has whole, and how many the cameras had sent before that was asked and after it. */
const framesOf = async (service: RunningService, source: CameraProcess) => {
  const { frames: sentBefore } = await source.report();
  const received = sumOf(await metricsOf(service), /^svc_stream_frames_total.*video/);
  return { sentBefore, received, sentAfter: (await source.report()).frames };
};

/** Asks at an even pace over many connections; answers how long each took, counted from when it was due. */
const askMany = async (service: RunningService, token: string) => {
  const browsers = Array.from({ length: CONNECTIONS }, () => openBrowser(service, token));
  const latenciesMs: number[] = [];
  const statuses = new Set<string>();
  const startMs = performance.now();
  let asked = 0;
  const run = async (browser: ReturnType<typeof openBrowser>): Promise<void> => {
    while (asked < RATE_PER_SEC * SECONDS) {
      const dueMs = startMs + (asked++ * 1000) / RATE_PER_SEC;
      const waitMs = dueMs - performance.now();
      if (waitMs > 1) await new Promise((resolve) => setTimeout(resolve, waitMs));
      statuses.add(await browser.ask());
      latenciesMs.push(performance.now() - dueMs);
    }
  };
  await Promise.all(browsers.map(run));
  const seconds = (performance.now() - startMs) / 1000;
  for (const browser of browsers) browser.close();
  return { latenciesMs: latenciesMs.sort((a, b) => a - b), statuses, seconds };
};

test('a wall of browsers asks for 100 cameras 2,000 times a second while 50 stream: no frame is lost', async (t) => {
  const { service, source, token } = await fill(t);
  const before = await framesOf(service, source);
  const { latenciesMs, statuses, seconds } = await askMany(service, token);
  const { frames: sentByThen } = await source.report();
  const leastSent = sentByThen - before.sentAfter;
  await until(
    'all that was sent is there',
    async () => (await framesOf(service, source)).received - before.received >= leastSent,
    { deadlineMs: 60_000 },
  );
  const after = await framesOf(service, source);
  const at = (share: number): string => latenciesMs[Math.floor(latenciesMs.length * share)]!.toFixed(1);
  const received = after.received - before.received;
  const mostSent = after.sentAfter - before.sentBefore;
  t.diagnostic(
    `${((RATE_PER_SEC * SECONDS) / seconds).toFixed(0)} requests/s, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms; ` +
      `${leastSent} to ${mostSent} frames sent, ${received} received`,
  );
  assert.deepEqual([...statuses], ['200']);
  // What was on its way when it began is not counted as sent since.
  assert.ok(received <= mostSent + STREAMING * FRAME_RATE_HZ, `${received} received, ${mostSent} sent`);
  assert.equal((await source.report()).skippedFrames, 0, 'the service took all that was sent');
  const metrics = await metricsOf(service);
  for (const lost of ['packets_lost', 'damaged_frames', 'oversized_frames', 'discontinuities']) {
    assert.equal(sumOf(metrics, new RegExp(`^svc_stream_${lost}_total`)), 0, lost);
  }
  assert.equal(sumOf(metrics, /^svc_stream_online/), STREAMING);
  assert.equal(await service.stop(), 0);
});
