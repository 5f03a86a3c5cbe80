import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MoveHold, type Speed } from '../../src/web/pages/camera/move-hold.js';
import {
  isFit,
  isHere,
  knownAs,
  newCameras,
  type Offer,
  typedDevice,
} from '../../src/web/pages/cameras/find/found.js';

const tested = (ok: boolean): NonNullable<Offer['main']['test']> => ({
  ...{ ok, code: ok ? 'ok' : 'timeout', detail: '', codec: 'h264', width: 640, height: 360, fps: 25 },
  ...{ keyframe_ms: 1_000, reorder: 0, audio_codec: '', test_id: '' },
});

const offer = (name: string, main: boolean | null, sub: boolean | null): Offer => ({
  name,
  camera: {
    ...{ url: `rtsp://a:b@h/${name}`, sub_url: `rtsp://a:b@h/${name}/sub` },
    onvif: { address: 'http://h/', profile: name },
  },
  main: {
    ...{ profile: 'm', codec: 'h264', width: 1, height: 1 },
    test: main === null ? null : tested(main),
  },
  sub: { ...{ profile: 's', codec: 'h264', width: 1, height: 1 }, test: sub === null ? null : tested(sub) },
  ...{ snapshot_url: '', ptz: false },
});

const result = (model: string) => ({
  ...{ ok: true, code: 'ok', detail: '', remarks: [], profiles: [], cameras: [] },
  device: {
    ...{ address: 'http://h/', manufacturer: 'Maker', model, firmware: '', serial: '', clock_offset_sec: 0 },
    offers: { media2: false, ptz: false, imaging: false, events: false, analytics: false, metadata: false },
  },
});

test('what a device offers becomes cameras with ids that nobody has, without a smaller stream that failed', () => {
  const device = { address: 'http://h/', host: '10.0.0.5', name: '', hardware: '' };
  const made = newCameras(
    [
      { device, result: result('Dome 4K'), offer: offer('', true, true) },
      { device, result: result('Dome 4K'), offer: offer('', true, false) },
      { device, result: result('x'), offer: offer('Yard', null, null) },
    ],
    ['Yard'],
    'north',
  );
  assert.deepEqual(
    made.map(({ id, sub_url, folder_id, onvif }) => [id, sub_url, folder_id, onvif?.address]),
    [
      ['Dome-4K', 'rtsp://a:b@h//sub', 'north', 'http://h/'],
      ['Dome-4K-2', '', 'north', 'http://h/'],
      ['Yard-2', 'rtsp://a:b@h/Yard/sub', 'north', 'http://h/'],
    ],
  );
  assert.deepEqual(
    [isFit(offer('', true, null)), isFit(offer('', null, null)), isFit(offer('', false, null))],
    [true, true, false],
  );
});

test('a camera that is here already is known by its host', () => {
  const cameras = [{ id: 'gate', url: 'rtsp://u:p@10.0.0.5:8554/1' }];
  assert.deepEqual(
    ['10.0.0.5', '10.0.0.55', ''].map((host) => knownAs(host, cameras)),
    ['gate', '', ''],
  );
  assert.ok(isHere(offer('1', null, null), [{ url: 'rtsp://x:y@H/1' }]));
  assert.ok(!isHere(offer('2', null, null), [{ url: 'rtsp://h/1' }]));
  assert.deepEqual(
    ['10.0.0.5', 'http://10.0.0.5:8000/onvif', ' cam.lan:80 '].map((text) => typedDevice(text).host),
    ['10.0.0.5', '10.0.0.5', 'cam.lan'],
  );
});

test('what is held down is said again and again, one at a time, and at last that it is over', async () => {
  const said: Speed[] = [];
  const answers: { resolve: () => void; reject: (fault: Error) => void }[] = [];
  let beat = (): void => {};
  let timers = 0;
  const hold = new MoveHold({
    send: (speed) => {
      said.push(speed);
      return new Promise((resolve, reject) => answers.push({ resolve, reject }));
    },
    every: (_, callback) => {
      beat = callback;
      timers += 1;
      return () => {
        timers -= 1;
      };
    },
  });
  const left = { pan: -0.5 };
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  hold.begin(left);
  hold.begin(left);
  beat();
  assert.deepEqual([said, timers], [[left], 1], 'the first is still on its way');
  answers[0]?.resolve();
  await turn();
  beat();
  assert.equal(said.length, 2);
  hold.end();
  hold.end();
  assert.deepEqual([said.slice(2), timers], [[{ pan: 0, tilt: 0, zoom: 0 }], 0]);
  answers[1]?.resolve();
  answers[2]?.resolve();
  await turn();
  hold.begin(left);
  answers[3]?.reject(new Error('refused'));
  await turn();
  assert.deepEqual([said.length, timers], [5, 0], 'what is refused is let go');
});
