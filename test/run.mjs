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

/** Those that start the whole service, or a browser, take as long as all others together. */
const isLong = (path) => path.includes('/e2e/');
/** The first of them soon and the last of them long before the end, each beside short ones: cores have work all the time. */
const spread = (paths) => {
  const long = paths.filter(isLong);
  const short = paths.filter((path) => !isLong(path));
  const shortPerLong = Math.ceil(short.length / (long.length + 1));
  return long.flatMap((path) => [path, ...short.splice(0, shortPerLong)]).concat(short);
};
if (files.length === 0) {
  process.stderr.write(`no test file matches ${wanted.join(' ')}\n`);
  process.exit(1);
}
/** In a log, what failed is said again behind all others; on a terminal the default does that. */
const reporters = process.stdout.isTTY
  ? []
  : [
      '--test-reporter=tap',
      '--test-reporter-destination=stdout',
      '--test-reporter=./test/failures-last.mjs',
      '--test-reporter-destination=stderr',
    ];
const run = spawnSync(
  process.execPath,
  // Two at a time: many of the long ones wait for time to go by, or for a browser. Three are a third quicker, and let
  // tests that wait too little show themselves. The limit is that of a whole file: one that starts the service thirty
  // times takes minutes on a machine that has other things to do.
  [
    '--enable-source-maps',
    // A process that ends while V8 still compiles may wait for itself for ever (nodejs/node#54918).
    '--no-concurrent-recompilation',
    '--test',
    `--test-concurrency=${process.env['TEST_FILES_AT_ONCE'] ?? 2}`,
    '--test-timeout=600000',
    ...reporters,
    ...spread(files),
  ],
  { stdio: 'inherit' },
);
process.exit(run.status ?? 1);
