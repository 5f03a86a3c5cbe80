import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Deleting } from '../../../src/archive/keep/deleting.js';
import { Recordings } from '../../../src/archive/list/recordings.js';
import type { DeletedElsewhere } from '../../../src/archive/others/others.js';
import { tempFolder } from '../../support/temp-folder.js';
import { InlineRunner } from '../inline-runner.js';
import { logLines } from '../log-lines.js';
import { nobodyWrites } from '../nobody-writes.js';
import { writeClosed } from '../recording-file.js';

const START_MS = Date.UTC(2026, 10, 21, 8, 30, 0, 125);

test('what is deleted is deleted at all boxes, and it is said which of them keeps some', async (t) => {
  const archiveDir = tempFolder(t);
  const runner = new InlineRunner();
  const recordings = new Recordings({ archiveDir }, { runner, live: nobodyWrites });
  const asked: unknown[] = [];
  let elsewhere: DeletedElsewhere = { deletedCount: 2, left: [] };
  const others = {
    deleteWithin: async (...what: unknown[]) => {
      asked.push(what);
      return elsewhere;
    },
  };
  const deleting = new Deleting({ archiveDir }, { recordings, runner, others, log: logLines().log });
  const write = () => writeClosed(join(archiveDir, 'door'), { startMs: START_MS });
  const within = () => deleting.deleteWithin('door', START_MS - 1_000, START_MS + 60_000);
  write();
  assert.equal(await within(), 3);
  assert.deepEqual(asked, [['door', START_MS - 1_000, START_MS + 60_000]]);
  write();
  elsewhere = {
    deletedCount: 2,
    left: [
      { box: 'box-1', code: null },
      { box: 'box-2', code: 'archive_busy' },
    ],
  };
  await assert.rejects(within(), {
    code: 'partly_deleted',
    details: { deleted: 3 },
    message: /^3 recordings .* box-1 .*, box-2 .archive_busy/,
  });
  assert.deepEqual(readdirSync(join(archiveDir, 'door')), [], 'the rest is gone');
  write();
  assert.equal(await deleting.deleteHere('door', START_MS - 1_000, START_MS + 60_000), 1);
  assert.equal(asked.length, 2, 'a box that is asked asks nobody');
});
