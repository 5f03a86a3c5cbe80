// Compiles the sources into dist: aside, and swapped in whole when that went well, so that nobody ever starts half of a
// build, and nothing is taken away from under a service that runs. Does nothing where dist is made of just these
// sources. With `--prepare` (npm ci) it is content to have no compiler; with
// `--check` (npm start) it tells whether there is anything to start.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';

const SOURCES = [
  'src',
  'workers',
  'test',
  'native-free-bench',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'README.md',
];
/** Written last of all; it says what the build was made of. */
const STAMP = join('dist', '.built');
const MAX_SWAPS = 10;

const say = (text) => process.stderr.write(`${text}\n`);

/** When a file, or anything in a folder, was changed last; a folder changes when a file in it comes or goes. */
const newestMs = (path) => {
  if (!existsSync(path)) return 0;
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newestMs(join(path, name))));
};

/** All that the compiler reads, in an order that is always the same. */
const sourcesBelow = (path) => {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory())
    return /\.(?:[cm]?[jt]sx?|json|html|css|svg|md)$/.test(path) ? [path] : [];
  return readdirSync(path)
    .sort()
    .flatMap((name) => sourcesBelow(join(path, name)));
};

/** What the sources say, not when they were written: whoever unpacks another version over this one keeps its old times. */
const digestOfSources = () => {
  const hash = createHash('sha256');
  for (const path of SOURCES.flatMap(sourcesBelow)) {
    const text = readFileSync(path);
    hash.update(`${path}\0${text.length}\0`).update(text);
  }
  return hash.digest('hex');
};

/** The sources are those that it was made of, and dist was not changed since. */
const isFresh = () =>
  existsSync(STAMP) &&
  readFileSync(STAMP, 'utf8') === digestOfSources() &&
  newestMs('dist') <= statSync(STAMP).mtimeMs;

/** Exit code of a tool of ours; null where it isn't installed. */
const runTool = (name, args, options = {}) => {
  const path = `${resolve('node_modules/.bin')}${delimiter}${process.env.PATH ?? ''}`;
  const run = spawnSync(name, args, { env: { ...process.env, PATH: path }, stdio: 'inherit', ...options });
  return run.error === undefined ? (run.status ?? 1) : null;
};

/** The service, then the web app beside it, and the guide. */
const compile = async (folder) => {
  const code = runTool('tsc', ['--outDir', folder]);
  if (code !== 0) return code;
  const web = resolve(folder, 'web');
  const webCode = runTool('vite', ['build', 'src/web', '--logLevel', 'warn', '--outDir', web]);
  if (webCode !== 0) return webCode;
  // Only now is it sure that there is something to make it with.
  const { renderGuide } = await import('./docs/render.mjs');
  renderGuide(join(web, 'docs'));
  return 0;
};

/** Another build may swap at this very moment: one of them is the last. */
const swapIn = (folder) => {
  const old = `${folder}-old`;
  for (let tries = 1; ; tries++) {
    try {
      if (existsSync('dist')) renameSync('dist', old);
      renameSync(folder, 'dist');
      return;
    } catch (fault) {
      if (tries === MAX_SWAPS) throw fault;
    } finally {
      rmSync(old, { recursive: true, force: true });
    }
  }
};

const build = async () => {
  const digest = digestOfSources();
  const folder = `.dist-${process.pid}`;
  try {
    const code = await compile(folder);
    if (code === 0) {
      writeFileSync(join(folder, '.built'), digest);
      swapIn(folder);
    }
    return code;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** For whoever starts it. Old code is better than none: it may be what is wanted. */
const check = () => {
  if (!existsSync('dist/src/main.js')) {
    say('There is nothing to start: npm ci compiles the service, and so does npm run build.');
    process.exitCode = 1;
  } else if (!isFresh()) say('The sources are others than what was compiled: npm run build.');
};

const compileAll = async () => {
  const code = await build();
  if (code === null)
    say('TypeScript is not installed, so nothing was compiled: npm ci (without --omit=dev) has it.');
  process.exitCode = code ?? (process.argv.includes('--prepare') ? 0 : 1);
};

if (process.argv.includes('--check')) check();
else if (!isFresh()) await compileAll();
