import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** A file system of its own with this much room; null where we may not mount one, and the test is skipped. */
export const smallDisk = (t: TestContext, megabytes: number): string | null => {
  const folder = mkdtempSync(join(tmpdir(), 'framering-disk-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder]);
  if (status !== 0) {
    rmdirSync(folder);
    t.skip('mounting a small file system takes root');
    return null;
  }
  t.after(() => {
    spawnSync('umount', ['-l', folder]);
    rmdirSync(folder);
  });
  return folder;
};
