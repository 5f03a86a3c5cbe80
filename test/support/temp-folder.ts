import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

const made = new Set<string>();

const remove = (folder: string): void => {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // What somebody writes between the look into a folder and its end keeps it (ENOTEMPTY).
  }
};

process.once('exit', () => {
  for (const folder of made) remove(folder);
});

/**
 * An empty folder that is gone when the test ends; what is written there after that (by a service that a later hook
 * stops) goes with the file's process. Its hook never throws: none behind it would be called, and a browser or a service
 * that nobody ends keeps the process until its time is over.
 */
export const tempFolder = (t: Pick<TestContext, 'after'>): string => {
  const folder = mkdtempSync(join(tmpdir(), 'framering-'));
  made.add(folder);
  t.after(() => remove(folder));
  return folder;
};
