import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RuntimeFields, runtimeFieldNames } from '../../src/camera/runtime-fields.js';
import { fieldsTold, toldFields } from '../../src/camera/told-fields.js';

/** As boxes of all versions have them. A new one goes to the end of this list; none ever leaves its place. */
const places = [
  ...['state', 'fps', 'bitrate', 'codec', 'resolution', 'width', 'height', 'uptime_sec', 'traffic_used_mb'],
  ...['last_error', 'audio_codec', 'viewers', 'recording', 'record_error', 'dropped_frames'],
  ...['quirks_active', 'detect_error', 'ptz', 'sub', 'traffic_month'],
] as const;

const shown: RuntimeFields = {
  ...{
    state: 'reconnecting',
    fps: 25,
    bitrate: 900,
    codec: 'avc1.64',
    resolution: '16x9',
    width: 16,
    height: 9,
  },
  ...{ uptime_sec: 7, traffic_used_mb: 1.5, last_error: 'gone', audio_codec: 'aac', viewers: 3 },
  ...{ recording: true, record_error: 'full', dropped_frames: 4, quirks_active: ['teardown'] },
  ...{ detect_error: 'no model', ptz: true, sub: null, owner: 'a' },
};

test('what boxes of another version tell and are told of a camera stands where it always stood', () => {
  assert.deepEqual(
    toldFields(shown, '2026-11'),
    places.map((name) => (name === 'traffic_month' ? '2026-11' : shown[name as keyof RuntimeFields])),
  );
  assert.deepEqual(
    [...places, 'owner'].sort(),
    [...runtimeFieldNames, 'traffic_month'].sort(),
    'nothing is left out',
  );
  const told = toldFields(shown, '2026-11');
  assert.deepEqual(fieldsTold(told, 'a'), shown);
  assert.deepEqual(fieldsTold([...told, 'of a newer version'], 'a'), shown);
  const older = fieldsTold(told.slice(0, -4), 'a');
  assert.deepEqual([older.viewers, older.quirks_active, older.ptz], [3, ['teardown'], false]);
});
