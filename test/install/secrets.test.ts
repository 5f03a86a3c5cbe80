import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { tempFolder } from '../support/temp-folder.js';
import { repo, run } from './judges.js';

/** Where people keep secrets beside what is shipped; the first is the one that src/install/README.md has them make. */
const SECRETS = ['src/install/.env', 'src/install/.env.old', '.env', 'src/.env', 'workers/.env'];

/** Whether Docker's builder is given a file: the last line that matches it, or a folder above it, decides. */
const isInContext = (path: string): boolean => {
  const lines = readFileSync(join(repo, '.dockerignore'), 'utf8').split('\n');
  let isIn = true;
  for (const line of lines.filter((each) => each !== '' && !each.startsWith('#'))) {
    const pattern = line
      .replace(/^!/, '')
      .replaceAll(/[.+]/g, '\\$&')
      .replaceAll(/\*\*\/|\*/g, (stars) => (stars === '*' ? '[^/]*' : '(?:.*/)?'));
    if (new RegExp(`^${pattern}(?:/.*)?$`).test(path)) isIn = line.startsWith('!');
  }
  return isIn;
};

test('a file of secrets is packed by nobody', (t) => {
  const folder = tempFolder(t);
  for (const name of ['package.json', '.gitignore', 'README.md', 'src/install'])
    cpSync(join(repo, name), join(folder, name), { recursive: true });
  for (const name of SECRETS) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), 'CLUSTER_KEY=secret\n');
  }
  const { status, said } = run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: folder });
  assert.equal(status, 0, said);
  assert.match(said, /src\/install\/framering\.service/);
  assert.doesNotMatch(said, /\.env/);
});

test('nor is it given to who builds the image', () => {
  assert.ok(isInContext('src/install/framering.service'));
  assert.ok(isInContext('package.json'));
  assert.ok(!isInContext('data/framering.db'));
  for (const name of SECRETS) assert.ok(!isInContext(name), name);
});
