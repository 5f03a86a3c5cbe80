import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { closedName } from '../../src/archive/files/file-name.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { Versitygw, withoutStore } from '../support/versitygw.js';
import { encodeVideo, RecordingService } from './recording-service.js';

/** Recordings are copied a minute after they were closed. */
const COPIED_WITHIN_MS = 180_000;
/** Of two days ago. */
const LONG_MS = Date.now() - 2 * 86_400_000;
const LONG = closedName(LONG_MS, LONG_MS + 3_600_000);
const LONG_BYTES = 100 << 20;

const figureOf = async (recording: RecordingService, name: string): Promise<number> => {
  const text = await (await fetch(new URL('/metrics', recording.service.metricsUrl))).text();
  return Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1]);
};

test('recordings are copied to a store; kill -9 of the service, and of the store, cost what was on its way', {
  skip: withoutStore,
}, async (t) => {
  const store = await Versitygw.start(t);
  const folder = tempFolder(t);
  const archiveDir = join(folder, 'archive');
  const copied = (name: string): string =>
    join(store.folder, 'recordings/site/gate', name.slice(0, 10), name.replace(/\.mp4$/, '_0_box-1.mp4'));
  const isCopied = (name: string): boolean =>
    existsSync(copied(name)) &&
    readFileSync(copied(name)).equals(readFileSync(join(archiveDir, 'gate', name)));
  mkdirSync(join(archiveDir, 'gate'), { recursive: true });
  writeFileSync(join(archiveDir, 'gate', LONG), randomBytes(LONG_BYTES));
  // By which it is known that the clock is right.
  const justNow = closedName(Date.now() - 1_200_000, Date.now() - 600_000);
  writeFileSync(join(archiveDir, 'gate', justNow), randomBytes(1_000));
  const recording = await RecordingService.start(
    t,
    { gate: encodeVideo(folder, 1, 10) },
    {
      ...{ DATA_DIR: folder, ARCHIVE_DIR: archiveDir, RECORD_FILE_SECONDS: '5', BOX_NAME: 'box-1' },
      ...{ ARCHIVE_S3: store.url('recordings/site'), ARCHIVE_S3_MBIT: '40', ARCHIVE_LOCAL_DAYS: '1' },
    },
  );
  const describe = (): string => recording.service.out().slice(-2_000);
  await recording.untilRecording();
  const sent = (): Promise<number> => figureOf(recording, 'svc_s3_sent_bytes_total');
  await until('half of it is on its way', async () => (await sent()) > LONG_BYTES / 2, {
    ...{ deadlineMs: COPIED_WITHIN_MS, describe },
  });
  await recording.kill();
  await store.kill();
  await recording.run({ ARCHIVE_S3_MBIT: '0' });
  await until(
    'it is told that the store is away',
    async () => {
      const { body } = await recording.service.call('GET', '/readyz');
      return body.status === 'ready' && /can't be reached/.test(body.remarks.archive_s3);
    },
    { describe },
  );
  await recording.untilRecording();
  await store.start();
  await until('the long one is there', () => isCopied(LONG), { deadlineMs: COPIED_WITHIN_MS, describe });
  // A part of 16 MB each lane was on its way, and one may have been whole without anybody having heard of it.
  assert.ok((await sent()) < LONG_BYTES * 0.8, `${await sent()} bytes were sent again`);
  const name = await until(
    'some that were recorded now are there, too',
    () => {
      const names = recording.files('gate').filter((one) => one !== LONG && !one.includes('ongoing'));
      return names.filter(isCopied).length > 2 && names[0];
    },
    { deadlineMs: COPIED_WITHIN_MS, describe },
  );
  await until('the store is up', async () => (await figureOf(recording, 'svc_s3_up')) === 1, { describe });
  // Rules that have changed are gone by within a minute: the long one is older than the disk is to have it.
  await recording.call('PUT', '/api/cameras/gate', { retention_days: 6 });
  await until('the long one has left the disk', () => !recording.files('gate').includes(LONG), {
    ...{ deadlineMs: COPIED_WITHIN_MS, describe },
  });
  assert.ok(existsSync(copied(LONG)));
  assert.equal((await recording.archive('gate'))[0]?.filename, LONG);
  // What is deleted goes there, too.
  const listed = await recording.archive('gate');
  const behind = listed[listed.findIndex(({ filename }) => filename === name) + 1]!;
  const to = encodeURIComponent(behind.end);
  const { status, body } = await recording.call(
    'DELETE',
    `/api/cameras/gate/archive?from=${new Date(0).toISOString()}&to=${to}`,
  );
  assert.equal(status, 200);
  assert.ok(body.deleted >= 2, String(body.deleted));
  await until('they are gone', () => !existsSync(copied(LONG)) && !existsSync(copied(name)), {
    ...{ deadlineMs: COPIED_WITHIN_MS, describe },
  });
  assert.equal(await recording.service.stop(), 0);
  assert.doesNotMatch(recording.service.out() + recording.service.err(), /se(?:\/|%2F)cret/);
  assert.deepEqual(
    readdirSync(join(store.folder, 'recordings'))
      .filter((entry) => !entry.startsWith('.'))
      .sort(),
    ['site'],
  );
});
