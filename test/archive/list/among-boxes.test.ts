import assert from 'node:assert/strict';
import { test } from 'node:test';
import { archiveError } from '../../../src/archive/archive-error.js';
import type { JobRunner } from '../../../src/archive/jobs/jobs.js';
import { Recordings } from '../../../src/archive/list/recordings.js';
import { nobodyWrites } from '../nobody-writes.js';

const NAME = '2026-11-21_08-30-00_to_08-30-05.mp4';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const lost: JobRunner = {
  run: async () => {
    throw archiveError('archive_unavailable', 'there are no recordings now');
  },
};

test('a disk that refuses while other boxes are asked refuses the request, and nothing else', async () => {
  let answer = (): void => {};
  const asked = new Promise<[]>((resolve) => {
    answer = () => resolve([]);
  });
  const others = { of: () => asked };
  const recordings = new Recordings({ archiveDir: '/nowhere' }, { runner: lost, live: nobodyWrites, others });
  const refused = assert.rejects(recordings.find('door', NAME), { code: 'archive_unavailable' });
  await turn();
  await turn();
  answer();
  await refused;
  const failing = { of: async () => Promise.reject(archiveError('archive_busy', 'too much to do')) };
  const neither = new Recordings(
    { archiveDir: '/nowhere' },
    { runner: lost, live: nobodyWrites, others: failing },
  );
  await assert.rejects(neither.find('door', NAME));
  // What nobody handles fails the test, as it ends the service.
  await turn();
});
