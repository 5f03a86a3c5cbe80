import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** An empty folder that is gone when the test ends, also while somebody still writes there. */
export const tempFolder = (t: Pick<TestContext, 'after'>): string => {
  const folder = mkdtempSync(join(tmpdir(), 'framering-'));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
};
