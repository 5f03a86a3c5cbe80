// Runs every compiled test file (dist/test/**/*.test.js) or those whose path contains one of the arguments.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const wanted = process.argv.slice(2);
const files = readdirSync('dist/test', { recursive: true })
  .filter((name) => name.endsWith('.test.js'))
  .filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
  .sort()
  .map((name) => join('dist/test', name));
if (files.length === 0) {
  process.stderr.write(`no test file matches ${wanted.join(' ')}\n`);
  process.exit(1);
}
const run = spawnSync(
  process.execPath,
  // Two at a time: many of the long ones wait for time to go by, or for a browser. The limit is that of a whole file: one
  // that starts the service thirty times takes minutes on a machine that has other things to do.
  ['--enable-source-maps', '--test', '--test-concurrency=2', '--test-timeout=600000', ...files],
  { stdio: 'inherit' },
);
process.exit(run.status ?? 1);
