import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../../src/base/errors.js';
import { newCameraSchema } from '../../src/http/camera-schemas.js';
import { readPeer } from '../../src/import/read-peer.js';
import { tempFolder } from '../support/temp-folder.js';

const MEDIAMTX = `
api: yes
pathDefaults: { record: yes, recordDeleteAfter: 36h }
paths:
  front/door: { source: 'rtsp://u:canary@10.0.0.2/a', rtspTransport: udp, sourceOnDemand: yes, runOnReady: x }
  front door: { source: 'rtsps://10.0.0.3/b', recordDeleteAfter: 0s }
  phone: {}
  roof: { source: 'rtmp://10.0.0.4/c' }
  ~^cam: { source: 'rtsp://10.0.0.5/$G1' }
`;

test('MediaMTX: paths that are pulled become cameras with ids of their own, the rest is listed', () => {
  const { cameras, leftOut } = readPeer(MEDIAMTX);
  assert.deepEqual(
    cameras.map(({ id, transport, on_demand, record, retention_days }) => [
      id,
      transport,
      on_demand,
      record,
      retention_days,
    ]),
    [
      ['front-door', 'udp', true, true, 2],
      ['front-door-2', 'tcp', false, true, 0],
    ],
  );
  assert.deepEqual(
    leftOut.map(({ where }) => where),
    ['the file', 'front/door', 'phone', 'roof', '~^cam'],
  );
  assert.match(leftOut[1]!.why, /runOnReady/);
});

test('MediaMTX: a duration that can not be read is told, and never means for ever', () => {
  const daysOf = (written: string) => {
    const { cameras, leftOut } = readPeer(
      `paths: { a: { source: 'rtsp://h/a', recordDeleteAfter: ${written} } }`,
    );
    assert.equal(cameras.length, 1);
    const isTold = leftOut.some(({ where, why }) => where === 'a' && why.includes('recordDeleteAfter'));
    assert.equal(isTold, cameras[0]?.retention_days === undefined, written);
    return cameras[0]?.retention_days;
  };
  const read = { '0s': 0, '0': 0, '300ms': 1, '1d12h': 2, '1h30m': 1, '168h': 7, '""': undefined };
  for (const [written, days] of Object.entries(read)) assert.equal(daysOf(written), days, written);
  for (const written of ['a week', '7 days', '7', '-1d', '1w', '[1d]', '999999d', '1dd'])
    assert.equal(daysOf(written), undefined, written);
});

test('go2rtc: ffmpeg and rtspx stand for RTSP, WebSocket and sound alone do not, options show no password', () => {
  const { cameras, leftOut } = readPeer(`
streams:
  sound: ['rtsp://10.0.0.2/a#media=audio', 'ffmpeg:rtsp://10.0.0.2/b#audio=opus', 'rtsp://10.0.0.2/c#backchannel=0']
  copied: { url: 'ffmpeg:rtsp://10.0.0.3/a#video=copy#audio=aac' }
  unifi: rtspx://10.0.0.4:7441/a
  axis: rtsp://10.0.0.5/a#transport=ws://u:canary@10.0.0.5/ws
  hashed: rtsp://10.0.0.6/user=u_password=x#canary@10.0.0.6/a
  odd: [{ toString: x }, canary:x]
`);
  assert.deepEqual(
    cameras.map(({ id, url }) => [id, url]),
    [
      ['sound', 'rtsp://10.0.0.2/c'],
      ['copied', 'rtsp://10.0.0.3/a'],
      ['unifi', 'rtsps://10.0.0.4:7441/a'],
      ['hashed', 'rtsp://10.0.0.6/user=u_password=x'],
    ],
  );
  assert.deepEqual(
    leftOut.map(({ where }) => where),
    [
      'sound, source 1',
      'sound, source 2',
      'copied, source 1',
      'axis, source 1',
      'hashed, source 1',
      'odd, source 1',
      'odd, source 2',
    ],
  );
  assert.doesNotMatch(JSON.stringify(leftOut), /canary/);
});

test('go2rtc: the first RTSP source counts, its options are told, programs are not run', () => {
  const { cameras, leftOut } = readPeer(`
streams:
  yard: ['ffmpeg:yard#audio=aac', 'rtsp://10.0.0.2/a#transport=udp#timeout=9', 'rtsp://10.0.0.2/b']
  gate: exec:cat /etc/hostname
`);
  assert.deepEqual(
    cameras.map(({ id, url, transport }) => [id, url, transport]),
    [['yard', 'rtsp://10.0.0.2/a', 'udp']],
  );
  assert.deepEqual(
    leftOut.map(({ where }) => where),
    ['yard, source 1', 'yard, source 2', 'yard, source 3', 'gate, source 1'],
  );
});

test('Frigate: roles, restreams, what is kept and looked for; variables are listed', () => {
  const { cameras, leftOut } = readPeer(`
go2rtc: { streams: { yard: ['rtsp://10.0.0.2/main#backchannel=0'] } }
record: { enabled: true, retain: { days: 3 } }
cameras:
  yard:
    ffmpeg: { inputs: [{ path: 'rtsp://127.0.0.1:8554/yard', roles: [record] }, { path: 'rtsp://10.0.0.2/sub', roles: [detect] }] }
    detect: { enabled: true }
    objects: { track: [person, dog] }
    zones: { lawn: { coordinates: '0,0,1,0,1,1' } }
  gate: { ffmpeg: { inputs: [{ path: 'rtsp://u:{FRIGATE_PASSWORD}@10.0.0.3/a', roles: [detect] }] } }
`);
  const [yard] = cameras;
  assert.equal(cameras.length, 1);
  assert.deepEqual([yard?.url, yard?.sub_url], ['rtsp://10.0.0.2/main', 'rtsp://10.0.0.2/sub']);
  assert.deepEqual(
    [yard?.record, yard?.retention_days, yard?.event_retention_days, yard?.detect],
    [true, 3, 10, true],
  );
  assert.deepEqual(yard?.detection?.labels, ['person', 'dog']);
  assert.match(leftOut.find(({ where }) => where === 'yard')?.why ?? '', /zones/);
  assert.match(leftOut.find(({ where }) => where === 'gate')?.why ?? '', /variable/);
});

test('Frigate: settings merge down to the innermost, and every one that is dropped is listed', () => {
  const { cameras, leftOut } = readPeer(`
version: 0.17-0
mqtt: { enabled: false }
record: { enabled: true, alerts: { retain: { days: 30, mode: all } }, expire_interval: 5 }
detect: { enabled: true, width: 1280 }
go2rtc: { streams: { spare: rtsp://10.0.0.9/a }, webrtc: { listen: x } }
cameras:
  yard:
    ffmpeg:
      hwaccel_args: preset-vaapi
      inputs: [{ path: rtsp://10.0.0.2/a, roles: [detect, record], input_args: x }, { path: rtsp://10.0.0.2/b, roles: [audio] }]
    record: { alerts: { pre_capture: 9 }, detections: { retain: { days: 2 } }, motion: { days: 3 } }
    detect: { fps: 5, stationary: { interval: 9 } }
    objects: { filters: { person: { min_score: 0.5 } } }
  gate: { ffmpeg: { inputs: [{ path: 'rtsp://127.0.0.1:8554/none', roles: [record] }] } }
`);
  assert.deepEqual(
    cameras.map(({ retention_days, event_retention_days, detect }) => [
      retention_days,
      event_retention_days,
      detect,
    ]),
    [[3, 30, true]],
  );
  assert.deepEqual(
    leftOut.map(({ where, why }) => `${where}: ${why.replace('not taken over: ', '')}`),
    [
      'the file: mqtt, record.alerts.retain.mode, record.expire_interval, detect.width, go2rtc.webrtc',
      'yard, input 2: a camera has two streams at most, each once',
      'yard: ffmpeg.hwaccel_args, record.alerts.pre_capture, detect.fps, detect.stationary, objects.filters',
      'yard, input 1: input_args',
      'yard: what has no motion is kept too',
      'gate: is a stream of go2rtc that has no source here',
      'go2rtc, spare: no camera has this stream',
    ],
  );
});

test('Frigate: where nothing is said of detection, it is on in files of before 0.16 only', () => {
  const isDetecting = (version: string) =>
    readPeer(`${version}\ncameras: { a: { ffmpeg: { inputs: [{ path: rtsp://h/a, roles: [detect] }] } } }`)
      .cameras[0]?.detect;
  assert.deepEqual(['', 'version: 0.15-1', 'version: 0.16-0', 'version: 0.17-0'].map(isDetecting), [
    true,
    true,
    false,
    false,
  ]);
});

test('whatever a file holds, only cameras that the API takes are planned, or the file is refused', () => {
  const file = fc.record({ key: fc.constantFrom('paths', 'streams', 'cameras'), value: fc.jsonValue() });
  const named = fc.record({
    key: fc.constant('streams'),
    value: fc.dictionary(fc.string(), fc.constant('rtsp://h/a')),
  });
  fc.assert(
    fc.property(fc.oneof(file, named), ({ key, value }) => {
      const { cameras } = readPeer(JSON.stringify({ [key]: value }));
      for (const camera of cameras) assert.ok(newCameraSchema.safeParse(camera).success);
      assert.equal(new Set(cameras.map(({ id }) => id.toLowerCase())).size, cameras.length);
    }),
  );
  const isRefused = (text: string) =>
    assert.throws(
      () => readPeer(text),
      (fault) => fault instanceof AppError,
    );
  const laughs = [
    'a0: &a0 [x, x]',
    ...Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}, *a${i}, *a${i}]`),
  ];
  for (const text of [laughs.join('\n'), '['.repeat(100_000), 'x'.repeat(1_000_001), '', ': : :'])
    isRefused(text);
});

test('the command prints what would be made, and no password', (t) => {
  const file = join(tempFolder(t), 'mediamtx.yml');
  writeFileSync(file, MEDIAMTX);
  const command = join(import.meta.dirname, '../../src/import/main.js');
  const { status, stdout } = spawnSync(process.execPath, [command, file], { encoding: 'utf8' });
  assert.equal(status, 0);
  assert.match(stdout, /"id":"front-door"/);
  assert.doesNotMatch(stdout, /canary/);
  assert.equal(spawnSync(process.execPath, [command, file, '--apply']).status, 2);
});
