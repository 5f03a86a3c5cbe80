import assert from 'node:assert/strict';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { after, before, beforeEach, test } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../../src/base/errors.js';
import { archiveRoutes } from '../../src/http/routes/archive.js';
import type { ApiOptions } from '../support/api-client.js';
import { checkAnswers, type Document, isWatching, operationsOf, wrongKey } from '../support/contract.js';
import { CLIP_BYTES, clipContent, FakeArchive, FILE } from '../support/fake-archive.js';
import { FakeClock } from '../support/fake-clock.js';
import { until } from '../support/until.js';
import { startWebServer, type WebServer } from '../support/web-server.js';

const archive = new FakeArchive();
let server: WebServer;
let token: string;

before(async () => {
  const cameras = { has: (id: string) => server.cameras.has(id) };
  const clock = new FakeClock();
  server = await startWebServer(
    archiveRoutes({
      ...{ clock, cameras, recordings: archive, timeline: archive, playback: archive },
      ...{ keyFrames: archive, frames: archive, exports: archive, deletions: archive },
      ...{ detections: archive, subtitles: archive },
      viewers: { takePlace: (...taken) => server.viewers.takePlace(...taken) },
      deleted: { has: (id) => id === 'deleted' },
    }),
  );
});
beforeEach(() => {
  token = server.accessToken('viewer');
  archive.asked.length = 0;
  archive.readBytes = 0;
});
after(() => server.stop());

const get = (path: string, options: ApiOptions = {}) => server.call('GET', path, { token, ...options });
const anonymous = (path: string) => server.call('GET', path);
const exportPath = `/api/cameras/open/export?file=${FILE}`;

test('the list has ISO times with milliseconds; 404 for a camera that is not there, 401 for strangers', async () => {
  const { status, body } = await get('/api/cameras/open/archive');
  assert.equal(status, 200);
  assert.deepEqual(body, [
    { start: '2026-11-21T08:30:00.250Z', end: '2026-11-21T08:30:03.850Z', filename: FILE },
  ]);
  for (const path of ['archive', 'recordings', `export?file=${FILE}`]) {
    assert.equal((await get(`/api/cameras/unknown/${path}`)).status, 404, path);
    assert.equal((await anonymous(`/api/cameras/open/${path}`)).body.code, 'token_missing', path);
    const byStream = await get(`/api/cameras/open/${path}`, { token: server.streamToken('open') });
    assert.equal(byStream.status, 401, `${path}: a stream token is none for the interface`);
    const inQuery = await anonymous(
      `/api/cameras/open/${path}${path.includes('?') ? '&' : '?'}token=${token}`,
    );
    assert.equal(inQuery.status, 401, `${path}: nor is a token in the address`);
  }
  assert.deepEqual(archive.asked, ['list open']);
});

test('one of several boxes shows whose a recording is, and what boxes have that are away', async () => {
  archive.isShared = true;
  archive.isAway = true;
  try {
    const [start, end] = ['2026-11-21T08:30:00.250Z', '2026-11-21T08:30:03.850Z'];
    const list = await get('/api/cameras/open/archive');
    assert.deepEqual(list.body, [{ start, end, filename: FILE, box: 'a', is_away: true }]);
    const { body } = await get('/api/cameras/open/recordings');
    assert.deepEqual(body.away, [{ start, end, box: 'a' }]);
    const from = Date.parse(start);
    const tape = await get('/api/timeline?camera=open');
    assert.deepEqual(tape.body.open.away, [[from, from + 3_600, 'a']]);
  } finally {
    archive.isShared = false;
    archive.isAway = false;
  }
});

test('a recording may be named with the box that made it, and nothing but a box', async () => {
  const { status } = await get(`${exportPath}&box=box-1.site`);
  assert.equal(status, 200);
  assert.equal((await get(`${exportPath}&box=../box`)).status, 400);
  assert.match(archive.asked[0] ?? '', /box-1\.site/);
});

test('recordings: a day unless a time is named, 31 days at most', async () => {
  const path = '/api/cameras/open/recordings';
  const { body } = await get(path);
  assert.deepEqual(archive.asked, ['intervals open 2026-11-20T08:30:00.000Z 2026-11-21T08:30:00.000Z']);
  assert.deepEqual(body, {
    intervals: [{ start: '2026-11-21T08:30:00.250Z', end: '2026-11-21T08:30:03.850Z' }],
    gaps: [{ start: '2026-11-20T08:30:00.000Z', end: '2026-11-21T08:30:00.250Z', reason: 'not_recording' }],
    broken: [],
  });
  const asked = async (query: string) => {
    archive.asked.length = 0;
    const { status } = await get(path + query);
    return status === 200 ? archive.asked[0]?.replace('intervals open ', '') : status;
  };
  const at = (hour: number) => `2026-11-21T${String(hour).padStart(2, '0')}:00:00.000Z`;
  assert.equal(await asked('?from=2026-11-21T06:00:00Z&to=2026-11-21T07:00Z'), `${at(6)} ${at(7)}`);
  assert.equal(await asked('?from=2026-11-21T06:00&to=2026-11-21T08:00:00%2B01:00'), `${at(6)} ${at(7)}`);
  assert.equal(await asked('?from=2026-11-21&to=2026-11-21T08:00:00+01:00'), `${at(0)} ${at(7)}`);
  assert.equal(
    await asked('?from=2026-10-21&to=2026-11-21'),
    '2026-10-21T00:00:00.000Z 2026-11-21T00:00:00.000Z',
  );
  for (const query of [
    '?from=2026-10-20&to=2026-11-21',
    '?from=2026-11-21&to=2026-11-21',
    '?from=2026-11-22',
    '?from=yesterday',
    '?from=2026-02-30',
    '?from=2026-11-21T25:00Z',
    '?from=1763712000',
    '?from=',
    '?from=2026-11-20&from=2026-11-20',
  ])
    assert.equal(await asked(query), 400, query);
});

test('the timeline has a lane for each camera that is asked for, once', async () => {
  const range = 'from=2026-11-21T08:00:00Z&to=2026-11-21T09:00:00Z';
  const path = `/api/timeline?camera=open&camera=off&camera=open&${range}`;
  const { status, body, headers } = await get(`${path}&bucket_ms=1800`);
  const startMs = Date.UTC(2026, 10, 21, 8, 30, 0, 250);
  const lane = {
    recorded: [[startMs, startMs + 3_600]],
    gaps: [[Date.UTC(2026, 10, 21, 8), startMs, 'not_recording']],
    ...{ motion: [], labels: {} },
  };
  assert.deepEqual([status, body], [200, { open: lane, off: lane }]);
  assert.equal(archive.asked.length, 2);
  const etag = headers.get('etag') ?? '';
  assert.equal((await get(path, { headers: { 'if-none-match': etag } })).status, 304);
  assert.equal((await get(`${path}&camera=locked`, { headers: { 'if-none-match': etag } })).status, 200);
  const cameras = (count: number): string => 'camera=open&'.repeat(count);
  const statusOf = async (query: string): Promise<number> => (await get(`/api/timeline?${query}`)).status;
  assert.equal(await statusOf(`${cameras(36)}${range}`), 200);
  assert.equal(await statusOf('camera=locked'), 200, 'the last day');
  assert.equal(await statusOf(`camera=unknown&camera=open&${range}`), 404);
  for (const query of [
    range,
    `${cameras(37)}${range}`,
    `camera=..%2fopen&${range}`,
    `camera=&${range}`,
    `camera=open&${range}&bucket_ms=1799`,
    `camera=open&${range}&bucket_ms=0`,
    'camera=open&from=2026-10-20&to=2026-11-21',
  ])
    assert.equal(await statusOf(query), 400, query);
  const stream = await get(`/api/timeline?camera=open`, { token: server.streamToken('open') });
  assert.equal(stream.status, 401);
});

test('detections come in pages, each of which names the next one by the same question', async () => {
  const path = '/api/cameras/open/detections';
  const from = '2026-11-21T08:00:00.000Z';
  const asked = await get(
    `${path}?from=${from}&to=2026-11-21T10:00:00%2B01:00&label=a%20b&label=%C3%BC&limit=7`,
  );
  assert.equal(asked.status, 200);
  assert.equal(asked.body.length, 1);
  const [, next = ''] = /^<(.*)>; rel="next"$/.exec(asked.headers.get('link') ?? '') ?? [];
  const last = await get(next);
  assert.deepEqual([last.status, last.body, last.headers.get('link')], [200, [], null]);
  const range = { fromMs: Date.parse(from), toMs: Date.parse('2026-11-21T09:00:00Z') };
  const wanted = { ...range, labels: ['a b', 'ü'], limit: 7 };
  const behind = { timeUs: Date.parse('2026-11-21T08:30:00.250Z') * 1_000, count: 1 };
  assert.deepEqual(
    archive.asked,
    [null, behind].map((place) => `detections open ${JSON.stringify({ ...wanted, behind: place })}`),
  );
  for (const query of ['limit=0', 'limit=5001', 'label=', 'cursor=1', 'from=2026-01-01&to=2026-11-21'])
    assert.equal((await get(`${path}?${query}`)).status, 400, query);
  assert.equal((await get('/api/cameras/unknown/detections')).status, 404);
  assert.equal((await anonymous(path)).status, 401);
  assert.equal((await get(path, { token: server.streamToken('open') })).status, 401);
});

test('a moment is read as it was written', async () => {
  const { parseInstant } = await import('../../src/http/time-range.js');
  const dates = fc.date({
    min: new Date('0001-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  });
  for (const text of ['2026-02-30', '2026-02-29T10:00Z', '2026-13-01', '2026-11-21T10', ' 2026-11-21'])
    assert.equal(parseInstant(text), null, text);
  fc.assert(
    fc.property(dates, fc.integer({ min: -839, max: 839 }), (date, zoneMinutes) => {
      assert.equal(parseInstant(date.toISOString()), date.getTime());
      const local = new Date(date.getTime() + zoneMinutes * 60_000);
      fc.pre(local.getUTCFullYear() >= 1 && local.getUTCFullYear() <= 9999);
      const [hours, minutes] = [Math.trunc(Math.abs(zoneMinutes) / 60), Math.abs(zoneMinutes) % 60];
      const two = (value: number) => String(value).padStart(2, '0');
      const zone = `${zoneMinutes < 0 ? '-' : '+'}${two(hours)}:${two(minutes)}`;
      assert.equal(parseInstant(local.toISOString().replace('Z', zone)), date.getTime());
    }),
  );
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'0123456789-+:.TZ ') }), (text) => {
      const timeMs = parseInstant(text);
      assert.ok(timeMs === null || Number.isInteger(timeMs));
    }),
  );
});

test('playlists carry the session of whoever was let in by a token, and it opens the segments', async () => {
  const path = `/hls/locked/archive.m3u8?file=${FILE}`;
  const opened = await anonymous(`${path}&token=${server.streamToken('locked')}`);
  assert.equal(opened.headers.get('content-type'), 'application/vnd.apple.mpegurl');
  assert.equal(opened.headers.get('cache-control'), 'no-store');
  assert.equal(opened.headers.get('access-control-allow-origin'), '*');
  const session = /&session=([\w-]+)/.exec(opened.text)?.[1] ?? '';
  assert.notEqual(session, '');
  const segment = `/hls/locked/segment.ts?file=${FILE}&seq=0`;
  server.clock.advance(50_000);
  assert.equal((await anonymous(`${segment}&session=${session}`)).status, 200);
  server.clock.advance(50_000);
  assert.equal((await anonymous(`${segment}&session=${session}`)).status, 200, 'longer than the token lives');
  assert.equal((await anonymous(segment)).status, 401);
  const day = 'from=2026-11-21&to=2026-11-22';
  assert.equal((await anonymous(`/hls/locked/range.m3u8?${day}&session=${session}`)).status, 200);
  assert.equal(archive.asked.at(-1), `range locked 86400000 ${session}`);
  assert.equal((await anonymous(`/hls/open/range.m3u8?${day}`)).status, 200);
  assert.equal(archive.asked.at(-1), 'range open 86400000 null');
  assert.equal((await anonymous('/hls/open/range.m3u8?from=2026-11-21&to=2026-11-22T00:00:01Z')).status, 400);
  assert.equal((await anonymous('/hls/open/range.m3u8')).status, 400);
  assert.equal(
    (await anonymous(`/hls/off/archive.m3u8?file=${FILE}`)).status,
    200,
    'a disabled camera has a past',
  );
});

test('a segment is kept by who has it', async () => {
  const path = `/hls/open/segment.ts?file=${FILE}&seq=1`;
  const { status, headers, text } = await anonymous(path);
  assert.deepEqual([status, text.length, headers.get('content-length')], [200, 188, '188']);
  assert.equal(headers.get('content-type'), 'video/mp2t');
  assert.equal(headers.get('cache-control'), 'private, max-age=3600');
  const again = await get(path, { headers: { 'if-none-match': headers.get('etag') ?? '' } });
  assert.deepEqual([again.status, again.text], [304, '']);
});

test('an export is a download with ranges; HEAD tells its length', async () => {
  const whole = await fetch(server.url + exportPath, { headers: { authorization: `Bearer ${token}` } });
  assert.ok(Buffer.from(await whole.arrayBuffer()).equals(clipContent));
  assert.equal(whole.headers.get('content-type'), 'video/mp4');
  assert.equal(whole.headers.get('content-disposition'), 'attachment; filename=export_open.mp4');
  assert.equal(whole.headers.get('content-length'), String(CLIP_BYTES));
  assert.equal(whole.headers.get('accept-ranges'), 'bytes');
  const [etag, modified] = [whole.headers.get('etag') ?? '', whole.headers.get('last-modified') ?? ''];
  const ask = async (headers: Record<string, string>, method = 'GET') => {
    const response = await fetch(server.url + exportPath, {
      method,
      headers: { authorization: `Bearer ${token}`, ...headers },
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    return {
      status: response.status,
      range: response.headers.get('content-range'),
      bytes,
      headers: response.headers,
    };
  };
  for (const [range, first, last] of [
    ['bytes=0-0', 0, 0],
    ['bytes=99999-200000', 99_999, 200_000],
    ['bytes=2999990-', 2_999_990, CLIP_BYTES - 1],
    ['bytes=-7', CLIP_BYTES - 7, CLIP_BYTES - 1],
    ['bytes=5-9999999999', 5, CLIP_BYTES - 1],
  ] as const) {
    const part = await ask({ range });
    assert.deepEqual([part.status, part.range], [206, `bytes ${first}-${last}/${CLIP_BYTES}`], range);
    assert.ok(part.bytes.equals(clipContent.subarray(first, last + 1)), range);
  }
  const beyond = await ask({ range: `bytes=${CLIP_BYTES}-` });
  assert.deepEqual([beyond.status, beyond.range], [416, `bytes */${CLIP_BYTES}`]);
  const statusOf = async (headers: Record<string, string>) =>
    (await ask({ range: 'bytes=0-9', ...headers })).status;
  assert.equal(await statusOf({ 'if-range': etag }), 206);
  assert.equal(await statusOf({ 'if-range': modified }), 206);
  assert.equal(await statusOf({ 'if-range': '"other"' }), 200);
  assert.equal(await statusOf({ 'if-range': 'Sat, 21 Nov 2026 08:30:01 GMT' }), 200);
  assert.equal(await statusOf({ range: 'bytes=0-1,5-6' }), 200);
  assert.equal(await statusOf({ 'if-none-match': etag }), 304);
  archive.readBytes = 0;
  const head = await ask({}, 'HEAD');
  assert.deepEqual([head.status, head.headers.get('content-length')], [200, String(CLIP_BYTES)]);
  assert.equal(archive.readBytes, 0);
  await until('all clips are closed', () => archive.openClips === 0);
});

test('an export is of parts of a file or of a time, not of both', async () => {
  const asked = async (query: string) => {
    archive.asked.length = 0;
    const { status, body } = await get(`/api/cameras/open/export?${query}`, {
      headers: { range: 'bytes=0-0' },
    });
    return status === 206 ? archive.asked[0] : `${status} ${body.code}`;
  };
  assert.equal(await asked(`file=${FILE}`), `clip open ${FILE} undefined undefined`);
  assert.equal(await asked(`file=${FILE}&start_seq=1&end_seq=1`), `clip open ${FILE} 1 1`);
  const day = 'from=2026-11-20T08:30:00Z&to=2026-11-21T08:30:00Z';
  assert.equal(await asked(day), 'clip open 86400000');
  const refused: readonly [query: string, outcome: string][] = [
    ['', '400 invalid_input'],
    ['from=2026-11-20', '400 invalid_input'],
    ['to=2026-11-20', '400 invalid_input'],
    ['from=2026-11-21&to=2026-11-20', '400 invalid_input'],
    ['from=2026-11-20&to=2026-11-22', '400 invalid_input'],
    [`${day}&file=${FILE}`, '400 invalid_input'],
    [`${day}&start_seq=0`, '400 invalid_input'],
    [`from=2026-11-20&file=${FILE}`, '400 invalid_input'],
    ['file=', '400 bad_file_name'],
    [`file=${FILE}&start_seq=-1`, '400 bad_seq'],
    [`file=${FILE}&start_seq=1.5`, '400 bad_seq'],
    [`file=${FILE}&end_seq=`, '400 bad_seq'],
    [`file=${FILE}&end_seq=0x1`, '400 bad_seq'],
    [`file=${FILE.replace('08-30-04', '08-30-05')}`, '404 not_found'],
  ];
  for (const [query, outcome] of refused) assert.equal(await asked(query), outcome, query);
});

/** Asks for a path as it is written, which fetch would tidy up first. */
const exactly = (path: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server.url);
    const headers = { authorization: `Bearer ${token}` };
    const client = httpRequest({ host: hostname, port, path, headers, agent: false }, resolve);
    client.once('error', reject).end();
  });

test('a slow client makes the reading wait; one that goes away ends it', async () => {
  archive.contentBytes = 256_000_000;
  const response = await exactly(exportPath);
  response.on('error', () => {});
  let before = -1;
  await until('the reading waits', async () => {
    before = archive.readBytes;
    await new Promise((resolve) => setTimeout(resolve, 100));
    return archive.readBytes > 0 && archive.readBytes === before;
  });
  assert.ok(archive.readBytes < archive.contentBytes / 4, `${archive.readBytes} bytes were read for nobody`);
  response.destroy();
  await until('the clip is closed', () => archive.openClips === 0);
  archive.contentBytes = CLIP_BYTES;
  assert.doesNotMatch(server.logText(), /request failed/, 'that is no fault of ours');
});

test('a disk that fails, or a file that was cut, ends the connection and is no whole file', async () => {
  for (const where of ['failsAtByte', 'endsAtByte'] as const) {
    archive[where] = 500_000;
    const response = await fetch(server.url + exportPath, { headers: { authorization: `Bearer ${token}` } });
    assert.equal(response.status, 200);
    await assert.rejects(response.arrayBuffer(), where);
    archive[where] = Number.POSITIVE_INFINITY;
  }
  await until('all clips are closed', () => archive.openClips === 0);
  assert.match(server.logText(), /the disk fails/);
  assert.match(server.logText(), /ended after 500000 of 3000000 bytes/);
});

test('a name is never a path', async () => {
  const hostile = [
    '../secret.mp4',
    '..%2f..%2fetc%2fpasswd',
    '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
    '..%252f..%252fetc%252fpasswd',
    '/etc/passwd',
    '%2fetc%2fpasswd',
    '..%5c..%5cwindows',
    'C:%5cwindows',
    `${FILE}%00`,
    `%00${FILE}`,
    `${FILE}%00.mp4`,
    `../open/${FILE}`,
    `.%2f${FILE}`,
    `${FILE}%2f..%2f${FILE}`,
    `${FILE}%0a`,
    `${FILE}%20`,
    FILE.replace('.mp4', '.MP4'),
    FILE.replace('2026', '２０２６'),
    '․․/x.mp4',
    '%c0%ae%c0%ae%2fx.mp4',
    '‥%2fx.mp4',
    '2026-02-30_08-30-00_to_08-30-04.mp4',
    '.',
    '..',
    '*',
    'file:///etc/passwd',
    'x'.repeat(255),
    'x'.repeat(5_000),
    `${'../'.repeat(500)}etc/passwd`,
  ];
  const answers: string[] = [];
  for (const name of hostile) {
    for (const path of [
      '/hls/open/archive.m3u8?',
      '/hls/open/segment.ts?seq=0&',
      '/api/cameras/open/export?',
    ]) {
      const { status, text } = await get(`${path}file=${name}`);
      if (status !== 400) answers.push(`${status} ${path}${name} ${text}`);
    }
    for (const path of [
      `/hls/${name}/archive.m3u8?file=${FILE}`,
      `/hls/${name}/segment.ts?file=${FILE}&seq=0`,
      `/api/cameras/${name}/export?file=${FILE}`,
      `/hls/${name}`,
    ]) {
      const response = await exactly(path.replaceAll(/[^ -~]/g, encodeURIComponent));
      response.resume();
      if (response.statusCode !== 400 && response.statusCode !== 404)
        answers.push(`${response.statusCode} ${path}`);
    }
  }
  const twice = await get(`/hls/open/archive.m3u8?file=${FILE}&file=../x`);
  assert.equal(twice.status, 400);
  assert.deepEqual(answers, []);
  assert.deepEqual(archive.asked, [], 'nothing of it came near the archive');
});

test('every answer is what the document says, and every documented one was seen', async () => {
  const { body } = await server.call('GET', '/api/openapi.json');
  await server.call('GET', '/api/docs');
  const document = body as Document;
  const query = `?file=${FILE}&seq=0&camera=open&from=2026-11-20&to=2026-11-21`;
  const fault = new AppError('archive_busy', 'too many read', { details: { retryAfterSec: 2 } });
  for (const [method, path, operation] of operationsOf(document)) {
    if (path === '/api/openapi.json' || path === '/api/docs') continue;
    const ask = (address: string, as: string | null) => server.call(method, address, { token: as });
    const allowed = method === 'DELETE' ? server.accessToken('olga') : token;
    const [open, locked] = ['open', 'locked'].map((id) => path.replace('{id}', id) + query);
    const wanted = path.endsWith('export') ? open!.replace(/&from.*/, '') : open!;
    await ask(isWatching(operation) ? locked! : open!, null);
    if (method === 'DELETE') assert.equal((await ask(open!, token)).status, 403);
    await ask(
      path.replace('{id}', 'unknown') + (method === 'DELETE' ? query : query.replace(/&from.*/, '')),
      allowed,
    );
    await ask(path.replace('{id}', '-bad'), allowed);
    archive.fault = fault;
    const busy = await ask(wanted, allowed);
    assert.deepEqual([busy.status, busy.headers.get('retry-after')], [503, '2'], path);
    archive.fault = null;
    assert.equal((await ask(wanted, allowed)).status, 200, path);
  }
  for (const headers of [{ range: 'bytes=0-9' }, { range: 'bytes=9999999-' }, { 'if-none-match': '"clip"' }])
    for (const path of [exportPath, `/hls/open/recording.mp4?file=${FILE}`]) await get(path, { headers });
  const tag = (await get('/api/cameras/open/detections')).headers.get('etag') ?? '';
  await get('/api/cameras/open/detections', { headers: { 'if-none-match': tag } });
  for (let count = 0; count < 10; count++) await get(exportPath, { token: wrongKey(count) });
  let count = 10;
  for (const [method, path] of operationsOf(document)) {
    if (path === '/api/openapi.json' || path === '/api/docs') continue;
    const asked = path.replace('{id}', 'locked') + query;
    assert.equal((await server.call(method, asked, { token: wrongKey(count++) })).status, 429, path);
  }
  assert.deepEqual(checkAnswers(document, server.seen), []);
});
