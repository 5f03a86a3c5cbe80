import assert from 'node:assert/strict';
import { readdirSync, readlinkSync } from 'node:fs';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Timeline } from '../../src/archive/list/timeline.js';
import { archiveRoutes } from '../../src/http/routes/archive.js';
import { CAMERA_ID, makeArchive, START_MS } from '../archive/filmed.js';
import { framesOf } from '../archive/frames/read-all.js';
import { FRAGMENT_MS, type TestRecording, writeClosed } from '../archive/recording-file.js';
import { noDeletions } from '../support/fake-archive.js';
import { FakeClock } from '../support/fake-clock.js';
import { parseMessages } from '../support/frame-messages.js';
import { until } from '../support/until.js';
import { startWebServer, type WebServer } from '../support/web-server.js';

const PATH = `/stream/archive/${CAMERA_ID}/frames`;
const iso = (seconds: number): string => new Date(START_MS + seconds * 1000).toISOString();

/** The real archive behind its routes; its camera asks for tokens. */
const serve = async (t: TestContext, recording: Partial<TestRecording> = {}) => {
  const archive = makeArchive(t);
  writeClosed(join(archive.archiveDir, CAMERA_ID), { startMs: START_MS, fragments: 10, ...recording });
  const { recordings, playback, keyFrames, frames } = archive;
  const clock = new FakeClock(START_MS + 3_600_000);
  let server: WebServer;
  const routes = archiveRoutes({
    ...{ clock, recordings, playback, keyFrames, exports: playback, ...noDeletions },
    cameras: { has: (id) => id === CAMERA_ID },
    timeline: new Timeline({ clock, recordings, whyNot: () => null }),
    frames: { frames: (...wanted) => frames.read(...wanted) },
    viewers: { takePlace: (...taken) => server.viewers.takePlace(...taken) },
  });
  server = await startWebServer(routes);
  t.after(() => server.stop());
  server.cameras.set(CAMERA_ID, { tokenAuth: true, isDisabled: false });
  const open = (query: string): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const token = server.streamToken(CAMERA_ID);
      httpGet(`${server.url}${PATH}?${query}&token=${token}`, { agent: false }, (response) => {
        // Cut off, where a test wants that.
        response.on('error', () => {});
        resolve(response);
      }).once('error', reject);
    });
  const read = async (query: string) => {
    const response = await open(query);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return { response, body: Buffer.concat(chunks) };
  };
  return { ...archive, server, open, read };
};

test('who may play the recordings gets their frames, with a token or as a viewing that goes on', async (t) => {
  const { server, read } = await serve(t);
  const range = `from=${iso(0)}&to=${iso(10)}`;
  const { response, body } = await read(range);
  const { headers } = response;
  assert.deepEqual(
    [headers['content-type'], headers['cache-control']],
    ['application/octet-stream', 'no-store'],
  );
  assert.equal(headers['content-encoding'], undefined);
  assert.equal(framesOf(parseMessages(body)).length, 50);
  const statusOf = async (suffix: string): Promise<number> =>
    (await server.call('GET', `${PATH}?${range}${suffix}`)).status;
  assert.equal(await statusOf(''), 401);
  assert.equal(await statusOf(`&token=${server.streamToken('open')}`), 401);
  const playlist = await server.call(
    'GET',
    `/hls/${CAMERA_ID}/range.m3u8?${range}&token=${server.streamToken(CAMERA_ID)}`,
  );
  const session = /&session=([\w-]+)/.exec(playlist.text)?.[1];
  assert.equal(await statusOf(`&session=${session}`), 200);
  assert.equal((await server.call('GET', `/stream/archive/unknown/frames?${range}`)).status, 404);
  const head = await server.call('HEAD', `${PATH}?${range}&session=${session}`);
  assert.deepEqual([head.status, head.text], [200, '']);
});

test('a question has one meaning, or is refused', async (t) => {
  const { read, server, frames } = await serve(t);
  const timesOf = async (query: string): Promise<number[] | string> => {
    const { response, body } = await read(query);
    if (response.statusCode !== 200) return `${response.statusCode} ${JSON.parse(body.toString()).code}`;
    return framesOf(parseMessages(body)).map(({ wallUs }) => wallUs / 1000 - START_MS);
  };
  const range = `from=${iso(0)}&to=${iso(10)}`;
  assert.deepEqual(await timesOf(`${range}&kind=key`), [0, 2_000, 4_000, 6_000, 8_000]);
  assert.deepEqual(await timesOf(`${range}&every_ms=4000`), [0, 4_000, 8_000]);
  assert.deepEqual(await timesOf(`${range}&kind=key&every_ms=4000&order=back`), [8_000, 4_000, 0]);
  assert.deepEqual(await timesOf(`at=${iso(4.3)}`), [4_000, 4_200]);
  assert.deepEqual(await timesOf(`at=${iso(4.3)}&kind=key`), [4_000]);
  for (const query of [
    '',
    `from=${iso(0)}`,
    `to=${iso(0)}`,
    `from=${iso(1)}&to=${iso(1)}`,
    `from=${iso(0)}&to=${iso(86_401)}`,
    `${range}&kind=all&every_ms=1000`,
    `${range}&every_ms=0`,
    `${range}&every_ms=1.5`,
    `${range}&every_ms=86400001`,
    `${range}&kind=some`,
    `${range}&order=sideways`,
    `at=${iso(1)}&${range}`,
    `at=${iso(1)}&every_ms=1000`,
    `at=${iso(1)}&order=back`,
    'at=yesterday',
    `at=${iso(1)}&at=${iso(2)}`,
  ])
    assert.equal(await timesOf(query), '400 invalid_input', query);
  assert.equal(await timesOf(`from=${iso(100)}&to=${iso(200)}`), '404 not_found');
  assert.equal(await timesOf(`at=${iso(-1)}`), '404 not_found');
  await until('all readings are closed', () => frames.open === 0);
  assert.doesNotMatch(server.logText(), /request failed/);
});

/** Recordings of the test's folder that this process has open. */
const openRecordings = (archiveDir: string): number =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(archiveDir);
    } catch {
      return false;
    }
  }).length;

test('a client that takes nothing makes the disk wait; one that leaves ends the reading; one whose right is withdrawn is cut off', async (t) => {
  const fragments = 600;
  const { open, frames, runner, archiveDir, server } = await serve(t, { fragments, frameBytes: 40_000 });
  const wholeJobs = (fragments * 5 * 40_000) / (512 << 10);
  const ask = () => open(`from=${iso(0)}&to=${iso((fragments * FRAGMENT_MS) / 1000)}`);
  const standsStill = async (): Promise<void> => {
    let before = -1;
    await until('nothing is read any more', async () => {
      before = runner.countOf('readFrames');
      await new Promise((resolve) => setTimeout(resolve, 150));
      return before > 0 && runner.countOf('readFrames') === before;
    });
  };
  const slow = await ask();
  await standsStill();
  const read = runner.countOf('readFrames');
  assert.ok(read < wholeJobs / 4, `${read} of ${wholeJobs} batches were read for nobody`);
  assert.equal(openRecordings(archiveDir), 0);
  slow.destroy();
  await until('the reading is closed', () => frames.open === 0);
  const withdrawn = await ask();
  await standsStill();
  const afterwards = runner.countOf('readFrames');
  server.viewers.endForCamera(CAMERA_ID, 'access_withdrawn');
  await until('the reading is closed', () => frames.open === 0);
  withdrawn.resume();
  await until('the client sees that it is not whole', () => withdrawn.destroyed);
  assert.equal(withdrawn.complete, false);
  await standsStill();
  assert.ok(runner.countOf('readFrames') <= afterwards + 1);
  assert.doesNotMatch(server.logText(), /request failed/);
});
