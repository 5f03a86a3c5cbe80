import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { decodedHashes } from '../fmp4/ffmpeg.js';
import { brightRectangleModel } from '../support/bright-rectangle-model.js';
import { readVideoStream } from '../support/elementary-stream.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { RecordingService } from './recording-service.js';

const FRAMES_A_SECOND = 15;
const GOP_MS = 1_000;
const SECONDS = 50;

/** When what is kept begins, the wall time of the stream has long been found, and a file has begun before it for certain. */
const LAMP_SEC = 20;

/** Dark pictures, each another, with a lamp for three seconds. */
const lampAtTimes = (path: string): void => {
  const source = [
    `testsrc2=size=320x180:rate=${FRAMES_A_SECOND}:duration=${SECONDS}`,
    "lutyuv=y='val*0.25':u=128:v=128",
    `drawbox=x=160:y=90:w=80:h=80:color=white:t=fill:enable='between(t,${LAMP_SEC},${LAMP_SEC + 2.99})'`,
  ].join(',');
  const gop = ['-g', String(FRAMES_A_SECOND), '-sc_threshold', '0', '-bf', '0'];
  const encoder = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast', ...gop, path];
  execFileSync('ffmpeg', ['-v', 'error', '-y', '-f', 'lavfi', '-i', source, ...encoder]);
};

test('a camera that is recorded by events keeps a passage with what is before and after, frame by frame, and nothing else', async (t) => {
  const dataDir = tempFolder(t);
  mkdirSync(join(dataDir, 'models'));
  writeFileSync(join(dataDir, 'models/bright.onnx'), brightRectangleModel(128));
  writeFileSync(join(dataDir, 'models/bright.json'), JSON.stringify({ labels: ['lamp'] }));
  const path = join(dataDir, 'lamp.264');
  lampAtTimes(path);
  const video = readVideoStream(path, { codec: 'h264', frameRateHz: FRAMES_A_SECOND });
  const env = {
    ...{ DATA_DIR: dataDir, ARCHIVE_DIR: `${dataDir}/recordings`, DETECT_MODEL: 'bright.onnx' },
    RECORD_FILE_SECONDS: '6',
  };
  const recording = await RecordingService.start(t, { gate: video }, env);
  await recording.call('PUT', '/api/cameras/gate', { detect: true, record_mode: 'events' });
  const describe = () => recording.service.out().slice(-3_000);
  const event = await until(
    'the lamp was on, and is off again',
    async () => {
      const { body } = await recording.call('GET', '/api/events?type=detection');
      return body.find(({ to }: { to: string | null }) => to !== null);
    },
    { deadlineMs: 180_000, describe },
  );
  const [fromMs, toMs] = [Date.parse(event.from), Date.parse(event.to)];
  const [keptFromMs, keptToMs] = [fromMs - 5_000, toMs + 10_000];
  // The lamp's next time is so long after this one that it has nothing of the time until then.
  const kept = await until(
    'what belongs to no event is gone',
    async () => {
      const entries = (await recording.archive('gate'))
        .map(({ start, end, filename }) => ({ filename, startMs: Date.parse(start), endMs: Date.parse(end) }))
        .filter(({ startMs }) => startMs < keptToMs + 15_000);
      const isSettled = entries.every(
        ({ startMs, endMs }) => startMs > keptFromMs - 2 * GOP_MS && endMs < keptToMs + 2 * GOP_MS,
      );
      return isSettled && (entries.at(-1)?.endMs ?? 0) >= keptToMs - 2 && entries;
    },
    { deadlineMs: 240_000, describe },
  );
  const [first, last] = [kept[0]!, kept.at(-1)!];
  assert.ok(
    first.startMs <= keptFromMs + 2 && first.startMs > keptFromMs - GOP_MS - 100,
    `${first.startMs - fromMs}`,
  );
  // Names of files and events are rounded to milliseconds, each by itself.
  assert.ok(last.endMs >= keptToMs - 2 && last.endMs < keptToMs + GOP_MS + 100, `${last.endMs - toMs}`);
  const source = decodedHashes(path, 'v');
  const hashes = kept.flatMap(({ filename }) => decodedHashes(recording.pathOf('gate', filename), 'v'));
  const offset = source.indexOf(hashes[0]!);
  assert.equal(offset % FRAMES_A_SECOND, 0, 'it begins with a keyframe');
  assert.deepEqual(
    hashes,
    hashes.map((_, index) => source[(offset + index) % source.length]),
  );
  assert.equal(Math.round((last.endMs - first.startMs) / GOP_MS) * FRAMES_A_SECOND, hashes.length);
  const range = `from=${new Date(keptFromMs - 5_000).toISOString()}&to=${new Date(keptToMs + 5_000).toISOString()}`;
  const { body } = await recording.call('GET', `/api/cameras/gate/recordings?${range}`);
  assert.deepEqual(
    [body.intervals.length, ...body.gaps.map(({ reason }: { reason: string }) => reason)],
    [1, 'no_event', 'no_event'],
  );
  const span = `from=${new Date(fromMs).toISOString()}&to=${new Date(toMs + 1).toISOString()}`;
  const seen = await recording.call('GET', `/api/cameras/gate/detections?${span}&label=lamp`);
  assert.equal(seen.status, 200);
  assert.ok(seen.text.includes('lamp'), 'what was seen stays beside the pieces');
});
