import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { FakeDevice } from '../support/onvif/fake-device.js';
import { FakeEvents } from '../support/onvif/fake-events.js';
import { startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const motion = (isOn: boolean) => ({
  topic: 'tns1:RuleEngine/CellMotionDetector/Motion',
  source: { VideoSourceConfigurationToken: 'c', Rule: 'Porch' },
  data: { IsMotion: String(isOn) },
  operation: 'Changed',
  // Its clock is years behind.
  atMs: Date.now() - 3e11,
});

test('motion of a camera that tells it by ONVIF alone is an event, with begin and end', {
  timeout: 120_000,
}, async (t) => {
  const camera = await FakeCamera.start({
    mounts: { '/main': { video: fixtures.h264High(), pacing: { mode: 'live', speed: 1 } } },
  });
  t.after(() => camera.close());
  const events: FakeEvents = new FakeEvents({ path: '/onvif/PullSubManager?Idx=#' }, () => device.address);
  events.aheadMs = -3e11;
  const device: FakeDevice = await FakeDevice.start({
    ...{ prefix: 's', auth: 'digest', media: ['media'], faultStatus: 400, hasEvents: true },
    ...{ clockOffsetMs: events.aheadMs, instead: events.instead },
    streams: [{ token: 'main', codec: 'H264', width: 320, height: 180, uri: camera.url('/main') }],
  });
  t.after(() => device.stop());
  const service = await startService({ DATA_DIR: tempFolder(t) });
  t.after(() => service.process.kill('SIGKILL'));
  const token = await service.login('admin', service.adminPassword);
  const added = await service.call('POST', '/api/cameras', {
    token,
    body: {
      ...{ id: 'porch', url: camera.url('/main') },
      onvif: { address: device.address, username: 'admin', password: 'secret' },
    },
  });
  assert.equal(added.status, 201, added.text);
  await until('it is asked', () => events.isAsked);
  const toldMs = Date.now();
  events.tell(motion(true));
  const eventNow = async () => (await service.call('GET', '/api/events?type=motion', { token })).body[0];
  const begun = await until('it is an event', eventNow);
  assert.deepEqual([begun.camera_id, begun.label, begun.to], ['porch', 'Porch', null]);
  assert.ok(Math.abs(Date.parse(begun.from) - toldMs) < 5_000, begun.from);
  await until('it is asked again', () => events.isAsked);
  events.tell(motion(false));
  const ended = await until('it is over', async () => {
    const event = await eventNow();
    return event.to !== null && event;
  });
  assert.ok(Date.parse(ended.to) - Date.parse(ended.from) < 30_000, JSON.stringify(ended));
  assert.equal(await service.stop(), 0);
  await until('it is told that nobody asks any more', () => events.asked.at(-1)?.operation === 'Unsubscribe');
});
