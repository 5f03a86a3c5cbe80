import { closeSync, fstatSync, openSync, writeSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { disk } from '../../src/archive/write/disk.js';

type Written = { readonly position: number; readonly lengthBytes: number };

/** Makes bytes of a file what a disk holds that never got them. */
const zeroOut = (path: string, written: readonly Written[]): void => {
  const descriptor = openSync(path, 'r+');
  try {
    const fileBytes = fstatSync(descriptor).size;
    for (const { position, lengthBytes } of written) {
      const endBytes = Math.min(position + lengthBytes, fileBytes);
      if (endBytes > position) writeSync(descriptor, Buffer.alloc(endBytes - position), 0, null, position);
    }
  } finally {
    closeSync(descriptor);
  }
};

/**
 * A disk whose syncs can be made to fail as Linux does it: the failure is told once, what was written since the last
 * good sync is gone, and the next sync says that all is well.
 */
export const forgetfulDisk = (t: TestContext) => {
  const { open, writeAt, fdatasync } = disk;
  const paths = new Map<number, string>();
  const unsynced = new Map<string, Written[]>();
  let failures = 0;
  t.mock.method(disk, 'open', async (path: string, flags: string | number, mode?: number) => {
    const descriptor = await open(path, flags, mode);
    paths.set(descriptor, path);
    return descriptor;
  });
  t.mock.method(disk, 'writeAt', async (...args: Parameters<typeof writeAt>) => {
    const [descriptor, , lengthBytes, position] = args;
    const path = paths.get(descriptor) ?? '';
    unsynced.set(path, [...(unsynced.get(path) ?? []), { position, lengthBytes }]);
    return writeAt(...args);
  });
  t.mock.method(disk, 'fdatasync', async (descriptor: number) => {
    const path = paths.get(descriptor) ?? '';
    const written = unsynced.get(path) ?? [];
    unsynced.delete(path);
    if (failures > 0) {
      failures -= 1;
      zeroOut(path, written);
      throw Object.assign(new Error('EIO'), { code: 'EIO' });
    }
    await fdatasync(descriptor);
  });
  return {
    failNextSync: (): void => {
      failures = 1;
    },
    get hasFailed(): boolean {
      return failures === 0;
    },
  };
};
