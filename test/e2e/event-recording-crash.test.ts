import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseRecordingName } from '../../src/archive/files/file-name.js';
import { decodedHashes, runQuietly } from '../fmp4/ffmpeg.js';
import { brightRectangleModel } from '../support/bright-rectangle-model.js';
import { readVideoStream } from '../support/elementary-stream.js';
import { watchLateness } from '../support/lateness.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { RecordingService } from './recording-service.js';

const FRAMES_A_SECOND = 15;
const GOP_MS = 1_000;
const SECONDS = 240;
/** So long that something was seen for certain before it, though the service is killed soon after. */
const LAMP_SEC = 50;
const FILE_SECONDS = 4;
/** So long the box was off. */
const AWAY_MS = 150_000;
const PRE_ROLL_MS = 5_000;
/** What a crash of the process may cost, and what the last keyframe before it began. */
const MOST_LOST_MS = 1_000 + GOP_MS;
/** What a killed service may not have seen: since a look at which the pictures of ten seconds were on their way. */
const MOST_UNSEEN_MS = 10_000 + 10_000;
const patient = { deadlineMs: 90_000 };

/** Dark pictures, each another, with a lamp from some second on. */
const lampLater = (path: string): void => {
  const source = [
    `testsrc2=size=320x180:rate=${FRAMES_A_SECOND}:duration=${SECONDS}`,
    "lutyuv=y='val*0.25':u=128:v=128",
    `drawbox=x=160:y=90:w=80:h=80:color=white:t=fill:enable='gte(t,${LAMP_SEC})'`,
  ].join(',');
  const gop = ['-g', String(FRAMES_A_SECOND), '-sc_threshold', '0', '-bf', '0'];
  const encoder = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast', ...gop, path];
  execFileSync('ffmpeg', ['-v', 'error', '-y', '-f', 'lavfi', '-i', source, ...encoder]);
};

test('a service that is killed amid a passage has it after the restart, and lets go of what was seen before it alone', async (t) => {
  const dataDir = tempFolder(t);
  mkdirSync(join(dataDir, 'models'));
  writeFileSync(join(dataDir, 'models/bright.onnx'), brightRectangleModel(128));
  writeFileSync(join(dataDir, 'models/bright.json'), JSON.stringify({ labels: ['lamp'] }));
  const path = join(dataDir, 'lamp.264');
  lampLater(path);
  // The next start is as if it had come later, in all of its threads: what is decided on has to be a minute old.
  const later = join(dataDir, 'later.cjs');
  writeFileSync(later, `const now = Date.now; Date.now = () => now() + ${AWAY_MS};`);
  const video = readVideoStream(path, { codec: 'h264', frameRateHz: FRAMES_A_SECOND });
  const env = {
    ...{ DATA_DIR: dataDir, ARCHIVE_DIR: `${dataDir}/recordings`, DETECT_MODEL: 'bright.onnx' },
    RECORD_FILE_SECONDS: String(FILE_SECONDS),
  };
  const recording = await RecordingService.start(t, { gate: video }, env);
  await recording.call('PUT', '/api/cameras/gate', { detect: true, record_mode: 'events' });
  const describe = () => `${recording.files('gate').join(' ')} ${recording.service.out().slice(-3_000)}`;
  const passages = async () => (await recording.call('GET', '/api/events?type=detection')).body;
  const [told] = await until('the lamp is on', async () => (await passages()).length > 0 && passages(), {
    ...patient,
    describe,
  });
  assert.equal(told.to, null);
  const fromMs = Date.parse(told.from);
  const closed = () =>
    recording.files('gate').filter((name) => (parseRecordingName(name)?.endMs ?? 0) > fromMs + 1_000);
  const isWritten = () => {
    const open = recording.files('gate').find((name) => name.includes('ongoing'));
    return open !== undefined && (parseRecordingName(open)?.startMs ?? Number.NaN) < Date.now() - 2 * GOP_MS;
  };
  const latenessMs = watchLateness(t);
  const { atMs: onTimeMs, lateMs } = await until(
    'some of it is closed, and some is being written',
    async () => {
      const onTime = await recording.untilOnTime();
      return closed().length > 0 && isWritten() && onTime;
    },
    { ...patient, describe },
  );
  const killedMs = await recording.kill();
  const open = recording.files('gate').find((name) => name.includes('ongoing'));
  assert.ok(open, 'it was being recorded');
  const before = recording.files('gate').filter((name) => parseRecordingName(name) !== null);
  await recording.run({ NODE_OPTIONS: `--require=${later}` });
  const late = latenessMs();
  const leastMs = killedMs - MOST_UNSEEN_MS - PRE_ROLL_MS - FILE_SECONDS * 1_000 - 2 * GOP_MS - 2 * late;
  const isOfThen = (startMs: number): boolean => startMs < killedMs;
  const kept = await until(
    'what was before it is gone',
    async () => {
      const entries = (await recording.archive('gate'))
        .map(({ start, end, filename }) => ({ filename, startMs: Date.parse(start), endMs: Date.parse(end) }))
        .filter(({ startMs }) => isOfThen(startMs));
      const { text } = await recording.call('GET', '/metrics');
      const isDone = /^svc_event_recordings_total\{outcome="deleted"\} [1-9]/m.test(text);
      return isDone && entries[0]!.startMs > leastMs && entries;
    },
    { ...patient, describe },
  );
  const [first, last] = [kept[0]!, kept.at(-1)!];
  const early = fromMs - PRE_ROLL_MS - first.startMs;
  assert.ok(early >= 0, `it begins ${early} ms before the pre-roll`);
  assert.ok(
    last.endMs > onTimeMs - MOST_LOST_MS - 2 * lateMs,
    `it ends ${onTimeMs - last.endMs} ms before the kill`,
  );
  const [event] = (await passages()).filter(({ id }: { id: string }) => id === told.id);
  const toMs = Date.parse(event.to);
  assert.ok(toMs >= fromMs && toMs <= killedMs, 'it is over, and ended before the kill');
  for (const { filename } of kept) runQuietly('ffprobe', [recording.pathOf('gate', filename)]);
  const source = decodedHashes(path, 'v');
  const hashes = kept.flatMap(({ filename }) => decodedHashes(recording.pathOf('gate', filename), 'v'));
  const offset = source.indexOf(hashes[0]!);
  assert.ok(
    offset > 0 && offset % FRAMES_A_SECOND === 0,
    'it begins with a keyframe, and not with the first',
  );
  assert.deepEqual(hashes, source.slice(offset, offset + hashes.length), 'frame by frame, without a hole');
  const gone = before.filter((name) => !recording.files('gate').includes(name));
  assert.ok(gone.length >= 2, `${gone.length} of ${before.length} files were let go`);
  assert.deepEqual(
    recording.files('gate').filter((name) => /\.(cut-|broken|piece-)/.test(name)),
    [],
  );
  assert.equal(await recording.service.stop(), 0);
});
