import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { appendDetections } from '../../src/archive/detections/append-detections.js';
import { encodeRecord } from '../../src/archive/detections/detection-record.js';
import { closedName, openName } from '../../src/archive/files/file-name.js';
import { sidecarName } from '../../src/archive/files/sidecar-name.js';
import { film, START_MS } from '../archive/filmed.js';
import { runQuietly } from '../fmp4/ffmpeg.js';
import { FakeClock } from '../support/fake-clock.js';
import { fixtures } from '../support/fixtures.js';
import { generateVideo } from '../support/frame-generator.js';
import { looped } from '../support/looped.js';
import { tempFolder } from '../support/temp-folder.js';
import { startTestApp, type TestApp, USER_PASSWORD } from '../support/test-app.js';
import { parseWebVtt } from '../support/webvtt.js';

let app: TestApp;
const clock = new FakeClock(START_MS + 3_600_000);

/** Puts a recording into a camera's folder, and answers its path. */
const record = (cameraId: string, made: ReturnType<typeof film>, isOpen = false): string => {
  const folder = join(app.dataDir, 'recordings', cameraId);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, isOpen ? openName(made.startMs) : closedName(made.startMs, made.endMs));
  writeFileSync(path, made.bytes);
  return path;
};

/** Something was seen in a camera's recording. */
const see = (cameraId: string, seconds: number, label: string): void => {
  const objects = [{ label, score: 1, box: [0, 0, 1, 1] as const, zone: '' }];
  const records = encodeRecord({ wallMs: START_MS + seconds * 1_000, source: 'model', objects });
  const append = {
    cameraId,
    sidecar: sidecarName(START_MS),
    knownBytes: null,
    isNew: true,
    records,
    isLast: true,
  };
  const [result] = appendDetections({ archiveDir: join(app.dataDir, 'recordings'), appends: [append] });
  assert.ok(result !== undefined && 'fileBytes' in result);
};

const at = (seconds: number): string => new Date(START_MS + seconds * 1000).toISOString();

before(async () => {
  app = await startTestApp({ clock });
  for (const id of ['door', 'yard', 'lost'])
    await app.asAdmin('POST', '/api/cameras', { id, url: 'rtsp://127.0.0.1/1', disabled: true });
  for (const seconds of [0, 20])
    record(
      'door',
      film({ video: fixtures.h264High(), audio: fixtures.aac(), startMs: START_MS + seconds * 1000 }),
    );
  // Several pieces of a megabyte.
  record('yard', film({ video: looped(fixtures.h264High(), 12), audio: looped(fixtures.aac(), 12) }));
});
after(() => app.stop());

const item = (camera_id: string, from: number, to: number) => ({ camera_id, from: at(from), to: at(to) });
const make = (items: readonly object[], { zip = false, token = app.tokens.viewer } = {}) =>
  app.call('POST', '/api/exports', { token, body: { items, zip } });
const end = (id: string, token = app.tokens.viewer) => app.call('DELETE', `/api/exports/${id}`, { token });

/** Bytes of an address, which need no token. */
const fetched = async (url: string, range?: string) => {
  const response = await fetch(new URL(url, app.url), { headers: range === undefined ? {} : { range } });
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
};

test('each time is a file, and the zip has them all, with who, when and checksums', async (t) => {
  const items = [item('door', 0, 30), item('yard', 1, 40), item('door', 0, 30)];
  const labels = ['before', 'cat', 'dog'];
  for (const [index, seconds] of [0.5, 5.25, 12].entries()) see('yard', seconds, labels[index]!);
  const { status, body } = await make(items, { zip: true });
  assert.equal(status, 201, JSON.stringify(body));
  assert.match(body.zip.url, /^\/exports\/[\w-]{32}\/export_2026-11-21_09-30-00Z\.zip$/);
  assert.equal(Date.parse(body.expires_at) - Date.parse(body.made_at), 3_600_000);
  assert.deepEqual(
    body.files.map(({ name }: { name: string }) => name),
    [
      'door_2026-11-21_08-30-00Z_to_2026-11-21_08-30-30Z.mp4',
      'yard_2026-11-21_08-30-01Z_to_2026-11-21_08-30-40Z.mp4',
      'door_2026-11-21_08-30-00Z_to_2026-11-21_08-30-30Z_2.mp4',
    ],
  );
  const [door] = body.files;
  assert.deepEqual(
    door.gaps.map(({ from, to }: { from: string; to: string }) => [from, to]),
    [
      [at(4), at(20)],
      [at(24), at(30)],
    ],
  );
  assert.equal(door.begins_at, at(0));
  const folder = tempFolder(t);
  for (const { url, bytes: expected, name, duration_ms } of body.files) {
    const { response, bytes } = await fetched(url);
    assert.deepEqual([response.status, bytes.length], [200, expected]);
    assert.equal(response.headers.get('content-type'), 'video/mp4');
    assert.equal(response.headers.get('content-disposition'), `attachment; filename=${name}`);
    const path = join(folder, 'single.mp4');
    writeFileSync(path, bytes);
    runQuietly('ffmpeg', ['-xerror', '-i', path, '-f', 'null', '-']);
    const duration = runQuietly('ffprobe', ['-show_entries', 'format=duration', '-of', 'csv=p=0', path]);
    assert.ok(Math.abs(Number(duration) * 1000 - duration_ms) < 100, duration);
  }
  const { response, bytes } = await fetched(body.zip.url);
  assert.deepEqual([response.status, bytes.length], [200, body.zip.bytes]);
  assert.equal(response.headers.get('content-type'), 'application/zip');
  const zipPath = join(folder, 'all.zip');
  writeFileSync(zipPath, bytes);
  assert.match(execFileSync('unzip', ['-t', zipPath], { encoding: 'utf8' }), /No errors detected/);
  execFileSync('/usr/bin/python3', ['-m', 'zipfile', '-e', zipPath, join(folder, 'out')]);
  execFileSync('sha256sum', ['--strict', '--quiet', '-c', 'SHA256SUMS'], { cwd: join(folder, 'out') });
  const manifest = JSON.parse(readFileSync(join(folder, 'out/manifest.json'), 'utf8'));
  assert.deepEqual([manifest.made_by, manifest.made_at], ['viewer', body.made_at]);
  for (const [index, { name, camera_id, from, to, gaps, bytes: size }] of body.files.entries()) {
    const { sha256, ...shown } = manifest.files[index];
    const { begins_at, ends_at } = body.files[index];
    const subtitles = index === 1 ? name.replace('mp4', 'vtt') : null;
    assert.deepEqual(shown, { name, camera_id, from, to, begins_at, ends_at, bytes: size, subtitles, gaps });
    assert.match(sha256, /^[0-9a-f]{64}$/);
  }
  const subtitles = join(folder, 'out', manifest.files[1].subtitles);
  const { cues, errors } = parseWebVtt(readFileSync(subtitles, 'utf8'));
  const beginSeconds = (Date.parse(manifest.files[1].begins_at) - START_MS) / 1_000;
  assert.deepEqual(errors, []);
  assert.deepEqual(
    cues.map(({ startTime, endTime, text }) => [startTime, endTime, JSON.parse(text).objects[0].label]),
    [
      [0, 5.25 - beginSeconds, 'before'],
      [5.25 - beginSeconds, 10.25 - beginSeconds, 'cat'],
      [12 - beginSeconds, 17 - beginSeconds, 'dog'],
    ],
  );
  const packets = runQuietly('ffprobe', ['-show_entries', 'packet=pts_time', '-of', 'csv=p=0', subtitles]);
  assert.deepEqual(
    packets.trim().split('\n').map(Number),
    cues.map(({ startTime }) => startTime),
  );
  await end(body.id);
});

test('any range of a zip is a slice of it, its end too, though nobody read what is before', async () => {
  const items = [item('yard', 0, 40), item('door', 0, 5)];
  const { body } = await make(items, { zip: true });
  const { url, bytes: size } = body.zip;
  const tail = await fetched(url, 'bytes=-700');
  assert.equal(tail.response.status, 206);
  const half = await fetched(url, `bytes=${size >> 1}-`);
  const { bytes: whole } = await fetched(url);
  assert.ok(tail.bytes.equals(whole.subarray(size - 700)));
  assert.ok(half.bytes.equals(whole.subarray(size >> 1)));
  const first = body.files[0].bytes;
  for (const [from, to] of [
    [0, 10],
    [29, 150],
    [first, first + 400],
    [size - 30, size - 1],
  ] as const) {
    const { bytes } = await fetched(url, `bytes=${from}-${to}`);
    assert.ok(bytes.equals(whole.subarray(from, to + 1)), `${from}-${to}`);
  }
  const { response } = await fetched(url, `bytes=${size}-`);
  assert.equal(response.status, 416);
  await end(body.id);
});

test('whoever leaves while the end is made makes no disk read on for nobody', async () => {
  const { body } = await make([item('yard', 0, 40)], { zip: true });
  const leaving = new AbortController();
  const address = new URL(body.zip.url, app.url);
  const asked = fetch(address, { headers: { range: 'bytes=-10' }, signal: leaving.signal });
  leaving.abort();
  await assert.rejects(asked);
  const { bytes } = await fetched(body.zip.url, 'bytes=-10');
  assert.equal(bytes.length, 10);
  assert.ok(!app.logText().includes('request failed'));
  await end(body.id);
});

test('what is being written is exported as far as it was, also once it is closed and longer', async () => {
  const made = film({ video: fixtures.h264High(), startMs: START_MS + 100_000 });
  const path = record('yard', { ...made, bytes: made.bytes.subarray(0, made.parts[2]!.endBytes) }, true);
  const { body } = await make([item('yard', 99, 200)], { zip: true });
  const [file] = body.files;
  const { bytes } = await fetched(file.url);
  writeFileSync(path, made.bytes);
  renameSync(path, join(path, '..', closedName(made.startMs, made.endMs)));
  const again = await fetched(file.url);
  assert.deepEqual([again.response.status, again.bytes.equals(bytes)], [200, true]);
  await end(body.id);
});

test('deleted recordings are gone from an export, and never others in their place', async () => {
  const video = fixtures.h264High();
  const path = record('lost', film({ video, startMs: START_MS }));
  const { body } = await make([item('door', 0, 5), item('lost', 0, 5)], { zip: true });
  const whole = await fetched(body.zip.url);
  rmSync(path);
  record('lost', film({ video: fixtures.h264Baseline(), startMs: START_MS }));
  const [door, lost] = body.files;
  assert.equal((await fetched(lost.url)).response.status, 410);
  // It is too late to say it otherwise than by breaking off.
  await assert.rejects(fetched(body.zip.url));
  assert.equal((await fetched(body.zip.url, `bytes=${door.bytes + 500}-`)).response.status, 410);
  const { bytes: start } = await fetched(body.zip.url, 'bytes=0-999');
  assert.ok(start.equals(whole.bytes.subarray(0, 1_000)));
  assert.equal((await fetched(door.url)).response.status, 200);
  await app.asAdmin('DELETE', '/api/cameras/lost');
  assert.equal((await fetched(body.zip.url)).response.status, 404);
  await end(body.id);
});

test('what can not be exported is told of all items at once', async () => {
  const [unknown, nothing] = [item('nowhere', 0, 5), item('door', 50, 60)];
  const refused = await make([item('door', 0, 5), unknown]);
  assert.deepEqual([refused.status, refused.body.errors[0].path], [404, 'items[1].camera_id']);
  const empty = await make([nothing, item('door', 0, 5), nothing]);
  assert.deepEqual([empty.status, empty.body.code], [404, 'not_found']);
  assert.deepEqual(
    empty.body.errors.map(({ path }: { path: string }) => path),
    ['items[0]', 'items[2]'],
  );
  record('yard', film({ video: fixtures.h265Main(), startMs: START_MS + 300_000 }));
  const mixed = await make([item('yard', 0, 310)]);
  assert.deepEqual([mixed.status, mixed.body.code], [400, 'mixed_formats']);
  for (const items of [
    [],
    Array.from({ length: 37 }, () => item('door', 0, 1)),
    [item('door', 5, 5)],
    [item('door', 0, 86_401)],
    Array.from({ length: 4 }, () => item('door', -86_400 * 0.9, 0)),
    [{ ...item('door', 0, 1), surely: 'unknown' }],
  ]) {
    assert.equal((await make(items)).status, 400, JSON.stringify(items).slice(0, 100));
  }
});

/** A download whose bytes nobody takes yet; `rest` takes what there still is, and tells how much that was. */
const begun = (t: TestContext, url: string): Promise<{ rest: () => Promise<number> }> =>
  new Promise((resolve, reject) => {
    const request = httpRequest(new URL(url, app.url), (response) => {
      let takenBytes = 0;
      const closed = new Promise<void>((done) => response.once('close', done));
      response.on('error', () => {});
      const rest = async () => {
        response.on('data', (bytes: Buffer) => {
          takenBytes += bytes.length;
        });
        await closed;
        return takenBytes;
      };
      resolve({ rest });
    });
    request.once('error', reject).end();
    t.after(() => request.destroy());
  });

test('an address is good for as long as its maker has the right, and so is a download', async (t) => {
  const login = { username: 'olga', password: USER_PASSWORD };
  await app.asAdmin('POST', '/api/users', { ...login, role: 'operator' });
  const { token } = (await app.call('POST', '/api/login', { body: login })).body;
  record('yard', film({ video: generateVideo({ kbps: 60_000, gops: 6 }), startMs: START_MS + 600_000 }));
  const { body } = await make([item('yard', 600, 610)], { token });
  const { url } = body.files[0];
  assert.ok(body.bytes > 20e6, 'more than sockets hold');
  assert.equal((await end(body.id, app.tokens.viewer)).status, 404, 'it is not his');
  const download = await begun(t, url);
  await app.asAdmin('PUT', '/api/users/olga', { role: 'viewer' });
  assert.ok((await download.rest()) < body.bytes, 'the download is cut');
  assert.equal((await fetched(url)).response.status, 404);
});

test('a user has so many exports at once, and can end them', async () => {
  const token = app.tokens.service;
  const ids: string[] = [];
  for (;;) {
    const { status, body, headers } = await make([item('door', 0, 1)], { token });
    if (status === 201) ids.push(body.id);
    else {
      assert.deepEqual([status, body.code, ids.length], [429, 'too_many_exports', 20]);
      assert.ok(Number(headers.get('retry-after')) > 3_000);
      break;
    }
  }
  assert.equal((await make([item('door', 0, 1)])).status, 201, 'others have their own');
  for (const id of ids) assert.equal((await end(id, token)).status, 200);
  assert.equal((await end(ids[0]!, token)).status, 404);
  assert.equal((await make([item('door', 0, 1)], { token })).status, 201);
});

test('whoever makes or downloads an export is audited, and no log has its address', async () => {
  const { body } = await make([item('door', 0, 5)], { zip: true });
  await fetched(body.zip.url);
  await end(body.id);
  const lines = app
    .logText()
    .split('\n')
    .filter((line) => line.includes('"audit":true'))
    .slice(-3)
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ action, user, target, cameras, times }) => ({ action, user, target, cameras, times })),
    [
      ['export', undefined],
      ['download_export', body.zip.name],
      ['end_export', body.zip.name],
    ].map(([action, target]) => ({
      ...{ action, user: 'viewer', target },
      ...{ cameras: ['door'], times: [`${at(0)}/${at(5)}`] },
    })),
  );
  assert.ok(!app.logText().includes(body.id));
});

test('a download that comes in ranges is audited once, and one that begins anew is another', async () => {
  const { body } = await make([item('door', 0, 5)]);
  const { url } = body.files[0];
  const count = () => app.logText().split('"action":"download_export"').length;
  const before = count();
  const range = (value: string) => fetched(url, `bytes=${value}`);
  for (const value of ['0-9', '10-19', '20-29', '-5'])
    assert.equal((await range(value)).response.status, 206);
  assert.equal(count() - before, 1);
  assert.equal((await fetched(url)).response.status, 200);
  assert.equal(count() - before, 2);
  const other = (await make([item('door', 0, 5)])).body.files[0].url;
  await fetched(other, 'bytes=7-9');
  assert.equal(count() - before, 3, 'whatever comes first');
});

test('an address is good for an hour', async () => {
  const { url } = (await make([item('door', 0, 5)])).body.files[0];
  clock.advance(3_599_000);
  assert.equal((await fetched(url)).response.status, 200);
  clock.advance(2_000);
  assert.equal((await fetched(url)).response.status, 404);
});
