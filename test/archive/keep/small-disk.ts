import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** In a mount namespace of its own, where whoever asks is root; it is there until its standard input ends. */
const HELD_MOUNT = 'mount -t tmpfs -o "size=$1" tmpfs "$2" && echo mounted && exec cat';

/**
 * A file system of its own with this much room. Root mounts it; others hold it in a user namespace, and reach it
 * through the process that lives there. Null where neither is allowed, and the test is skipped for that reason.
 */
export const smallDisk = async (t: TestContext, megabytes: number): Promise<string | null> => {
  const folder = mkdtempSync(join(tmpdir(), 'framering-disk-'));
  const size = `${megabytes}m`;
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]);
  if (status === 0) {
    t.after(() => {
      spawnSync('umount', ['-l', folder]);
      rmdirSync(folder);
    });
    return folder;
  }
  const args = ['--user', '--map-root-user', '--mount', 'sh', '-c', HELD_MOUNT, 'sh', size, folder];
  const holder = spawn('unshare', args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const isMounted = await Promise.race([
    once(holder.stdout, 'data').then(() => true),
    once(holder, 'exit').then(() => false),
    once(holder, 'error').then(() => false),
  ]);
  if (!isMounted) {
    rmdirSync(folder);
    t.skip('a small file system takes root, or user namespaces that anyone may make');
    return null;
  }
  t.after(async () => {
    holder.stdin.end();
    await once(holder, 'exit');
    // SQLite resolves paths before it opens them: its lock lies in the folder below.
    rmSync(folder, { recursive: true, force: true });
  });
  return `/proc/${holder.pid}/root${folder}`;
};
