import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempFolder } from '../support/temp-folder.js';

test('packages that another Node installed are said to be so, and what helps', (t) => {
  // Where there are no packages at all.
  const lonely = join(tempFolder(t), 'sqlite.mjs');
  copyFileSync(join(import.meta.dirname, '../../src/base/sqlite.js'), lonely);
  const { status, stderr } = spawnSync(process.execPath, [lonely], { encoding: 'utf8' });
  assert.equal(status, 1);
  assert.match(stderr, /better-sqlite3\S* can not be loaded: .* do not fit \d+\.\d+\.\d+; run npm ci again/);
  assert.match(stderr, /ERR_MODULE_NOT_FOUND/);
});
