import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import type { TestContext } from 'node:test';

/** Counts what this thread reads of files with synchronous calls; the function says how much since it was last asked. */
export const countBytesRead = (t: TestContext): (() => number) => {
  const { readSync } = fs;
  let readBytes = 0;
  fs.readSync = ((...args: Parameters<typeof readSync>) => {
    const count = readSync(...args);
    readBytes += count;
    return count;
  }) as typeof readSync;
  syncBuiltinESMExports();
  t.after(() => {
    fs.readSync = readSync;
    syncBuiltinESMExports();
  });
  return () => {
    const since = readBytes;
    readBytes = 0;
    return since;
  };
};
