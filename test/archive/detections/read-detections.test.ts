import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { appendDetections } from '../../../src/archive/detections/append-detections.js';
import { encodeRecord, type KeptDetection } from '../../../src/archive/detections/detection-record.js';
import { type DetectionPlace, readDetections } from '../../../src/archive/detections/read-detections.js';
import { PAGE_BYTES } from '../../../src/archive/detections/sidecar-pages.js';
import { sidecarName } from '../../../src/archive/files/sidecar-name.js';
import { tempFolder } from '../../support/temp-folder.js';
import { readAll, START_MS, seen } from './rig.js';

const SIDECAR = sidecarName(START_MS);

/** By all system calls of this process until now (proc_pid_io(5)). */
const bytesRead = (): number => Number(/^rchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);

/** Writes these, in several goes. */
const write = (archiveDir: string, detections: readonly KeptDetection[], goes = 3): string => {
  const folder = join(archiveDir, 'gate');
  mkdirSync(folder);
  const each = Math.max(Math.ceil(detections.length / goes), 1);
  let knownBytes: number | null = null;
  for (let at = 0; at < detections.length; at += each) {
    const records = Buffer.concat(detections.slice(at, at + each).map(encodeRecord));
    const append = {
      cameraId: 'gate',
      sidecar: SIDECAR,
      knownBytes,
      isNew: knownBytes === null,
      records,
      isLast: false,
    };
    const [result] = appendDetections({ archiveDir, appends: [append] });
    if (result === undefined || !('fileBytes' in result)) assert.fail(JSON.stringify(result));
    knownBytes = result.fileBytes;
  }
  return folder;
};

test('pages of any size have each detection once, in the order of time, whatever came late', (t) => {
  const spread = fc.array(fc.tuple(fc.nat(200_000), fc.nat(20_000), fc.constantFrom('person', 'car')), {
    maxLength: 400,
  });
  let count = 0;
  fc.assert(
    fc.property(spread, fc.integer({ min: 1, max: 50 }), fc.boolean(), (times, limit, isFiltered) => {
      const archiveDir = tempFolder(t);
      count += 1;
      // Times rise but for what comes late.
      const sorted = times.toSorted(([a], [b]) => a - b);
      const written = sorted.map(([at, lateMs, label]) => seen(START_MS + at - lateMs, label));
      const folder = write(archiveDir, written);
      const [fromMs, toMs] = [START_MS + 20_000, START_MS + 150_000];
      const labels = isFiltered ? ['car'] : null;
      const found: KeptDetection[] = [];
      let behind: DetectionPlace | null = null;
      for (let page = 0; page < 1_000; page += 1) {
        const sidecars = [{ name: SIDECAR, startMs: START_MS, endMs: Number.POSITIVE_INFINITY }];
        // As if a page of the file were all that one job may read.
        const input = { folder, sidecars, fromMs, toMs, labels, limit, behind, maxBytes: PAGE_BYTES };
        const { detections, next } = readDetections(input);
        assert.ok(detections.length <= limit);
        found.push(...detections);
        behind = next;
        if (next === null) break;
      }
      const expected = written
        .filter(({ wallMs }) => wallMs >= fromMs && wallMs < toMs)
        .filter(({ objects }) => !isFiltered || objects[0]?.label === 'car')
        .toSorted((a, b) => a.wallMs - b.wallMs);
      assert.equal(behind, null, 'it comes to an end');
      assert.deepEqual(found, expected);
    }),
    { numRuns: 60 },
  );
  assert.ok(count >= 60);
});

test('a moment is found by a few reads in a sidecar of hundreds of pages', (t) => {
  const archiveDir = tempFolder(t);
  const written = Array.from({ length: 150_000 }, (_, at) => seen(START_MS + at * 1_000));
  const folder = write(archiveDir, written);
  const fromMs = START_MS + 100_000_000;
  const sidecars = [{ name: SIDECAR, startMs: START_MS, endMs: Number.POSITIVE_INFINITY }];
  const input = { folder, sidecars, fromMs, toMs: fromMs + 5_000, labels: null, limit: 100, behind: null };
  const beforeBytes = bytesRead();
  const { detections, next } = readDetections(input);
  const pages = (bytesRead() - beforeBytes) / PAGE_BYTES;
  assert.deepEqual([detections.length, next], [5, null]);
  assert.ok(pages < 20, `${pages} pages`);
});

test('damage costs the rest of its page alone; what is no sidecar has nothing', (t) => {
  const archiveDir = tempFolder(t);
  const written = Array.from({ length: 3_000 }, (_, at) => seen(START_MS + at * 1_000));
  const folder = write(archiveDir, written);
  const path = join(folder, SIDECAR);
  const bytes = readFileSync(path);
  bytes[PAGE_BYTES + 1_000]! ^= 0xff;
  writeFileSync(path, bytes);
  const found = readAll(folder, [SIDECAR]);
  assert.ok(found.length > 2_500 && found.length < 3_000, `${found.length}`);
  writeFileSync(path, 'no sidecar');
  appendFileSync(path, bytes.subarray(10));
  assert.deepEqual(readAll(folder, [SIDECAR]), []);
});

test('a moment that the clock leapt ahead for a while costs no page what follows', (t) => {
  const archiveDir = tempFolder(t);
  const times = Array.from({ length: 2_000 }, (_, at) => START_MS + at * 1_000);
  const leapt = seen(START_MS + 40 * 86_400_000, 'leapt');
  const written = times.map((wallMs) => seen(wallMs));
  const folder = write(archiveDir, [...written.slice(0, 3), leapt, ...written.slice(3)], 1);
  const found: KeptDetection[] = [];
  let behind: DetectionPlace | null = null;
  do {
    const sidecars = [{ name: SIDECAR, startMs: START_MS, endMs: times.at(-1)! + 1_000 }];
    const span = { fromMs: START_MS, toMs: START_MS + 30 * 86_400_000, labels: null, limit: 5_000 };
    const { detections, next } = readDetections({ ...span, folder, sidecars, behind, maxBytes: PAGE_BYTES });
    found.push(...detections);
    behind = next;
  } while (behind !== null);
  assert.deepEqual(found, written);
});

test('gigabytes of garbage behind a right head are not read through, and cost no other sidecar anything', (t) => {
  const archiveDir = tempFolder(t);
  const folder = write(archiveDir, [seen(START_MS)]);
  truncateSync(join(folder, SIDECAR), 8 * 2 ** 30);
  const laterMs = START_MS + 3_600_000;
  const records = encodeRecord(seen(laterMs));
  const append = {
    cameraId: 'gate',
    sidecar: sidecarName(laterMs),
    knownBytes: null,
    isNew: true,
    records,
    isLast: false,
  };
  appendDetections({ archiveDir, appends: [append] });
  const sidecars = [START_MS, laterMs].map((startMs) => ({
    ...{ name: sidecarName(startMs), startMs, endMs: startMs + 60_000 },
  }));
  const found: KeptDetection[] = [];
  let behind: DetectionPlace | null = null;
  const beganBytes = bytesRead();
  do {
    const input = { folder, sidecars, fromMs: START_MS, toMs: laterMs + 60_000, labels: null, limit: 100 };
    const { detections, next } = readDetections({ ...input, behind });
    found.push(...detections);
    behind = next;
  } while (behind !== null);
  assert.deepEqual(found, [seen(START_MS), seen(laterMs)]);
  const took = bytesRead() - beganBytes;
  assert.ok(took < 64 * 2 ** 20, `${took} bytes of eight gigabytes`);
});
