// Runs every compiled test file (dist/test/**/*.test.js) or those whose path contains one of the arguments, each in a
// process of its own with the options that this one was started with ("test" in package.json): errors speak of the
// sources, and no process that ends while V8 still compiles waits for itself for ever (nodejs/node#54918).
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec, tap } from 'node:test/reporters';
import failuresLast from './failures-last.mjs';

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

/** Those that start the whole service, or a browser, take as long as all others together. */
const isLong = (path) => path.includes('/e2e/');
/** The first of them soon and the last of them long before the end, each beside short ones: cores have work all the time. */
const spread = (paths) => {
  const long = paths.filter(isLong);
  const short = paths.filter((path) => !isLong(path));
  const shortPerLong = Math.ceil(short.length / (long.length + 1));
  return long.flatMap((path) => [path, ...short.splice(0, shortPerLong)]).concat(short);
};

const events = run({
  // `node --test` would sort them.
  files: spread(files),
  // Two at a time: many of the long ones wait for time to go by, or for a browser. Three are a third quicker, and let
  // tests that wait too little show themselves.
  concurrency: Number(process.env['TEST_FILES_AT_ONCE'] ?? 2),
  // That of a whole file: one that starts clusters of boxes takes many minutes on a machine that has other things to do.
  timeout: 1_200_000,
});
events.on('test:fail', () => {
  process.exitCode = 1;
});
if (process.stdout.isTTY) events.compose(new spec()).pipe(process.stdout);
else {
  events.compose(tap).pipe(process.stdout);
  // In a log, what failed is said again behind all others; on a terminal the default does that.
  events.compose(failuresLast).pipe(process.stderr);
}
