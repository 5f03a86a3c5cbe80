import assert from 'node:assert/strict';
import { FakeDevice } from '../support/onvif/fake-device.js';
import type { TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

/** Devices that nobody waits for in vain: as many as are asked at a time, and one more. */
export const callOnvif = async (app: TestApp): Promise<void> => {
  const silent = await FakeDevice.start({
    ...{ prefix: 's', auth: 'none', media: ['media'], faultStatus: 400, streams: [] },
    instead: () => true,
  });
  const probes = Array.from({ length: 5 }, () =>
    app.asAdmin('POST', '/api/onvif/probe', { address: silent.address }),
  );
  const refused = await Promise.race(probes);
  assert.deepEqual([refused.status, refused.body.code], [429, 'onvif_busy']);
  await silent.stop();
  const answers = await Promise.all(probes);
  assert.equal(answers.filter(({ body }) => body.code === 'camera_unreachable').length, 4);
  const searches = await Promise.all(
    Array.from({ length: 3 }, () => app.asAdmin('GET', '/api/onvif/discover?interface=127.0.0.1&seconds=1')),
  );
  assert.deepEqual(searches.map(({ status }) => status).sort(), [200, 200, 429]);
};

/** A camera that can be moved, one that can't, and one that is gone: all that may come of it. */
export const callPtz = async (app: TestApp): Promise<void> => {
  const stream = { token: 'main', codec: 'H264', width: 1280, height: 720, uri: 'rtsp://x/1', hasPtz: true };
  const device = await FakeDevice.start({
    ...{ prefix: 's', auth: 'token', media: ['media'], faultStatus: 400, hasPtz: true, streams: [stream] },
  });
  const base = '/api/cameras/dome/ptz';
  const onvif = { address: device.address, profile: 'main' };
  await app.asAdmin('POST', '/api/cameras', { id: 'dome', url: 'rtsp://admin:secret@127.0.0.1:1/1', onvif });
  await app.asAdmin('POST', '/api/cameras', { id: 'still', url: 'rtsp://127.0.0.1:1/1', disabled: true });
  await until(
    'it can be moved',
    async () => (await app.asAdmin('GET', '/api/cameras/dome')).body.ptz === true,
  );
  const statusOf = async (method: string, path: string, body?: object): Promise<number> =>
    (await app.asAdmin(method, path, body)).status;
  const all = async (path: string, preset: string): Promise<number[]> => [
    await statusOf('POST', path, { pan: 0.5 }),
    await statusOf('GET', `${path}/presets`),
    await statusOf('POST', `${path}/presets`, { name: 'Door' }),
    await statusOf('POST', path, { preset }),
    await statusOf('DELETE', `${path}/presets/${preset}`),
  ];
  assert.deepEqual(await all(base, '2'), [200, 200, 201, 200, 200]);
  assert.equal(await statusOf('POST', base, { pan: 2 }), 400);
  assert.equal(await statusOf('POST', base, { pan: 1, preset: '1' }), 400);
  assert.deepEqual(await all('/api/cameras/still/ptz', '1'), Array(5).fill(409));
  assert.deepEqual(await all('/api/cameras/unknown/ptz', '1'), Array(5).fill(404));
  await device.stop();
  assert.deepEqual(await all(base, '1'), Array(5).fill(502));
  for (const id of ['dome', 'still']) await app.asAdmin('DELETE', `/api/cameras/${id}`);
};
