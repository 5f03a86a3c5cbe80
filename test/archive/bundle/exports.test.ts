import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Exports } from '../../../src/archive/bundle/exports.js';
import type { Clip } from '../../../src/archive/export/clip.js';
import type { ClipRange } from '../../../src/archive/export/clip-layout.js';
import { PinnedClip } from '../../../src/archive/export/pinned-clip.js';
import type { AppError } from '../../../src/base/errors.js';
import { FakeClock } from '../../support/fake-clock.js';

const NOW = new AbortController().signal;
const item = { cameraId: 'door', fromMs: 0, toMs: 1_000 };

const range: ClipRange = {
  source: { path: '/door/a.mp4', isOpen: false, stamp: { ino: 1, sizeBytes: 9, mtimeMs: 9 } },
  ...{ startBytes: 0, endBytes: 9, firstTicks: 0, endTicks: 90, wallMs: 0 },
} as unknown as ClipRange;
const clip = { contentBytes: 9, durationMs: 1, etag: '"a"', lastModifiedMs: 0, close: () => {} };

/** Exports of recordings and gaps that the test counts out. */
const setUp = (found: { recordings: number; gaps: number; subtitles?: string }) => {
  const clock = new FakeClock();
  const exports = new Exports({
    clock,
    clipOf: () => {
      const ranges = new Array<ClipRange>(found.recordings).fill(range);
      return PinnedClip.of(ranges, {
        plan: async () => clip as unknown as Clip,
        relocate: async () => null,
      });
    },
    gapsOf: async () => new Array(found.gaps).fill({ startMs: 0, endMs: 1, reason: 'unknown' }),
    subtitlesOf: async () => found.subtitles ?? null,
    hold: () => ({ release: () => {} }),
  });
  const make = (username: string) =>
    exports.make({ username, items: [item], isZipped: found.subtitles !== undefined, signal: NOW });
  const refusal = (username: string) =>
    make(username).then(
      () => null,
      (fault: AppError) => fault,
    );
  return { clock, exports, make, refusal };
};

test('exports of a user hold no more recordings and gaps than there is memory for, until one ends', async () => {
  const { clock, exports, make, refusal } = setUp({ recordings: 3_000, gaps: 1_000 });
  const first = await make('anna');
  clock.advance(600_000);
  await make('anna');
  const fault = await refusal('anna');
  assert.equal(fault?.code, 'too_many_exports');
  assert.equal(fault?.details['retryAfterSec'], 3_000, 'when the oldest has ended');
  assert.equal(await refusal('ben'), null, 'another user');
  exports.end(first.id);
  assert.equal(await refusal('anna'), null);
  clock.advance(3_600_000);
  assert.equal(exports.count, 0);
  await make('anna');
  await make('anna');
});

test('exports of all users hold no more recordings than there is memory for', async () => {
  const { clock, make, refusal } = setUp({ recordings: 5_000, gaps: 0 });
  for (let user = 0; user < 10; user++) await make(`user${user}`);
  assert.equal((await refusal('late'))?.code, 'archive_busy');
  assert.equal((await refusal('late'))?.code, 'archive_busy', 'what was refused holds nothing');
  clock.advance(3_600_000);
  for (let user = 0; user < 10; user++) await make(`user${user}`);
});

test('what was seen goes along as long as there is memory for it; the clips go in any case', async () => {
  const { make } = setUp({ recordings: 1, gaps: 0, subtitles: 'x'.repeat(1 << 20) });
  const made = [];
  for (let count = 0; count < 5; count++) made.push(await make('anna'));
  const sizes = made.map(({ files }) => files[0]?.subtitles?.length ?? null);
  assert.deepEqual(sizes, [1 << 20, 1 << 20, null, null, null]);
  const { files } = await make('ben');
  assert.equal(files[0]?.subtitles?.length, 1 << 20);
});
