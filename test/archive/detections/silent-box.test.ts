import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { encodeRecord } from '../../../src/archive/detections/detection-record.js';
import type { SidecarPlace } from '../../../src/archive/detections/read-detections.js';
import { pagesOf } from '../../../src/archive/detections/sidecar-pages.js';
import { sidecarName } from '../../../src/archive/files/sidecar-name.js';
import { JobPool, STORED } from '../../../src/archive/jobs/job-pool.js';
import { type Answer, makeMailbox, serveMailbox } from '../../../src/archive/offsite/mailbox.js';
import { systemClock } from '../../../src/base/clock.js';
import { tempFolder } from '../../support/temp-folder.js';
import { START_MS, seen } from './rig.js';

const HOUR_MS = 3_600_000;

/** What was seen at boxes, an hour each; `answer`: null: the box has it. */
const read = async (
  t: TestContext,
  ofBoxes: readonly (string | undefined)[],
  answer: (box: string) => Answer | null,
) => {
  const [mailbox, asked] = [makeMailbox(), [] as string[]];
  const contents = ofBoxes.map((box, hour) =>
    pagesOf([encodeRecord(seen(START_MS + hour * HOUR_MS, `${box}`))], 0),
  );
  serveMailbox(mailbox, async ({ object, startByte, endByte }) => {
    const [box = '', hour] = object.split('/');
    asked.push(box);
    const bytes = contents[Number(hour)]!.subarray(startByte, endByte);
    return answer(box) ?? { outcome: 'read', bytes };
  });
  const pool = new JobPool(STORED, { clock: systemClock });
  t.after(() => pool.stop());
  const sidecars = ofBoxes.map((ofBox, hour): SidecarPlace => {
    const startMs = START_MS + hour * HOUR_MS;
    const place = { object: `${ofBox}/${hour}`, mailbox, isAlone: true, ofBox };
    const stored = { place, bytes: contents[hour]!.length };
    return { name: sidecarName(startMs), startMs, endMs: startMs + HOUR_MS, stored };
  });
  const { detections } = await pool.run('readDetections', {
    ...{ folder: tempFolder(t), sidecars, labels: null, limit: 100, behind: null },
    ...{ fromMs: START_MS - HOUR_MS, toMs: START_MS + 24 * HOUR_MS },
  });
  return { labels: detections.map(({ objects: [object] }) => object!.label), asked };
};

test('a box that does not answer keeps nobody from what was seen at others, and is asked once', async (t) => {
  const away: Answer = { outcome: 'away', bytes: null };
  const { labels, asked } = await read(t, ['north', 'south', 'north', 'south'], (box) =>
    box === 'north' ? away : null,
  );
  assert.deepEqual(labels, ['south', 'south']);
  assert.equal(asked.filter((box) => box === 'north').length, 1);
});

test('a store that does not answer is told of', async (t) => {
  const away: Answer = { outcome: 'away', bytes: null };
  await assert.rejects(
    read(t, [undefined], () => away),
    { code: 'store_unavailable' },
  );
});
