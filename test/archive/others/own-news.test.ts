import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChangedFolders } from '../../../src/archive/files/changed-folders.js';
import type { JobRunner } from '../../../src/archive/jobs/jobs.js';
import { OwnNews } from '../../../src/archive/others/own-news.js';
import { FakeClock } from '../../support/fake-clock.js';

/** Whoever asks every two seconds, and a disk that takes so long for a look, of cameras that are news then. */
const rig = () => {
  const clock = new FakeClock();
  const disk = { tookMs: 1, news: [] as string[], looks: 0 };
  const run = async (): Promise<ChangedFolders> => {
    disk.looks += 1;
    return { look: disk.looks, isAll: false, cameraIds: disk.news.splice(0), tookMs: disk.tookMs };
  };
  const news = new OwnNews({ archiveDir: '/nowhere' }, { runner: { run } as unknown as JobRunner, clock });
  let [boot, after] = ['', 0];
  const asked = async (seconds: number): Promise<string[]> => {
    const told: string[] = [];
    for (let passed = 0; passed < seconds; passed += 2) {
      clock.advance(2_000);
      const found = await news.since(boot, after);
      [boot, after] = [found.boot, found.upTo];
      told.push(...found.cameraIds);
    }
    return told;
  };
  return { disk, asked };
};

test('after a look that took long the next one is within half a minute', async () => {
  const { disk, asked } = rig();
  disk.tookMs = 20_000;
  await asked(2);
  disk.tookMs = 1;
  disk.news.push('door');
  assert.deepEqual(await asked(32), ['door']);
});

test('however many ask, and however many cameras there are, a thread looks for a small part of its time', async () => {
  const { disk, asked } = rig();
  await asked(20);
  assert.equal(disk.looks, 10);
  disk.tookMs = 400;
  await asked(2);
  disk.looks = 0;
  await asked(100);
  assert.ok(disk.looks >= 8 && disk.looks <= 10, `${disk.looks}`);
});
