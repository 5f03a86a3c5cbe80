import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Archive } from '../../src/archive/archive.js';
import { ArchiveRequests } from '../../src/archive/archive-requests.js';
import { Timeline } from '../../src/archive/list/timeline.js';
import { systemClock } from '../../src/base/clock.js';
import { noDeletions } from '../support/fake-archive.js';
import { FakeClock } from '../support/fake-clock.js';
import { fixtures } from '../support/fixtures.js';
import { tempFolder } from '../support/temp-folder.js';
import { CAMERA_ID, film, makeArchive, textOf } from './filmed.js';
import { logLines } from './log-lines.js';
import { noEvents } from './no-events.js';
import { nobodyWrites } from './nobody-writes.js';
import { alwaysThere } from './opened-root.js';
import { writeClosed } from './recording-file.js';

const START_MS = Date.UTC(2026, 10, 21, 8, 30, 0, 125);

test('however many ask at once, each is answered when it is its turn', async (t) => {
  const archiveDir = tempFolder(t);
  const cameras = Array.from({ length: 60 }, (_, at) => `camera-${at}`);
  const names = cameras.map((id) => writeClosed(join(archiveDir, id), { startMs: START_MS }));
  const archive = new Archive(
    {
      archiveDir,
      factsDir: tempFolder(t),
      storesDir: tempFolder(t),
      minFreePercent: 0,
      box: 'box',
      store: null,
    },
    {
      clock: systemClock,
      log: logLines().log,
      root: alwaysThere,
      threads: { add: () => () => {} },
      live: nobodyWrites,
      epochsOf: () => () => 0,
      rules: () => [],
      hold: () => ({ release: () => {} }),
      whyNot: () => null,
      memory: { lastMs: () => null, remember: () => {}, eras: () => null, rememberEras: () => {} },
      onGone: () => {},
      cueText: () => null,
      byEvents: noEvents,
      others: null,
    },
  );
  t.after(() => archive.stop());
  const wanted = cameras.flatMap((id, at) => [
    archive.requests.archivePlaylist(id, { fileName: names[at]!, session: null }),
    archive.requests.list(id),
    archive.requests.intervals(id, START_MS, START_MS + 10_000),
  ]);
  const outcomes = await Promise.allSettled(wanted);
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  assert.deepEqual(refused, []);
});

test('the playlist of a recording that has just begun comes when its first part is whole', async (t) => {
  const { playback, keyFrames, frames, recordings, putOpen, folder } = makeArchive(t);
  const clock = new FakeClock();
  const timeline = new Timeline({ clock, recordings, whyNot: () => null });
  const requests = new ArchiveRequests({
    clock,
    recordings,
    timeline,
    playback,
    keyFrames,
    frames,
    ...noDeletions,
  });
  const filmed = film({ video: fixtures.h264High(), hasIndex: false });
  const end = filmed.parts[0]!.endBytes;
  const fileName = putOpen(filmed, end);
  const ask = async (): Promise<string> =>
    textOf(await requests.archivePlaylist(CAMERA_ID, { fileName, session: null }));
  const pass = async (seconds: number): Promise<void> => {
    for (let step = 0; step < seconds * 4; step += 1) {
      for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      clock.advance(250);
    }
  };
  const tooEarly = assert.rejects(ask(), { code: 'recording_not_ready' });
  await pass(13);
  await tooEarly;
  const early = ask();
  await pass(5);
  appendFileSync(join(folder, fileName), filmed.bytes.subarray(end));
  await pass(1);
  assert.equal((await early).match(/#EXTINF/g)?.length, 3);
  assert.equal(clock.pendingTimers, 0);
});
