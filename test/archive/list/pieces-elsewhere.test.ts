import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { closedName } from '../../../src/archive/files/file-name.js';
import { nothingKnown } from '../../../src/archive/list/inspect-files.js';
import { type Recording, recordingOf } from '../../../src/archive/list/recording.js';
import { Recordings } from '../../../src/archive/list/recordings.js';
import { copiesPath, otherDir, writeCopies } from '../../../src/archive/offsite/copies-file.js';
import { CopyTable } from '../../../src/archive/offsite/copy-table.js';
import { makeMailbox } from '../../../src/archive/offsite/mailbox.js';
import { tempFolder } from '../../support/temp-folder.js';
import { InlineRunner } from '../inline-runner.js';
import { nobodyWrites } from '../nobody-writes.js';
import { manyCopies } from '../offsite/made-copies.js';

const START_MS = Date.UTC(2026, 10, 21, 8, 30);
const mailbox = makeMailbox();

/** The store has an hour of south as a whole, and south's disk pieces of it. */
const setUp = (t: TestContext) => {
  const copiesDir = join(tempFolder(t), 'copies');
  const whole = {
    ...{ ...manyCopies(1)[0]!, box: 'south', stamp: null, inspection: nothingKnown },
    recording: { startMs: START_MS, endMs: START_MS + 3_600_000 },
  };
  writeCopies(copiesPath(otherDir(copiesDir, 'south'), 'door'), CopyTable.of([whole]), false);
  const pieces = [0, 30].map((minute): Recording => {
    const name = { startMs: START_MS + minute * 60_000, endMs: START_MS + (minute + 1) * 60_000 };
    const stamp = { ino: 1, sizeBytes: 2, mtimeMs: 3, ctimeMs: 4 };
    const known = { ...nothingKnown, startReason: 'no_event' as const };
    return {
      ...recordingOf(closedName(name.startMs, name.endMs), name, stamp, known, 'south', () => 1),
      stored: { object: 'o', mailbox, isAlone: true, sidecarBytes: 0, ofBox: 'south' },
    };
  });
  const list = async ({ isStoreAway = false, isBoxAway = false }): Promise<string[]> => {
    const of = pieces.map((piece): Recording => (isBoxAway ? { ...piece, isAway: true } : piece));
    const recordings = new Recordings(
      { archiveDir: tempFolder(t) },
      {
        ...{ runner: new InlineRunner(), live: nobodyWrites },
        maker: { box: 'north', epochsOf: () => () => 1 },
        copies: {
          ...{ mailbox, isAway: isStoreAway, otherBoxes: ['south'] },
          pathOf: (cameraId) => copiesPath(copiesDir, cameraId),
          otherPathOf: (box, cameraId) => copiesPath(otherDir(copiesDir, box), cameraId),
        },
        others: { of: async () => of, unheard: () => [] },
      },
    );
    return (await recordings.list('door')).map(({ startMs, endMs }) => `${(endMs - startMs) / 60_000} min`);
  };
  return list;
};

test('what another box has pieces of, and the store as a whole, is listed as that', async (t) => {
  const list = setUp(t);
  assert.deepEqual(await list({}), ['60 min']);
  assert.deepEqual(await list({ isBoxAway: true }), ['60 min']);
});

test('while the store is away the pieces are listed that another box has, if that is here', async (t) => {
  const list = setUp(t);
  assert.deepEqual(await list({ isStoreAway: true }), ['1 min', '1 min']);
  assert.deepEqual(await list({ isStoreAway: true, isBoxAway: true }), ['60 min']);
});
