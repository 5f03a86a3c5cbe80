import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { ownBoxName } from '../../src/base/box-name.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

let app: TestApp;
before(async () => {
  app = await startTestApp();
});
after(() => app.stop());
beforeEach(async () => {
  for (const { id } of (await app.asAdmin('GET', '/api/cameras')).body) {
    await app.asAdmin('DELETE', `/api/cameras/${id}`);
  }
  app.told.length = 0;
});

const url = 'rtsp://root:s3cret@127.0.0.1:9/1';
const connects = (): number => app.told.filter(({ type }) => type === 'connect').length;

test('a camera that is added gets every default, and begins to connect', async () => {
  const { status, body } = await app.asAdmin('POST', '/api/cameras', { id: 'a', url });
  assert.equal(status, 201);
  assert.deepEqual(body, {
    id: 'a',
    url,
    record: false,
    retention_days: 7,
    tags: [],
    folder_id: '',
    comment: '',
    sim_phone: '',
    sim_iccid: '',
    lazy_hls: true,
    transport: 'tcp',
    token_auth: false,
    traffic_limit: 0,
    disabled: false,
    detect: false,
    quirks: {},
    detection: {},
    sub_url: '',
    on_demand: false,
    record_mode: 'continuous',
    event_retention_days: 0,
    onvif: {},
    box: null,
    owner: ownBoxName(),
    state: 'connecting',
    fps: 0,
    bitrate: 0,
    codec: '',
    resolution: '',
    width: 0,
    height: 0,
    uptime_sec: 0,
    traffic_used_mb: 0,
    last_error: '',
    audio_codec: '',
    viewers: 0,
    recording: false,
    record_error: '',
    dropped_frames: 0,
    quirks_active: [],
    detect_error: '',
    ptz: false,
    sub: null,
  });
  assert.deepEqual((await app.asAdmin('GET', '/api/cameras')).body, [body]);
  assert.equal(connects(), 1);
});

test('what was read can be sent back; an unknown field is named; ids stay', async () => {
  const { body: camera } = await app.asAdmin('POST', '/api/cameras', { id: 'a', url, comment: 'gate' });
  const same = await app.asAdmin('PUT', '/api/cameras/a', { ...camera, fps: 'ignored', viewers: 9 });
  assert.deepEqual([same.status, same.body], [200, camera]);
  const unknown = await app.asAdmin('PUT', '/api/cameras/a', { fsp: 25, record: 'yes' });
  assert.equal(unknown.status, 400);
  assert.equal(unknown.headers.get('content-type'), 'application/problem+json; charset=utf-8');
  assert.deepEqual(unknown.body.errors.map((fault: { path: string }) => fault.path).sort(), [
    'fsp',
    'record',
  ]);
  const renamed = await app.asAdmin('PUT', '/api/cameras/a', { id: 'b' });
  assert.deepEqual([renamed.status, renamed.body.errors[0].path], [400, 'id']);
});

test('only another url, transport or disabled touches the stream', async () => {
  await app.asAdmin('POST', '/api/cameras', { id: 'a', url });
  await app.asAdmin('POST', '/api/cameras', { id: 'b', url });
  assert.equal(connects(), 2);
  const quiet = {
    comment: 'x',
    tags: ['t'],
    folder_id: 'f',
    record: true,
    retention_days: 0,
    token_auth: true,
    lazy_hls: false,
    traffic_limit: 5,
    detect: true,
    url,
    transport: 'tcp',
  };
  app.told.splice(0);
  const changed = await app.asAdmin('PUT', '/api/cameras/a', quiet);
  assert.equal(changed.status, 200);
  assert.deepEqual(
    app.told.map(({ type }) => type),
    ['record'],
  );
  app.told.splice(0);
  await app.asAdmin('PUT', '/api/cameras/a', { transport: 'udp' });
  assert.ok(app.told.every((message) => 'cameraId' in message && message.cameraId === 'a'));
  assert.equal(connects(), 1);
  const off = await app.asAdmin('PUT', '/api/cameras/a', { disabled: true });
  assert.equal(off.body.state, 'disabled');
  const on = await app.asAdmin('PUT', '/api/cameras/a', { disabled: false });
  assert.equal(on.body.state, 'connecting');
});

const everyQuirk = {
  certificate: 'verify',
  user_agent: 'LibVLC/3.0.20 (LIVE555 Streaming Media v2016.11.28)',
  keepalive: 'none',
  teardown: 'never',
  refused_transport: 'give_up',
  silent_udp: 'give_up',
  packetization_mode_0: 'keep_transport',
  interleaved_ids: 'as_requested',
  session_id: 'keep_first',
};

test('quirks are kept as they are sent, shown as in force, and restart that camera alone', async () => {
  await app.asAdmin('POST', '/api/cameras', { id: 'a', url });
  await app.asAdmin('POST', '/api/cameras', { id: 'b', url, quirks: { keepalive: 'options' } });
  app.told.splice(0);
  const put = (quirks: unknown) => app.asAdmin('PUT', '/api/cameras/a', { quirks });
  const all = await put(everyQuirk);
  assert.deepEqual([all.status, all.body.quirks], [200, everyQuirk]);
  assert.deepEqual(all.body.quirks_active, Object.keys(everyQuirk).sort());
  assert.ok(app.told.every((message) => 'cameraId' in message && message.cameraId === 'a'));
  assert.equal(connects(), 1);
  await put(Object.fromEntries(Object.entries(everyQuirk).toReversed()));
  await put({ ...everyQuirk });
  assert.equal(connects(), 1, 'the same again changes nothing');
  const fewer = await put({ keepalive: 'auto', certificate: 'any', teardown: 'never' });
  assert.deepEqual(fewer.body.quirks, { keepalive: 'auto', certificate: 'any', teardown: 'never' });
  assert.deepEqual(fewer.body.quirks_active, ['teardown'], 'a default that is spelled out is none');
  assert.equal(connects(), 2);
  const none = await put({});
  assert.deepEqual([none.body.quirks, none.body.quirks_active], [{}, []]);
  const [, b] = (await app.asAdmin('GET', '/api/cameras')).body;
  assert.deepEqual([b.quirks, b.quirks_active], [{ keepalive: 'options' }, ['keepalive']]);
});

test('which detections count is kept as it is sent, restarts nothing, and is refused by field', async () => {
  await app.asAdmin('POST', '/api/cameras', { id: 'a', url });
  const before = connects();
  const points = [
    [0, 0],
    [1, 0],
    [0.5, 1],
  ];
  const zone = { name: 'gate', kind: 'include', points };
  const hours = { days: ['mon', 'sun'], from: '22:00', to: '06:00' };
  const detection = {
    ...{ labels: ['person', 'car'], min_score: 0.6, min_size: 0.01, zones: [zone] },
    schedule: [hours, { ...hours, to: '24:00' }],
  };
  const put = (sent: unknown) => app.asAdmin('PUT', '/api/cameras/a', { detection: sent });
  assert.deepEqual((await put(detection)).body.detection, detection);
  assert.equal(connects(), before);
  for (const [bad, path] of [
    ['all', ''],
    [{ scores: 1 }, '.scores'],
    [{ min_score: 1.1 }, '.min_score'],
    [{ labels: [''] }, '.labels[0]'],
    [{ zones: [{ ...zone, points: points.slice(1) }] }, '.zones[0].points'],
    [{ zones: [{ ...zone, points: [...points, [0, 2]] }] }, '.zones[0].points[3][1]'],
    [{ zones: [{ ...zone, kind: 'maybe' }] }, '.zones[0].kind'],
    [{ zones: [zone, zone] }, '.zones'],
    [{ schedule: [{ ...hours, days: ['mon', 'mon'] }] }, '.schedule[0].days'],
    [{ schedule: [{ ...hours, days: [] }] }, '.schedule[0].days'],
    [{ schedule: [{ ...hours, from: '24:00' }] }, '.schedule[0].from'],
    [{ schedule: [{ ...hours, to: '6:00' }] }, '.schedule[0].to'],
    [{ schedule: [{ ...hours, to: hours.from }] }, '.schedule[0].to'],
  ] as const) {
    const { status, body } = await put(bad);
    assert.deepEqual([status, body.errors[0].path], [400, `detection${path}`]);
  }
  assert.deepEqual((await put({})).body.detection, {});
});

test('quirks that are none are refused by their names', async () => {
  const faults = async (quirks: unknown): Promise<unknown> => {
    const { status, body } = await app.asAdmin('POST', '/api/cameras', { id: 'a', url, quirks });
    assert.equal(status, 400);
    return body.errors.map(({ path }: { path: string }) => path).sort();
  };
  assert.deepEqual(await faults({ keepalive: 'ping', certificate: true, agent: 'x' }), [
    'quirks.agent',
    'quirks.certificate',
    'quirks.keepalive',
  ]);
  assert.deepEqual(await faults('none'), ['quirks']);
  for (const bad of ['', ' x', 'x ', 'a\r\nX-Evil: 1', 'ünï', 'x'.repeat(129), 7]) {
    assert.deepEqual(await faults({ user_agent: bad }), ['quirks.user_agent'], String(bad));
  }
});

test('a viewer sees no password, and a masked url that comes back keeps the real one', async () => {
  await app.asAdmin('POST', '/api/cameras', { id: 'a', url });
  const urlFor = async (token: string): Promise<string> =>
    (await app.call('GET', '/api/cameras', { token })).body[0].url;
  const masked = 'rtsp://root:***@127.0.0.1:9/1';
  assert.equal(await urlFor(app.tokens.viewer), masked);
  assert.equal(await urlFor(app.tokens.operator), url);
  const put = (sent: string) => app.asAdmin('PUT', '/api/cameras/a', { url: sent });
  assert.equal((await put(masked)).body.url, url);
  assert.equal((await put('rtsp://root:***@127.0.0.2:9/2')).body.url, 'rtsp://root:s3cret@127.0.0.2:9/2');
  assert.equal((await put('rtsp://root:new@127.0.0.2:9/2')).body.url, 'rtsp://root:new@127.0.0.2:9/2');
  await put('rtsp://127.0.0.1/open');
  const nothingBehind = await put('rtsp://root:***@127.0.0.1/open');
  assert.deepEqual([nothingBehind.status, nothingBehind.body.code], [400, 'bad_url']);
});

test('who may see passwords can ask for masks, and test what a mask stands for', async () => {
  const sub = 'rtsp://sub:pa55@127.0.0.1:9/2';
  await app.asAdmin('POST', '/api/cameras', { id: 'a', url, sub_url: sub });
  const masked = (await app.asAdmin('GET', '/api/cameras/a?passwords=masked')).body;
  assert.deepEqual(
    [masked.url, masked.sub_url],
    ['rtsp://root:***@127.0.0.1:9/1', 'rtsp://sub:***@127.0.0.1:9/2'],
  );
  assert.equal((await app.asAdmin('GET', '/api/cameras/a')).body.url, url);
  const tested = async (body: object): Promise<string> => {
    app.told.splice(0);
    // Nobody answers here: what it would have connected to is enough.
    void app.asAdmin('POST', '/api/cameras/test', body).catch(() => {});
    const asked = await until('it connects', () => app.told.find(({ type }) => type === 'connect'));
    return asked.type === 'connect' ? asked.source.url : '';
  };
  assert.equal(await tested({ id: 'a', url: masked.url }), url);
  assert.equal(await tested({ id: 'a', stream: 'sub', url: masked.sub_url }), sub);
  assert.equal(
    await tested({ id: 'a', url: 'rtsp://root:***@127.0.0.1:9/other' }),
    url.replace(/1$/, 'other'),
    'another path, with the password that is stored',
  );
  const refused = async (body: object) => {
    const answer = await app.asAdmin('POST', '/api/cameras/test', body);
    return [answer.status, answer.body.code];
  };
  assert.deepEqual(await refused({ id: 'b', url: masked.url }), [404, 'not_found']);
  assert.deepEqual(await refused({ id: 'a', url: 'rtsp://127.0.0.1:9/***' }), [400, 'bad_url']);
});

test('a sub_url is kept, shown and masked as url is, apart from it', async () => {
  const subUrl = 'rtsp://sub:h1dden@127.0.0.1:9/2';
  const made = await app.asAdmin('POST', '/api/cameras', { id: 'a', url, sub_url: subUrl, on_demand: true });
  assert.deepEqual([made.status, made.body.sub_url, made.body.on_demand], [201, subUrl, true]);
  const [seen] = (await app.call('GET', '/api/cameras', { token: app.tokens.viewer })).body;
  assert.equal(seen.sub_url, 'rtsp://sub:***@127.0.0.1:9/2');
  assert.equal(
    (await app.call('GET', '/api/cameras/a', { token: app.tokens.operator })).body.sub_url,
    subUrl,
  );
  const put = async (sub_url: string) => {
    const { status, body } = await app.asAdmin('PUT', '/api/cameras/a', { sub_url });
    return status === 200 ? body.sub_url : [status, body.code];
  };
  assert.equal(await put('rtsp://sub:***@127.0.0.1:9/2'), subUrl);
  assert.equal(await put('rtsp://sub:***@127.0.0.1:9/3'), 'rtsp://sub:h1dden@127.0.0.1:9/3');
  assert.equal(await put(''), '');
  assert.deepEqual(await put('rtsp://sub:***@127.0.0.1:9/3'), [400, 'bad_url'], 'nothing it could stand for');
  assert.equal((await app.asAdmin('GET', '/api/cameras/a')).body.url, url);
});

test('bad input is refused by field', async () => {
  const faultsOf = async (fields: object): Promise<string[]> => {
    const { status, body } = await app.asAdmin('POST', '/api/cameras', { id: 'a', url, ...fields });
    return status === 400 ? body.errors.map((fault: { path: string }) => fault.path) : [`${status}`];
  };
  const cases: readonly [object, string][] = [
    [{ id: '' }, 'id'],
    [{ id: '../etc' }, 'id'],
    [{ id: 'x'.repeat(65) }, 'id'],
    [{ url: 'http://127.0.0.1/' }, 'url'],
    [{ url: 'rtsp://' }, 'url'],
    [{ url: `rtsp://h/${'x'.repeat(2_048)}` }, 'url'],
    [{ sub_url: 'http://127.0.0.1/' }, 'sub_url'],
    [{ on_demand: 'yes' }, 'on_demand'],
    [{ retention_days: -1 }, 'retention_days'],
    [{ retention_days: 1.5 }, 'retention_days'],
    [{ tags: ['ok', '-bad'] }, 'tags[1]'],
    [{ folder_id: null }, 'folder_id'],
    [{ transport: 'quic' }, 'transport'],
    [{ traffic_limit: '5' }, 'traffic_limit'],
    [{ disabled: 0 }, 'disabled'],
    [{ comment: 'x'.repeat(4_097) }, 'comment'],
    [{ constructor: 1 }, 'constructor'],
  ];
  for (const [fields, path] of cases)
    assert.deepEqual(await faultsOf(fields), [path], JSON.stringify(fields));
  const proto = await app.asAdmin('POST', '/api/cameras', `{"id":"a","url":"${url}","__proto__":{"x":1}}`);
  assert.equal(proto.status, 400);
});

test('lists are sorted by id, whatever the order of making', async () => {
  for (const id of ['b', 'a', 'C', 'a.1'])
    await app.asAdmin('POST', '/api/cameras', { id, url, disabled: true });
  const { body } = await app.asAdmin('GET', '/api/cameras');
  assert.deepEqual(
    body.map(({ id }: { id: string }) => id),
    ['C', 'a', 'a.1', 'b'],
  );
});

test('a deleted tag goes from all cameras, a deleted folder gives what it holds to its parent', async () => {
  for (const id of ['t1', 't2']) await app.asAdmin('POST', '/api/tags', { id, name: id, color: '#123456' });
  await app.asAdmin('POST', '/api/folders', { id: 'top', name: 'Top', parent_id: '' });
  await app.asAdmin('POST', '/api/folders', { id: 'mid', name: 'Mid', parent_id: 'top' });
  await app.asAdmin('POST', '/api/folders', { id: 'low', name: 'Low', parent_id: 'mid' });
  await app.asAdmin('POST', '/api/cameras', {
    id: 'a',
    url,
    tags: ['t2', 't1', 't2', 'later'],
    folder_id: 'mid',
  });
  const tagDeleted = await app.asAdmin('DELETE', '/api/tags/t1');
  const folderDeleted = await app.asAdmin('DELETE', '/api/folders/mid');
  assert.deepEqual(tagDeleted.body, { message: 'tag deleted' });
  assert.deepEqual(folderDeleted.body, { message: 'folder deleted' });
  const [camera] = (await app.asAdmin('GET', '/api/cameras')).body;
  assert.deepEqual([camera.tags, camera.folder_id], [['t2', 'later'], 'top']);
  const { body: folders } = await app.asAdmin('GET', '/api/folders');
  assert.deepEqual(folders, [
    { id: 'low', name: 'Low', parent_id: 'top' },
    { id: 'top', name: 'Top', parent_id: '' },
  ]);
  const own = await app.asAdmin('POST', '/api/folders', { id: 'self', name: 'Self', parent_id: 'self' });
  assert.deepEqual([own.status, own.body.code], [400, 'folder_cycle']);
  assert.equal(connects(), 1, 'none of it touched the stream');
});

test('a deleted camera is gone from list and workers, and may come back under its id', async () => {
  await app.asAdmin('POST', '/api/cameras', { id: 'a', url });
  const { body } = await app.asAdmin('DELETE', '/api/cameras/a');
  assert.deepEqual(body, { message: 'camera deleted' });
  assert.deepEqual((await app.asAdmin('GET', '/api/cameras')).body, []);
  assert.ok(app.told.some((message) => message.type === 'release' && message.closeRing));
  assert.equal((await app.asAdmin('POST', '/api/cameras', { id: 'a', url })).status, 201);
});
