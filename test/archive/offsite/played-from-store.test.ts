import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Archive } from '../../../src/archive/archive.js';
import { encodeRecord } from '../../../src/archive/detections/detection-record.js';
import { pagesOf } from '../../../src/archive/detections/sidecar-pages.js';
import { sidecarName } from '../../../src/archive/files/sidecar-name.js';
import { MAX_ANSWER_BYTES } from '../../../src/archive/offsite/mailbox.js';
import { until } from '../../support/until.js';
import { Versitygw, withoutStore } from '../../support/versitygw.js';
import { buildRecording, writeClosed } from '../recording-file.js';
import { archiveOf } from './archive-beside-store.js';
import { CopierRig } from './copier-rig.js';

const START_MS = Date.UTC(2026, 10, 21, 8, 30, 0, 125);
const ID = 'door';

const all = async (content: {
  read(from: number, to: number): AsyncIterable<Buffer>;
  contentBytes: number;
  close(): void;
}) => {
  const pieces: Buffer[] = [];
  for await (const piece of content.read(0, content.contentBytes)) pieces.push(Buffer.from(piece));
  content.close();
  return Buffer.concat(pieces);
};

/** All that can be asked of a camera's recordings. */
const allOf = async ({ requests }: Archive, names: readonly string[]) => {
  const [fromMs, toMs] = [START_MS, START_MS + 120_000];
  const [fileName = ''] = names;
  const frames = await requests.frames(
    ID,
    { fromMs, toMs, keysOnly: false, everyMs: null, isBackwards: false },
    'viewer',
  );
  const batches: Buffer[] = [];
  for await (const batch of frames.read()) batches.push(Buffer.from(batch));
  frames.close();
  const detections = { fromMs, toMs, labels: null, limit: 100, behind: null };
  const content = await requests.content(ID, { fileName });
  return {
    list: (await requests.list(ID)).map(({ stored, ...recording }) => recording),
    intervals: await requests.intervals(ID, fromMs, toMs),
    playlist: Buffer.concat(await requests.archivePlaylist(ID, { fileName, session: null })),
    range: Buffer.concat(await requests.rangePlaylist(ID, { fromMs, toMs, session: null })),
    master: await requests.archiveMaster(ID, { fileName, session: null }),
    cues: await requests.segmentSubtitles(ID, { fileName, seq: 0 }),
    segment: (await requests.segment(ID, { fileName, seq: 1 })).bytes,
    keyFrames: await requests.keyFramePlaylist(ID, { fileName, session: null }),
    etag: content.etag,
    file: await all(content),
    clip: await all(await requests.clip(ID, { fromMs: fromMs + 2_000, toMs: fromMs + 25_000 }, 'viewer')),
    frames: Buffer.concat(batches),
    detections: Buffer.from((await requests.detections(ID, detections)).json).toString(),
  };
};

const fails = (code: string) => (fault: unknown) => (fault as { code?: string }).code === code;

test('what has left the disk is listed and played as before, of the store', {
  skip: withoutStore,
}, async (t) => {
  const store = await Versitygw.start(t);
  const rig = new CopierRig(t, store);
  const folder = join(rig.archiveDir, ID);
  const names = [
    // Larger than a question of a job may be, and one without its index.
    writeClosed(folder, { startMs: START_MS, fragments: 16, frameBytes: 60_000 }),
    writeClosed(folder, { startMs: START_MS + 20_000, fragments: 8, hasIndex: false }),
    writeClosed(folder, { startMs: START_MS + 40_000 }),
  ];
  assert.ok(
    buildRecording({ startMs: START_MS, fragments: 16, frameBytes: 60_000 }).bytes.length > MAX_ANSWER_BYTES,
  );
  const objects = [{ label: 'person', score: 0.5, zone: 'yard', box: [0.1, 0.2, 0.3, 0.4] as const }];
  const records = [0, 500, 21_000].map((ms) =>
    encodeRecord({ wallMs: START_MS + ms, source: 'model', objects }),
  );
  writeFileSync(join(folder, sidecarName(START_MS)), pagesOf(records, 0));
  const before = archiveOf(t, rig, false);
  const told = await allOf(before, names);
  await before.stop();
  assert.match(told.cues, /person/);
  rig.start();
  await rig.untilIdle();
  const nothing = { cameraIds: [], limits: [], eras: [], spared: [] };
  rig.copier.expire({ ...nothing, localBeforeMs: START_MS + 40_000 });
  await until('two have left the disk', () => readdirSync(folder).length === 1);
  await rig.stop();
  const archive = archiveOf(t, rig, true);
  archive.offsite!.start();
  assert.deepEqual(await allOf(archive, names), told);
  await store.kill();
  // What is written of them here is enough for lists; what isn't in mind can't be read.
  assert.equal((await archive.requests.list(ID)).length, 3);
  const segment = { fileName: names[0]!, seq: 3 };
  await assert.rejects(archive.requests.segment(ID, segment), fails('store_unavailable'));
  assert.ok((await archive.requests.segment(ID, { fileName: names[2]!, seq: 0 })).bytes.length > 0);
  await store.start();
  await until('it is played again', () =>
    archive.requests.segment(ID, segment).then(
      ({ bytes }) => bytes.length > 0,
      () => false,
    ),
  );
  // Deleted on request: also what the store has alone.
  assert.equal(await archive.requests.deleteWithin(ID, START_MS, START_MS + 60_000), 3);
  assert.deepEqual(await archive.requests.list(ID), []);
  await assert.rejects(archive.requests.segment(ID, segment), fails('not_found'));
});

test('what the store has lost of what was seen keeps nobody from the rest', {
  skip: withoutStore,
}, async (t) => {
  const rig = new CopierRig(t, await Versitygw.start(t));
  const folder = join(rig.archiveDir, ID);
  const objects = [{ label: 'person', score: 0.5, zone: 'yard', box: [0.1, 0.2, 0.3, 0.4] as const }];
  const names = [0, 20_000].map((atMs) => {
    const startMs = START_MS + atMs;
    const name = writeClosed(folder, { startMs, fragments: 8 });
    const record = encodeRecord({ wallMs: startMs + 500, source: 'model', objects });
    writeFileSync(join(folder, sidecarName(startMs)), pagesOf([record], 0));
    return name;
  });
  rig.start();
  await rig.untilIdle();
  rig.copier.expire({ cameraIds: [], limits: [], eras: [], spared: [], localBeforeMs: START_MS + 60_000 });
  await until('they have left the disk', () => readdirSync(folder).length === 0);
  await rig.stop();
  rmSync(rig.objectPath(ID, names[0]!).replace(/\.mp4$/, '.detections'));
  const archive = archiveOf(t, rig, true);
  archive.offsite!.start();
  const asked = { fromMs: START_MS, toMs: START_MS + 60_000, labels: null, limit: 100, behind: null };
  const { json } = await archive.requests.detections(ID, asked);
  const told = JSON.parse(Buffer.from(json).toString()) as { t: string }[];
  assert.deepEqual(
    told.map((one) => one.t),
    [new Date(START_MS + 20_500).toISOString()],
  );
});

test('who plays a recording goes on when it leaves the disk', { skip: withoutStore }, async (t) => {
  const rig = new CopierRig(t, await Versitygw.start(t));
  mkdirSync(join(rig.archiveDir, ID), { recursive: true });
  const name = writeClosed(join(rig.archiveDir, ID), {
    startMs: START_MS,
    fragments: 16,
    frameBytes: 60_000,
  });
  rig.start();
  await rig.untilIdle();
  const archive = archiveOf(t, rig, true);
  archive.offsite!.start();
  const content = await archive.requests.content(ID, { fileName: name });
  const whole = await all(content);
  const reading = (await archive.requests.content(ID, { fileName: name })).read(0, whole.length);
  const pieces = [(await reading.next()).value as Buffer];
  rig.copier.expire({ cameraIds: [], limits: [], eras: [], spared: [], localBeforeMs: START_MS + 40_000 });
  await until('it has left the disk', () => readdirSync(join(rig.archiveDir, ID)).length === 0);
  for await (const piece of reading) pieces.push(piece);
  assert.ok(Buffer.concat(pieces).equals(whole));
});
