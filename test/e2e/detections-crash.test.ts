import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { RECORD_HEAD_BYTES } from '../../src/archive/detections/detection-record.js';
import { parseRecordingName } from '../../src/archive/files/file-name.js';
import { parseSidecarName, sidecarOf } from '../../src/archive/files/sidecar-name.js';
import { openEvents } from '../support/api-client.js';
import { brightRectangleModel } from '../support/bright-rectangle-model.js';
import { readVideoStream, type VideoStream } from '../support/elementary-stream.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { RecordingService } from './recording-service.js';

/** More of them, in a long run by hand. */
const KILLS = Number(process.env['KILLS'] ?? 2);
const FILE_SECONDS = 6;
/** What has been told for so long is there for good. */
const MAX_LOST_MS = 1_000;
/** Until the pictures are on the disk, what is in them is known, and that is written, too: on a busy machine. */
const MAX_UNWRITTEN_MS = 15_000;
/** Of a sidecar. */
const HEAD_BYTES = 8;
const patient = { deadlineMs: 90_000 };

/** A lamp that is somewhere else every three seconds: somebody else each time. */
const jumpingLamp = (folder: string): VideoStream => {
  const path = join(folder, 'jumping-lamp.264');
  const sources = [
    'color=black:size=320x180:rate=15:duration=12',
    'color=white:size=40x40:rate=15:duration=12',
  ];
  const overlay = "[0][1]overlay=x='if(lt(mod(t,6),3),10,270)':y='if(lt(t,6),10,130)':eval=frame";
  execFileSync('ffmpeg', [
    ...['-v', 'error', '-y', ...sources.flatMap((source) => ['-f', 'lavfi', '-i', source])],
    ...['-filter_complex', overlay, '-pix_fmt', 'yuv420p', '-c:v', 'libx264'],
    ...['-g', '15', '-sc_threshold', '0', '-bf', '0', path],
  ]);
  return readVideoStream(path, { codec: 'h264', frameRateHz: 15 });
};

type Told = { readonly id: string; readonly atMs: number };

/** The events that a page was told of, and when it was. */
const listen = async ({ service, token }: RecordingService) => {
  const told = new Map<string, Told>();
  const stream = await openEvents(service.url, '/api/events/stream?topic=events', token);
  const take = (): void => {
    for (const [, json = ''] of stream.text().matchAll(/^data: (\{"topic".*)$/gm)) {
      const { id, set } = JSON.parse(json);
      if (set.type === 'detection' && !told.has(id)) told.set(id, { id, atMs: Date.now() });
    }
  };
  const timer = setInterval(take, 20);
  const end = (): Told[] => {
    clearInterval(timer);
    take();
    stream.close();
    return [...told.values()];
  };
  return { told, end };
};

test('kill -9 loses no event that was told a second before, and of what was seen the last seconds alone', async (t) => {
  const dataDir = tempFolder(t);
  mkdirSync(join(dataDir, 'models'));
  writeFileSync(join(dataDir, 'models/bright.onnx'), brightRectangleModel(128));
  writeFileSync(join(dataDir, 'models/bright.json'), JSON.stringify({ labels: ['lamp'] }));
  const env = {
    ...{ DATA_DIR: dataDir, ARCHIVE_DIR: join(dataDir, 'archive'), DETECT_MODEL: 'bright.onnx' },
    RECORD_FILE_SECONDS: String(FILE_SECONDS),
  };
  const recording = await RecordingService.start(t, { gate: jumpingLamp(dataDir) }, env);
  await recording.call('PUT', '/api/cameras/gate', { detect: true, detection: { min_score: 0.5 } });
  const startedMs = Date.now() - 60_000;
  const kept = async (): Promise<string[]> => {
    const from = new Date(startedMs).toISOString();
    const { body } = await recording.call('GET', `/api/cameras/gate/detections?from=${from}&limit=5000`);
    return body.map((detection: object) => JSON.stringify(detection));
  };
  for (let kill = 0; kill < KILLS; kill += 1) {
    const listener = await listen(recording);
    const before = (await recording.call('GET', '/api/events?type=detection&limit=1000')).body.length;
    await until('there are events', () => listener.told.size >= 3, {
      ...patient,
      describe: () => recording.service.out().slice(-3_000),
    });
    await until('what is seen is kept', async () => (await kept()).length > (kill + 1) * 5, patient);
    const { atMs: onTimeMs, lateMs } = await recording.untilOnTime();
    const listed = await kept();
    const killedMs = await recording.kill();
    const told = listener.end();
    // As if the power had gone amid a write. Between two files there is none for a moment.
    const open = recording.files('gate').filter((name) => name.includes('ongoing'));
    const torn = open.map((name) => recording.pathOf('gate', sidecarOf(name)!)).filter(existsSync);
    const wholeBytes = torn.map((path) => statSync(path).size);
    for (const path of torn) {
      const bytes = readFileSync(path);
      const record = bytes.subarray(
        HEAD_BYTES,
        HEAD_BYTES + RECORD_HEAD_BYTES + bytes.readUInt16BE(HEAD_BYTES),
      );
      appendFileSync(path, record.subarray(0, -3));
    }
    await recording.run();
    await until('it is closed', () => !recording.files('gate').some((name) => open.includes(name)), patient);
    const { body: events } = await recording.call('GET', '/api/events?type=detection&limit=1000');
    const ids = new Set(events.map(({ id }: { id: string }) => id));
    const lost = told.filter(({ id, atMs }) => onTimeMs - atMs > MAX_LOST_MS + lateMs && !ids.has(id));
    assert.deepEqual(lost, [], `of ${told.length} that were told`);
    assert.ok(events.length > before);
    const after = await kept();
    assert.deepEqual(
      after.slice(0, listed.length),
      listed,
      'what was listed is there, and nothing before it is new',
    );
    const lastMs = Math.max(
      ...after.map((json) => Date.parse(JSON.parse(json).t)).filter((seenMs) => seenMs < killedMs),
    );
    assert.ok(killedMs - lastMs < MAX_UNWRITTEN_MS + 2 * lateMs, `${killedMs - lastMs} ms, beside ${lateMs}`);
    assert.deepEqual(
      torn.map((path) => statSync(path).size),
      wholeBytes,
      'the torn end is cut',
    );
    for (const name of recording.files('gate'))
      assert.ok(parseRecordingName(name) !== null || parseSidecarName(name)?.kind === 'current', name);
    t.diagnostic(
      `${told.length} events told, ${after.length} detections, the last ${killedMs - lastMs} ms before`,
    );
  }
  assert.equal(await recording.service.stop(), 0);
});
