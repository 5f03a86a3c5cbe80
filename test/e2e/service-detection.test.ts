import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { brightRectangleModel } from '../support/bright-rectangle-model.js';
import { lampVideo } from '../support/lamp-video.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { parseWebVtt } from '../support/webvtt.js';
import { RecordingService } from './recording-service.js';

type Seen = { t: string; source: string; objects: { label: string; score: number; box: number[] }[] };

test('what is found in a camera’s pictures is in its subtitles, in one event, and in the metrics', async (t) => {
  const dataDir = tempFolder(t);
  mkdirSync(join(dataDir, 'models'));
  writeFileSync(join(dataDir, 'models/bright.onnx'), brightRectangleModel(128));
  writeFileSync(join(dataDir, 'models/bright.json'), JSON.stringify({ labels: ['lamp'] }));
  const env = { DATA_DIR: dataDir, ARCHIVE_DIR: `${dataDir}/recordings`, DETECT_MODEL: 'bright.onnx' };
  const recording = await RecordingService.start(t, { gate: lampVideo(dataDir) }, env);
  const points = [
    [0, 0.5],
    [1, 0.5],
    [1, 1],
    [0, 1],
  ];
  // It stands on the lower edge of the picture itself.
  const zone = { name: 'desk', kind: 'include', points };
  const detection = { min_score: 0.5, zones: [zone] };
  await recording.call('PUT', '/api/cameras/gate', { detect: true, detection });
  const get = (path: string) => recording.call('GET', path);
  const [event] = await until(
    'it is an event',
    async () => {
      const { body } = await get('/api/events?type=detection&label=lamp');
      return body.length > 0 && body;
    },
    { deadlineMs: 60_000, describe: () => recording.service.out().slice(-3_000) },
  );
  assert.deepEqual(
    [event.camera_id, event.to, event.detail, event.score.toFixed(2)],
    ['gate', null, 'desk', '0.90'],
  );
  const cue = await until(
    'it is in the subtitles',
    async () => {
      const { text: playlist } = await get('/stream/hls/gate/subs.m3u8');
      const names = playlist.split('\n').filter((line) => line.startsWith('subs_'));
      const files = await Promise.all(names.map((name) => get(`/stream/hls/gate/${name}`)));
      return files.flatMap(({ text }) => parseWebVtt(text).cues).at(-1);
    },
    { deadlineMs: 60_000 },
  );
  const seen = JSON.parse(cue.text) as Seen;
  assert.deepEqual([seen.source, seen.objects[0]?.label], ['model', 'lamp']);
  for (const [index, value] of [0.5, 0.5, 0.25, 0.5].entries())
    assert.ok(Math.abs((seen.objects[0]?.box[index] ?? 9) - value) < 0.03, cue.text);
  const picture = await until('its picture is drawn', async () => {
    const answer = await get(`/api/events/${event.id}/thumbnail.jpg`);
    return answer.status === 200 && answer;
  });
  assert.equal(picture.headers.get('content-type'), 'image/jpeg');
  assert.equal((await get('/api/cameras/gate')).body.detect_error, '');
  assert.equal((await get('/api/events?type=detection')).body.length, 1, 'not one a second');
  const { gate } = (await get('/api/timeline?camera=gate&bucket_ms=3600000')).body;
  assert.equal(Math.max(...gate.labels.lamp), 1);
  const from = new Date(Date.now() - 600_000).toISOString();
  const detections = `/api/cameras/gate/detections?from=${from}&label=lamp`;
  const kept = await until('it is kept with the recording', async () => {
    const { body } = await get(detections);
    return body.length >= 2 && (body as Seen[]);
  });
  for (const { source, objects } of kept) {
    assert.deepEqual([source, objects.length, objects[0]?.label], ['model', 1, 'lamp']);
    assert.ok(Math.abs((objects[0]?.box[0] ?? 9) - 0.5) < 0.03);
  }
  assert.deepEqual((await get(`${detections}x`)).body, []);
  const { text: metrics } = await get('/metrics');
  assert.match(metrics, /svc_detections_kept_total [1-9]/);
  assert.match(metrics, /svc_detections_lost_total 0/);
  assert.match(metrics, /svc_detections_total\{label="lamp"\} [1-9]/);
});
