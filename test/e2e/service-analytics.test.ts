import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modern, notification } from '../analytics/documents.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { undisturbed } from '../support/undisturbed.js';
import { until } from '../support/until.js';
import { parseWebVtt } from '../support/webvtt.js';

type Seen = { t: string; source: string; objects: { label: string; score: number; box: number[] }[] };

const LATE_MS = 300;
/** By then the reports of both tracks have come, and the wall time of a busy machine's first frame was made up for. */
const SETTLED_MS = 15_000;

test('what a camera’s own analytics see is in its subtitles at its time, and in events', async (t) => {
  const camera = await FakeCamera.start({
    mounts: { '/gate': { video: fixtures.h264Baseline(), hasMetadata: true } },
  });
  t.after(() => camera.close());
  const service = await startService({ DATA_DIR: tempFolder(t) });
  t.after(() => service.process.kill('SIGKILL'));
  const token = await service.login('admin', service.adminPassword);
  const call = (method: string, path: string, body?: unknown) =>
    service.call(method, path, { token, ...(body === undefined ? {} : { body }) });
  await call('POST', '/api/cameras', {
    ...{ id: 'gate', url: camera.url('/gate'), lazy_hls: false },
    detection: { labels: ['person'], min_score: 0.5 },
  });
  await camera.until(({ playing }) => playing === 1);
  /** Walks from left to right, a hundredth of the picture in each second. */
  const beganMs = Date.now();
  const xAt = (ms: number): number => Math.min(Math.max(0, (ms - beganMs) / 100_000), 0.8);
  const walking = setInterval(() => {
    const atMs = Date.now() - LATE_MS;
    const objects = [
      { id: '9', likelihood: 0.87, box: [xAt(atMs), 0.25, 0.125, 0.5] as const },
      { id: '10', type: 'Animal', box: [0.5, 0.5, 0.1, 0.1] as const },
    ];
    camera.sendMetadata(modern(0, objects), { wallMs: atMs, packetBytes: 300 });
  }, 100);
  t.after(() => clearInterval(walking));
  const topic = 'tns1:RuleEngine/FieldDetector/ObjectsInside';
  const source = { VideoSourceConfigurationToken: '1', Rule: 'Yard' };
  const tell = (value: string): void =>
    camera.sendMetadata(notification(Date.now(), { topic, source, data: { IsInside: value } }));

  const cues = async (): Promise<Seen[]> => {
    const { status, text: playlist } = await call('GET', '/stream/hls/gate/subs.m3u8');
    if (status !== 200) return [];
    const names = playlist.split('\n').filter((line: string) => line.startsWith('subs_'));
    const files = await Promise.all(names.map((name: string) => call('GET', `/stream/hls/gate/${name}`)));
    return files.flatMap(({ text }) => parseWebVtt(text).cues.map((cue) => JSON.parse(cue.text) as Seen));
  };
  // A camera that was held up tells of what is now before pictures of seconds ago: that isn't believed.
  await undisturbed(t, async () => {
    const fromMs = Math.max(beganMs + SETTLED_MS, Date.now());
    const seen = await until(
      'it is in the subtitles',
      async () => {
        const settled = (await cues()).filter((cue) => Date.parse(cue.t) > fromMs);
        return settled.length >= 15 && settled;
      },
      { describe: () => service.out().slice(-3_000) },
    );
    for (const { t: time, source, objects } of seen) {
      assert.deepEqual([source, objects.map(({ label }) => label).join()], ['onvif', 'person']);
      const apartMs = Math.abs(objects[0]!.box[0]! - xAt(Date.parse(time))) * 100_000;
      assert.ok(apartMs < 200, `${Math.round(apartMs)} ms away from where it was`);
    }
  });
  const events = async (query: string) => (await call('GET', `/api/events?${query}`)).body;
  assert.deepEqual(
    (await events('type=detection')).map((event: { label: string; score: number }) => [
      event.label,
      event.score,
    ]),
    [['person', 0.87]],
  );
  const [{ id }] = await events('type=detection');
  const picture = await until(
    'its picture is drawn',
    async () => {
      const answer = await call('GET', `/api/events/${id}/thumbnail.jpg`);
      return answer.status === 200 && answer;
    },
    { deadlineMs: 60_000 },
  );
  assert.equal(picture.headers.get('content-type'), 'image/jpeg');
  tell('true');
  const [rule] = await until('the rule is an event', async () => {
    const found = await events('type=rule');
    return found.length > 0 && found;
  });
  assert.deepEqual([rule.camera_id, rule.label, rule.to], ['gate', 'Yard', null]);
  tell('false');
  await until('it is over', async () => (await events('type=rule'))[0].to !== null, { deadlineMs: 60_000 });
  const { text: metrics } = await call('GET', '/metrics');
  for (const name of ['documents', 'objects'])
    assert.match(metrics, new RegExp(`svc_metadata_${name}_total\\{camera_id="gate"\\} [1-9]`));
  assert.match(metrics, /svc_metadata_refused_total\{camera_id="gate"\} 0/);
});
