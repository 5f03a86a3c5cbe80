import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventIdText } from '../../src/events/kept/event.js';
import { PictureFiles } from '../../src/events/kept/picture-files.js';
import { logLines } from '../archive/log-lines.js';
import { tempFolder } from '../support/temp-folder.js';

test('pictures are kept over a restart, the newest of them, as long as their events are there', async (t) => {
  const folder = join(tempFolder(t), 'event-pictures');
  const { log, lines } = logLines();
  const first = new PictureFiles(folder, { log });
  await first.start();
  for (const id of [40, 7, 1_000]) await first.put(id, Buffer.from(`picture ${id}`));
  await first.put(7, Buffer.from('a better one'));
  await first.put(8, Buffer.alloc(600_000));
  assert.equal((await first.find(7))?.jpeg.toString(), 'a better one');
  assert.notEqual((await first.find(7))?.etag, (await first.find(40))?.etag);
  assert.equal(await first.find(8), null, 'far too large');
  writeFileSync(join(folder, `${eventIdText(9)}.jpg.new`), 'half a pic');
  writeFileSync(join(folder, 'notes.txt'), 'not ours');
  const second = new PictureFiles(folder, { log, maxFiles: 3 });
  await second.start();
  assert.equal(second.count, 3);
  await second.put(2_000, Buffer.from('newest'));
  assert.equal(await second.find(7), null, 'the oldest went');
  await second.sweep((id) => id !== 40);
  assert.deepEqual(
    readdirSync(folder).sort(),
    [`${eventIdText(1_000)}.jpg`, `${eventIdText(2_000)}.jpg`, 'notes.txt'].sort(),
  );
  // Looking at them changes nothing of which is the oldest.
  const third = new PictureFiles(folder, { log, maxFiles: 2, lookAt: 1 });
  await third.start();
  await third.sweep(() => true);
  await third.put(2_500, Buffer.from('newer'));
  assert.equal(await third.find(1_000), null, 'the oldest went');
  for (let count = 0; count < 3; count++) await third.sweep((id) => id !== 2_500);
  assert.equal(third.count, 1);
  assert.notEqual(await third.find(2_000), null);
  rmSync(folder, { recursive: true });
  assert.equal(await second.find(1_000), null);
  await second.put(3_000, Buffer.from('no folder'));
  await second.put(3_001, Buffer.from('no folder'));
  assert.equal(lines.length, 1);
});

test('the oldest pictures go where all together are too large, also those of the start before', async (t) => {
  const folder = join(tempFolder(t), 'event-pictures');
  const { log } = logLines();
  const first = new PictureFiles(folder, { log, maxBytes: 1_000 });
  await first.start();
  for (const id of [1, 2, 3]) await first.put(id, Buffer.alloc(300, id));
  assert.deepEqual([first.count, first.bytes], [3, 900]);
  await first.put(3, Buffer.alloc(400, 3));
  assert.deepEqual([first.count, first.bytes], [3, 1_000], 'in the place of the one before');
  await first.put(4, Buffer.alloc(10, 4));
  assert.deepEqual([await first.find(1), first.count, first.bytes], [null, 3, 710]);
  const second = new PictureFiles(folder, { log, maxBytes: 1_000 });
  await second.start();
  await second.measured;
  assert.deepEqual([second.count, second.bytes], [3, 710]);
  await second.put(5, Buffer.alloc(500, 5));
  assert.deepEqual(
    readdirSync(folder).sort(),
    [3, 4, 5].map((id) => `${eventIdText(id)}.jpg`),
  );
  await second.sweep((id) => id !== 3);
  assert.equal(second.bytes, 510);
});

test('others get their turn while it is looked whether the events of many pictures are there', async (t) => {
  const folder = join(tempFolder(t), 'event-pictures');
  mkdirSync(folder);
  for (let id = 1; id <= 450; id += 1) writeFileSync(join(folder, `${eventIdText(id)}.jpg`), 'picture');
  const pictures = new PictureFiles(folder, { log: logLines().log });
  await pictures.start();
  let turns = 0;
  let isOver = false;
  const asked = new Map<number, number>();
  const turn = (): void => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await pictures.sweep((id) => {
    asked.set(turns, (asked.get(turns) ?? 0) + 1);
    return id !== 430;
  });
  isOver = true;
  assert.ok(Math.max(...asked.values()) <= 100, `${Math.max(...asked.values())}`);
  assert.equal(pictures.count, 449);
});
