import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manyCameras } from './many-cameras.js';

const FILE_SECONDS = 20;
/** A GOP, and until the end of a file is noticed and written. */
const SLACK_SECONDS = 3;

test('cameras that begin together do not roll over together, and no file is longer than it may be', async (t) => {
  const { play, finish, closedMs } = manyCameras(t, 40, FILE_SECONDS);
  await play(2 * FILE_SECONDS + SLACK_SECONDS);
  const startMs = 1_000;
  const firstEnds = [...closedMs.values()].map(([first]) => (first! - startMs) / 1000);
  assert.equal(firstEnds.length, 40, 'each camera has closed a file');
  for (const seconds of firstEnds) {
    assert.ok(seconds >= FILE_SECONDS / 2 && seconds <= FILE_SECONDS + SLACK_SECONDS, `${seconds} s`);
  }
  const most = Math.max(
    ...firstEnds.map(
      (seconds) => firstEnds.filter((other) => other >= seconds && other < seconds + 1).length,
    ),
  );
  assert.ok(most <= 16, `${most} within a second: ${firstEnds.join()}`);
  for (const [first, second] of closedMs.values()) {
    if (second === undefined) continue;
    const seconds = (second - first!) / 1000;
    assert.ok(Math.abs(seconds - FILE_SECONDS) < SLACK_SECONDS, `the next file is ${seconds} s long`);
  }
  await finish();
});
