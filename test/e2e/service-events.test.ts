import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openEvents } from '../support/api-client.js';
import { fixtures } from '../support/fixtures.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { RecordingService } from './recording-service.js';

type Change = { readonly topic: string; readonly id: string; readonly set: Record<string, unknown> };

test('a page is told of a camera and its recordings as they come and go', { timeout: 240_000 }, async (t) => {
  const dataDir = tempFolder(t);
  const env = { DATA_DIR: dataDir, ARCHIVE_DIR: `${dataDir}/recordings` };
  const recording = await RecordingService.start(t, { gate: fixtures.h264High() }, env);
  await recording.untilRecording();
  const events = await openEvents(
    recording.service.url,
    '/api/events/stream?topic=cameras,events',
    recording.token,
  );
  const changes = (): Change[] =>
    [...events.text().matchAll(/^data: (\{"topic".*)$/gm)].map(([, json]) => JSON.parse(json!));
  const states = (topic: string) =>
    changes().flatMap(({ topic: of, set }) => (of === topic && 'state' in set ? [set['state']] : []));
  await until('it has begun', () => events.text().includes('event: reset'));
  await recording.call('PUT', '/api/cameras/gate', { record: false });
  await until('the file is closed', () => states('events').includes('closed'));
  const [closed] = changes().filter(({ topic }) => topic === 'events');
  assert.match(closed?.id ?? '', /^gate\/2\d\d\d-/);
  assert.equal(closed?.set['camera_id'], 'gate');
  assert.equal(closed?.id, `gate/${closed?.set['from']}`);
  await recording.call('PUT', '/api/cameras/gate', { record: true });
  await until('another one is begun', () => states('events').includes('begun'));
  await recording.call('PUT', '/api/cameras/gate', { disabled: true });
  await until('it is off', () => states('cameras').includes('disabled'));
  await recording.call('PUT', '/api/cameras/gate', { disabled: false });
  await until('it is back', () => states('cameras').at(-1) === 'streaming');
  events.close();
  const url = recording.camera.url('/gate');
  const { body: result } = await recording.call('POST', '/api/cameras/test', { url });
  assert.deepEqual([result.ok, result.width, result.height], [true, 320, 180]);
  const shown = await recording.call('GET', `/api/cameras/test/${result.test_id}/frames`);
  assert.deepEqual([shown.status, shown.headers.get('content-type')], [200, 'application/octet-stream']);
  assert.ok(shown.text.length > 5_000);
});
