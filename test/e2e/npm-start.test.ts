import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const repo = join(import.meta.dirname, '../../..');

/** A service that starts a thread when it is told to. */
const MAIN = `
import { Worker } from 'node:worker_threads';
process.on('SIGTERM', () => process.exit(0));
process.stdin.on('data', () => {
  new Worker(new URL('../workers/late.js', import.meta.url)).on('error', (fault) => process.stdout.write(String(fault)));
});
process.stdout.write('listening\\n');
`;

/** A project with our scripts, our compiler, and next to nothing to compile. */
const projectOf = (t: TestContext): string => {
  const folder = tempFolder(t);
  for (const name of [
    'package.json',
    'tsconfig.json',
    'README.md',
    'src/build.mjs',
    'src/docs',
    'src/web/styles',
  ])
    cpSync(join(repo, name), join(folder, name), { recursive: true });
  mkdirSync(join(folder, 'workers'));
  writeFileSync(join(folder, 'src/web/index.html'), '<!doctype html><title>a page</title>');
  writeFileSync(join(folder, 'src/main.ts'), MAIN);
  writeFileSync(join(folder, 'workers/late.ts'), "process.stdout.write('a thread\\n');\n");
  symlinkSync(join(repo, 'node_modules'), join(folder, 'node_modules'));
  return folder;
};

/** Without what npm tells the scripts that it runs: those of the test's own npm, for one. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_/i.test(name)));
// npm puts the commands of our own node_modules there.
env['PATH'] = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter);

const npm = (folder: string, ...args: string[]) => {
  const run = spawnSync('npm', args, { cwd: folder, env, encoding: 'utf8' });
  return { status: run.status, out: run.stdout, said: run.stdout + run.stderr };
};

const startIn = (t: TestContext, folder: string): { child: ChildProcess; out: () => string } => {
  const child = spawn('npm', ['start'], {
    cwd: folder,
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  t.after(() => child.exitCode === null && child.pid !== undefined && process.kill(-child.pid, 'SIGKILL'));
  let out = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (out += text));
  return { child, out: () => out };
};

const change = (folder: string, name: string, text: string): void => writeFileSync(join(folder, name), text);

test('npm start compiles nothing: it starts what is there, or says what to do', async (t) => {
  const folder = projectOf(t);
  const nothing = npm(folder, 'start');
  assert.equal(nothing.status, 1);
  assert.match(nothing.said, /npm ci compiles the service/);
  assert.equal(existsSync(join(folder, 'dist')), false);
  assert.equal(npm(folder, 'run', 'prepare').status, 0);
  const { child, out } = startIn(t, folder);
  await until('it runs', () => out().includes('listening'));
  assert.doesNotMatch(out(), /npm run build/);
  child.kill('SIGTERM');
  assert.deepEqual(await once(child, 'exit'), [0, null]);
  change(folder, 'src/main.ts', `${MAIN}\n// changed`);
  const stale = startIn(t, folder);
  await until('it runs all the same', () => stale.out().includes('listening'));
  assert.match(stale.out(), /others than what was compiled: npm run build/);
});

test('a build is swapped in whole: a service that runs goes on to find its threads, and a failed build changes nothing', async (t) => {
  const folder = projectOf(t);
  assert.equal(npm(folder, 'run', 'build').status, 0);
  const { child, out } = startIn(t, folder);
  await until('it runs', () => out().includes('listening'));
  const started = (): number => out().split('a thread').length - 1;
  const missed = (): number => out().split(/Cannot find module|ENOENT/).length - 1;
  const startThread = async (): Promise<void> => {
    const before = started() + missed();
    child.stdin?.write('x');
    await until('the thread runs, or has no file', () => started() + missed() > before, { describe: out });
  };
  change(folder, 'src/main.ts', 'const broken: number = "text";\n');
  const failed = npm(folder, 'run', 'build');
  assert.notEqual(failed.status, 0);
  assert.match(failed.said, /TS2322/);
  await startThread();
  assert.deepEqual([started(), missed()], [1, 0]);
  change(folder, 'src/main.ts', `${MAIN}\n// again`);
  const building = spawn('npm', ['run', 'build'], { cwd: folder, env, stdio: 'ignore' });
  while (building.exitCode === null) await startThread();
  assert.equal(building.exitCode, 0);
  // Between the two renames of the swap lies a moment.
  assert.ok(missed() <= 1, out());
  const startedBefore = started();
  await startThread();
  assert.equal(started(), startedBefore + 1, out());
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith('.dist')),
    [],
    'nothing is left lying about',
  );
});

test('what is compiled already is left alone, unless sources or results were changed', (t) => {
  const folder = projectOf(t);
  const stamp = (): number => statSync(join(folder, 'dist/.built')).mtimeMs;
  assert.equal(npm(folder, 'run', 'prepare').status, 0);
  const first = stamp();
  assert.equal(npm(folder, 'run', 'build').status, 0);
  assert.equal(stamp(), first);
  rmSync(join(folder, 'dist/workers/late.js'));
  assert.equal(npm(folder, 'run', 'build').status, 0);
  assert.ok(existsSync(join(folder, 'dist/workers/late.js')));
  rmSync(join(folder, 'workers/late.ts'));
  assert.equal(npm(folder, 'run', 'build').status, 0);
  assert.equal(existsSync(join(folder, 'dist/workers/late.js')), false, 'nothing of former sources is left');
});

test('sources of another version are compiled, however old their files are', (t) => {
  const folder = projectOf(t);
  const built = (): string => readFileSync(join(folder, 'dist/src/main.js'), 'utf8');
  assert.equal(npm(folder, 'run', 'prepare').status, 0);
  // As tar and rsync leave it: with the times that it has elsewhere.
  writeFileSync(join(folder, 'src/main.ts'), `${MAIN}\nprocess.title = 'another';\n`);
  const longAgo = new Date('2020-01-01');
  utimesSync(join(folder, 'src/main.ts'), longAgo, longAgo);
  assert.doesNotMatch(built(), /another/);
  assert.equal(npm(folder, 'run', 'prepare').status, 0);
  assert.match(built(), /another/);
});

test('without a compiler (npm ci --omit=dev) npm ci goes through, and says that nothing was compiled', (t) => {
  const folder = projectOf(t);
  rmSync(join(folder, 'node_modules'));
  const prepared = npm(folder, 'run', 'prepare');
  assert.equal(prepared.status, 0);
  assert.match(prepared.said, /TypeScript is not installed/);
  assert.equal(npm(folder, 'run', 'build').status, 1);
  rmSync(join(folder, 'src'), { recursive: true });
  assert.equal(
    npm(folder, 'run', 'prepare').status,
    0,
    'nor where the sources come later, as in a container',
  );
  assert.notEqual(npm(folder, 'pack', '--dry-run').status, 0, 'nothing half is packed');
});

test('what is packed is what runs', (t) => {
  const folder = projectOf(t);
  change(folder, 'src/main.ts', `${MAIN}\nprocess.title = 'packed';\n`);
  const packed = npm(folder, 'pack', '--json', '--dry-run');
  assert.equal(packed.status, 0);
  assert.match(
    readFileSync(join(folder, 'dist/src/main.js'), 'utf8'),
    /packed/,
    'built of the sources of now',
  );
  const listed = packed.out.slice(packed.out.indexOf('['));
  const paths = (JSON.parse(listed) as { files: { path: string }[] }[]).flatMap(({ files }) =>
    files.map(({ path }) => path),
  );
  for (const path of ['dist/src/main.js', 'dist/workers/late.js', 'package.json'])
    assert.ok(paths.includes(path), path);
  assert.ok(!paths.some((path) => /^(src\/main|dist\/test|test)/.test(path)), paths.join());
});
