// Run beside the service on the machine of systemd-runs.test.ts: `guest.js PASSWORD` has it record a camera, and makes a
// snapshot. Prints what it saw.
import { callApi } from '../support/api-client.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { until } from '../support/until.js';

const url = 'http://127.0.0.1:8080';
const [, , password] = process.argv;
const camera = await FakeCamera.start({ mounts: { '/gate': { video: fixtures.h264High() } } });
const login = await callApi(url, 'POST', '/api/login', { body: { username: 'admin', password } });
const { token } = login.body;
const body = { id: 'gate', url: camera.url(), record: true };
const { status } = await callApi(url, 'POST', '/api/cameras', { token, body });
// It was there before: that camera is at another address now.
if (status === 409) await callApi(url, 'PUT', '/api/cameras/gate', { token, body: { url: camera.url() } });
const seen = await until(
  'the camera is recorded',
  async () => {
    const { body: list } = await callApi(url, 'GET', '/api/cameras', { token });
    return list[0]?.state === 'streaming' && list[0].recording === true ? list[0] : null;
  },
  { deadlineMs: 60_000 },
);
const headers = { authorization: `Bearer ${token}` };
const snapshot = await fetch(`${url}/api/cameras/gate/snapshot.jpg`, { headers });
const { length } = Buffer.from(await snapshot.arrayBuffer());
process.stdout.write(
  JSON.stringify({ state: seen.state, snapshot: snapshot.status, hasBytes: length > 1_000 }),
);
process.exit(0);
