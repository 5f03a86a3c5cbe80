import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WallMs } from '../../../src/base/clock.js';
import { KeptText } from '../../../src/live/hls/kept-text.js';
import { lowLatencyPlaylist } from '../../../src/live/hls/ll-playlist.js';
import { videoPlaylist } from '../../../src/live/hls/playlists.js';
import type { Part, SegmentStart } from '../../../src/live/hls/segment.js';
import { Numbers, SegmentWindow } from '../../../src/live/hls/window.js';
import { seededRandom } from '../../support/seeded-random.js';

const start = (isDiscontinuity: boolean): SegmentStart => ({
  head: { info: {}, init: { version: 3, bytes: Buffer.alloc(0) } } as unknown as SegmentStart['head'],
  ...{ isKey: true, ptsTicks: 0, dtsTicks: 0, wallMs: 0, isDiscontinuity },
});

const part = (durationTicks: number): Part => ({
  ...{ bytes: Buffer.alloc(10), samples: new Float64Array(), durationTicks, hasKey: false },
});

test('what is kept is what would be written now, for whoever asks, whatever has happened', () => {
  const random = seededRandom(7);
  const window = new SegmentWindow(new Numbers(0 as WallMs));
  const writers = [
    videoPlaylist,
    (now: SegmentWindow, suffix: string) => lowLatencyPlaylist(now, suffix, false),
    (now: SegmentWindow, suffix: string) => lowLatencyPlaylist(now, suffix, true),
  ];
  const kept = writers.map((write) => new KeptText(write));
  const steps = [
    () => window.begin(start(random() < 0.2)),
    () => window.addPart(part(18_000 + Math.floor(random() * 2_000))),
    () => window.addPart(part(18_000)),
    () => window.complete(18_000 * (window.open?.parts.length ?? 0)),
    () => window.fitParts(5_000 + random() * 10_000),
    () => random() < 0.1 && window.clear(),
  ];
  for (let step = 0; step < 2_000; step += 1) {
    steps[Math.floor(random() * steps.length)]!();
    for (const suffix of ['', '?session=one', '?session=two&stream=sub', '?session=one', '']) {
      for (const [index, write] of writers.entries())
        assert.equal(kept[index]!.of(window, suffix), write(window, suffix));
    }
  }
});

test('a playlist is written once for all who ask for the same state of it', () => {
  const window = new SegmentWindow(new Numbers(0 as WallMs));
  let written = 0;
  const kept = new KeptText((_window, suffix) => {
    written += 1;
    return `one${suffix} two${suffix} ${written}`;
  });
  const asked = ['', '?session=one', '?session=two', ''].map((suffix) => kept.of(window, suffix));
  assert.deepEqual(asked, [
    'one two 1',
    'one?session=one two?session=one 1',
    'one?session=two two?session=two 1',
    'one two 1',
  ]);
  window.clear();
  assert.equal(kept.of(window, ''), 'one two 2');
});
