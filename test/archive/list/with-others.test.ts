import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closedName } from '../../../src/archive/files/file-name.js';
import { nothingKnown } from '../../../src/archive/list/inspect-files.js';
import { type Recording, recordingOf } from '../../../src/archive/list/recording.js';
import { meantOf, withOthers } from '../../../src/archive/list/with-others.js';
import { makeMailbox } from '../../../src/archive/offsite/mailbox.js';

const mailbox = makeMailbox();

/** Of a second of its own. */
const made = (second: number, box: string, more: Partial<Recording> = {}, epoch = 1): Recording => {
  const name = { startMs: second * 1_000, endMs: second * 1_000 + 1_000 };
  const stamp = { ino: 1, sizeBytes: 2, mtimeMs: 3, ctimeMs: 4 };
  const fileName = closedName(name.startMs, name.endMs);
  return { ...recordingOf(fileName, name, stamp, nothingKnown, box, () => epoch), ...more };
};
const stored = (ofBox?: string) => ({
  stored: { object: 'o', mailbox, isAlone: true, sidecarBytes: 0, ofBox },
});

test('what several have is in the order of its time, each time once', () => {
  const own = [made(1, 'a'), made(3, 'a')];
  const others = [made(2, 'b', stored('b')), made(3, 'b', stored('b')), made(0, 'c', stored('c'))];
  assert.deepEqual(
    withOthers(own, others).map(({ startMs, box }) => `${startMs / 1_000} ${box}`),
    ['0 c', '1 a', '2 b', '3 a', '3 b'],
  );
  assert.equal(withOthers(own, []), own);
});

test('what a store has of another box is read there while that is away, and else at the box', () => {
  const inStore = made(1, 'b', stored());
  const there = made(1, 'b', stored('b'));
  const both = { ...there, stored: { ...there.stored!, inStore: { object: 'o', mailbox, sidecarBytes: 0 } } };
  assert.deepEqual(withOthers([inStore], [there]), [both], 'or in the store, if the box can not give it');
  assert.equal(withOthers([inStore], [there])[0], withOthers([inStore], [there])[0]);
  const longer = { ...inStore, sizeBytes: 3 };
  assert.deepEqual(withOthers([longer], [there]), [there], 'that is not the same');
  assert.deepEqual(withOthers([inStore], [{ ...there, isAway: true }]), [inStore]);
  const other = made(1, 'c', { ...stored('c'), isAway: true });
  assert.deepEqual(withOthers([inStore], [other]), [inStore, other]);
});

test('of one name the one is meant that was made by the latest claim, unless a box is said', () => {
  const all = [made(1, 'b', {}, 4), made(1, 'c', {}, 5), made(1, 'a', {}, 5)];
  assert.equal(meantOf(all, null)?.box, 'a');
  assert.equal(meantOf(all, 'b')?.box, 'b');
  assert.equal(meantOf(all, 'd'), null);
  assert.equal(meantOf([], null), null);
});
