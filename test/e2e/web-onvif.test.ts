import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { spawnCameraWorker } from '../../src/camera/fleet/worker-thread.js';
import { AppBrowser, type AppPage } from '../support/browser/app-page.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { FakeDevice } from '../support/onvif/fake-device.js';
import { startTestApp, type TestApp, USER_PASSWORD } from '../support/test-app.js';
import { until } from '../support/until.js';

const PASSWORD = 's3cret-onvif';
let app: TestApp;
let browser: AppBrowser;
let camera: FakeCamera;
let device: FakeDevice;

before(async () => {
  camera = await FakeCamera.start({
    mounts: { '/main': { video: fixtures.h264High(), pacing: { mode: 'live', speed: 2 } } },
    auth: { user: 'admin', password: PASSWORD, schemes: ['digest-md5'] },
  });
  const { port } = camera;
  device = await FakeDevice.start({
    ...{ prefix: 's', auth: 'token', media: ['media'], faultStatus: 400, hasPtz: true, password: PASSWORD },
    streams: [
      {
        ...{ token: 'main', codec: 'H264', width: 320, height: 180, hasPtz: true },
        uri: `rtsp://10.9.8.7:${port}/main`,
      },
    ],
  });
  app = await startTestApp({ spawn: spawnCameraWorker });
  browser = await AppBrowser.launch();
});
after(async () => {
  await browser.close();
  await app.stop();
  await device.stop();
  await camera.close();
});

const button = (page: AppPage, name: string | RegExp) => page.page.getByRole('button', { name }).first();

const isMovable = (id: string) =>
  until('it is known that it can be moved', async () => {
    const { body } = await app.asAdmin('GET', `/api/cameras/${id}`);
    return body.ptz === true ? body : null;
  });

test('a device is asked what it is, its camera is added and moved for as long as a button is held', async () => {
  const page = await browser.signedIn(app.url, { username: 'operator', password: USER_PASSWORD });
  await page.go('/cameras');
  await button(page, 'Find on the network').click();
  await page.page.getByLabel('User of the cameras').fill('admin');
  await page.page.getByLabel('Password', { exact: true }).fill('wrong');
  await page.page.getByLabel('Another address').fill(device.address);
  await page.page.keyboard.press('Enter');
  await button(page, 'Ask 1').click();
  await page.page.locator('dialog [role=alert]').waitFor();
  assert.equal(await button(page, 'Add 0').isDisabled(), true);
  await page.page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await button(page, 'Ask 1').click();
  await page.page.getByText(/h264 320×180/).waitFor();
  await page.page.getByText('can be moved').waitFor();
  assert.deepEqual(await page.axe(), []);
  await button(page, 'Add 1').click();
  await page.page.getByText('Camera added').first().waitFor();
  const [{ id }] = (await app.asAdmin('GET', '/api/cameras')).body;
  const added = await isMovable(id);
  assert.deepEqual(added.onvif, {
    address: `http://${device.address}/onvif/device_service`,
    profile: 'main',
  });

  await page.go(`/camera/${id}`);
  await button(page, 'Move the camera').click();
  await button(page, 'Gate').click();
  await until('it went there', () => device.operations.includes('GotoPreset'));
  const left = button(page, 'Left');
  await left.hover();
  await page.page.mouse.down();
  // Said again for as long as it is held.
  await until('it moves', () => device.operations.filter((each) => each === 'ContinuousMove').length >= 2);
  assert.equal(device.operations.at(-1), 'ContinuousMove');
  await page.page.mouse.up();
  await until('it stands', () => device.operations.at(-1) === 'Stop');
  await page.page.getByLabel('Name of this place').fill('Door');
  await button(page, 'Keep this place').click();
  await button(page, 'Door').waitFor();
  assert.deepEqual([...device.presets.values()], ['Gate', 'Door']);
  assert.deepEqual(await page.axe(), []);
  assert.deepEqual(page.faults, []);
  await page.close();
});

test('where a camera is asked by ONVIF is changed in its form, its password unseen', async () => {
  await app.asAdmin('POST', '/api/cameras', {
    ...{ id: 'gate', url: 'rtsp://127.0.0.1:1/x' },
    onvif: { address: '127.0.0.1:1', username: 'admin', password: PASSWORD },
  });
  const page = await browser.signedIn(app.url, { username: 'operator', password: USER_PASSWORD });
  await page.go('/cameras?edit=gate');
  const address = page.page.getByLabel('Device address');
  assert.equal(await address.inputValue(), '127.0.0.1:1');
  assert.equal(await page.page.getByLabel('ONVIF password').inputValue(), '***');
  await address.scrollIntoViewIfNeeded();
  await address.fill('ftp://nowhere');
  await button(page, 'Save').click();
  await page.page.getByText('must be a host, with a port if need be').first().waitFor();
  await address.fill(device.address);
  await button(page, 'Save').click();
  await page.page.getByText('gate was saved').first().waitFor();
  const { onvif } = await isMovable('gate');
  assert.deepEqual(onvif, { address: device.address, username: 'admin', password: PASSWORD });

  await page.go('/cameras?edit=gate');
  for (const name of ['Device address', 'ONVIF user', 'ONVIF password'])
    await page.page.getByLabel(name).fill('');
  assert.deepEqual(await page.axe(), []);
  await button(page, 'Save').click();
  await page.page.getByText('gate was saved').first().waitFor();
  await until('it is asked no more', async () => {
    const { body } = await app.asAdmin('GET', '/api/cameras/gate');
    assert.deepEqual(body.onvif, {});
    return body.ptz === false;
  });
  assert.doesNotMatch(await page.page.content(), new RegExp(PASSWORD));
  assert.deepEqual(
    page.faults.filter((fault) => !fault.includes('status of 400')),
    [],
  );
  await page.close();
});
