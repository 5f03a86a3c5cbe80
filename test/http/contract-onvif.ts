import assert from 'node:assert/strict';
import { FakeDevice } from '../support/onvif/fake-device.js';
import type { TestApp } from '../support/test-app.js';

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
