import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { archiveError } from '../../../src/archive/archive-error.js';
import type { JobInput, JobName, JobOutput, JobRunner } from '../../../src/archive/jobs/jobs.js';
import { nothingKnown } from '../../../src/archive/list/inspect-files.js';
import { Recordings } from '../../../src/archive/list/recordings.js';
import { copiesPath, otherDir, writeCopies } from '../../../src/archive/offsite/copies-file.js';
import type { Copy } from '../../../src/archive/offsite/copy.js';
import { CopyTable } from '../../../src/archive/offsite/copy-table.js';
import { makeMailbox } from '../../../src/archive/offsite/mailbox.js';
import { OtherRecordings } from '../../../src/archive/others/other-recordings.js';
import { tempFolder } from '../../support/temp-folder.js';
import { InlineRunner } from '../inline-runner.js';
import { nobodyWrites } from '../nobody-writes.js';
import { writeClosed } from '../recording-file.js';

const START_MS = Date.UTC(2026, 10, 21, 8, 30, 0, 0);
const NAME = '2026-11-21_08-30-00_to_08-30-05.mp4';

/** Of five seconds. */
const copyOf = (box: string, startMs = START_MS): Copy => ({
  recording: { startMs, endMs: startMs + 5_000 },
  stamp: { ino: 1, sizeBytes: 2, mtimeMs: 3, ctimeMs: 4 },
  inspection: nothingKnown,
  ...{ sizeBytes: 2, mark: 0, sidecarBytes: 0, epoch: 1, box, isLeaving: false },
});

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
  const others = { of: () => asked, unheard: () => [] };
  const recordings = new Recordings({ archiveDir: '/nowhere' }, { runner: lost, live: nobodyWrites, others });
  const refused = assert.rejects(recordings.find('door', NAME), { code: 'archive_unavailable' });
  await turn();
  await turn();
  answer();
  await refused;
  const failing = {
    unheard: () => [],
    of: async () => Promise.reject(archiveError('archive_busy', 'too much to do')),
  };
  const neither = new Recordings(
    { archiveDir: '/nowhere' },
    { runner: lost, live: nobodyWrites, others: failing },
  );
  await assert.rejects(neither.find('door', NAME));
  // What nobody handles fails the test, as it ends the service.
  await turn();
});

/** Jobs that go on at the same time: so many threads and places to wait there must be. */
class CrowdedRunner extends InlineRunner {
  most = 0;
  #running = 0;

  override async run<Name extends JobName>(name: Name, input: JobInput<Name>): Promise<JobOutput<Name>> {
    this.#running += 1;
    this.most = Math.max(this.most, this.#running);
    await turn();
    try {
      return await super.run(name, input);
    } finally {
      this.#running -= 1;
    }
  }
}

test('however many boxes have some of a camera, a request has a few jobs at a time', async (t) => {
  const [archiveDir, boxesDir, copiesDir] = [tempFolder(t), tempFolder(t), tempFolder(t)];
  const runner = new CrowdedRunner();
  const mailbox = makeMailbox();
  const boxes = Array.from({ length: 9 }, (_, at) => `box-${at}`);
  for (const box of boxes)
    for (const path of [join(boxesDir, box), otherDir(copiesDir, box)]) {
      mkdirSync(path, { recursive: true });
      writeCopies(copiesPath(path, 'door'), CopyTable.of([copyOf(box)]));
    }
  writeClosed(join(archiveDir, 'door'), { startMs: START_MS });
  const elsewhere = new OtherRecordings({ boxesDir }, { runner, mailbox });
  const others = {
    unheard: () => [],
    of: (id: string) =>
      elsewhere.of(
        id,
        boxes.map((box) => ({ box, isHere: true, heardMs: null })),
      ),
  };
  const copies = {
    ...{ mailbox, isAway: false, otherBoxes: boxes },
    pathOf: (id: string) => copiesPath(copiesDir, id),
    otherPathOf: (box: string, id: string) => copiesPath(otherDir(copiesDir, box), id),
  };
  const maker = { box: 'own', epochsOf: () => () => 1 };
  const recordings = new Recordings({ archiveDir }, { runner, live: nobodyWrites, maker, copies, others });
  const eight = async (ask: () => Promise<unknown>): Promise<number> => {
    runner.most = 0;
    await Promise.all(Array.from({ length: 8 }, ask));
    return runner.most;
  };
  assert.ok((await eight(() => recordings.list('door'))) <= 8 * 3);
  assert.ok((await eight(() => recordings.find('door', NAME, 'box-3'))) <= 8 * 3);
  const list = await recordings.list('door');
  assert.deepEqual(list.map(({ box }) => box).sort(), [...boxes, 'own']);
  assert.equal((await recordings.find('door', NAME, 'box-3')).box, 'box-3');
  runner.counts.clear();
  await recordings.here('door');
  assert.equal(runner.countOf('storedCopies'), 1, 'whoever asks what is here is told that alone');
});

test('of all boxes together so much is in mind as of one', async () => {
  const boxes = Array.from({ length: 9 }, (_, at) => ({ box: `box-${at}`, isHere: true, heardMs: null }));
  const hours = Array.from({ length: 720 }, (_, hour) => copyOf('box-0', START_MS + hour * 3_600_000));
  const { rows } = CopyTable.of(hours);
  const told = { stamp: { ino: 1, sizeBytes: 2, mtimeMs: 3, ctimeMs: 4 }, upTo: null, isAdded: false, rows };
  const runner = { run: async () => boxes.map(({ box }) => ({ ...told, boxes: [box] })) };
  const elsewhere = new OtherRecordings(
    { boxesDir: '/nowhere' },
    { runner: runner as unknown as JobRunner, mailbox: makeMailbox() },
  );
  for (let camera = 0; camera < 20; camera += 1)
    assert.equal((await elsewhere.of(`camera-${camera}`, boxes)).length, 9 * 720);
  assert.ok(elsewhere.count <= 100_000 && elsewhere.count > 90_000, `${elsewhere.count} are in mind`);
});
