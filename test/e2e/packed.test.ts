import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { callApi } from '../support/api-client.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { recordsOf } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const repo = join(import.meta.dirname, '../../..');

/** Only what a person's shell has, and what tells npm of this machine: nothing of the test's own npm. */
const shell = (home: string): Record<string, string> => {
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((part) => !part.includes('node_modules'));
  const nodedir = process.env['npm_config_nodedir'];
  return {
    // The Node that runs this, wherever it lies.
    PATH: [dirname(process.execPath), ...path].join(delimiter),
    HOME: home,
    npm_config_cache: join(process.env['HOME'] ?? home, '.npm'),
    ...(nodedir === undefined ? {} : { npm_config_nodedir: nodedir }),
    // How quick the database is tells nothing here, and its optimization would take a minute.
    ...{ CFLAGS: '-O0', CXXFLAGS: '-O0' },
    // As README.md has it: what GPUs need stays where it is.
    ONNXRUNTIME_NODE_INSTALL: 'skip',
  };
};

const run = (command: string, args: readonly string[], cwd: string, limitMs?: number) => {
  const options = { cwd, env: shell(cwd), encoding: 'utf8', timeout: limitMs } as const;
  const { status, stdout, stderr, error } = spawnSync(command, args, options);
  return { status, out: stdout, said: stdout + stderr, isCutOff: error !== undefined };
};

/** What `npm pack` makes; a build is not begun here, while other tests run on its results. */
const pack = (t: TestContext): string => {
  const folder = tempFolder(t);
  const { status, out, said } = run(
    'npm',
    ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder],
    repo,
  );
  assert.equal(status, 0, said);
  return join(folder, out.trim());
};

const unpacked = (t: TestContext, tarball: string): string => {
  const folder = tempFolder(t);
  assert.equal(run('tar', ['xzf', tarball, '-C', folder], folder).status, 0);
  return join(folder, 'package');
};

/** What a compiled file loads by name, or by a path beside it. */
const loadedBy = (text: string): string[] =>
  [
    /^(?:import|export)\b[^;'"]*?from ['"]([^'"]+)['"]/gm,
    /^import ['"]([^'"]+)['"]/gm,
    /\bimport\(['"]([^'"]+)['"]\)/g,
    /\brequire\(['"]([^'"]+)['"]\)/g,
    // By a name that is chosen at run time.
    /['"](better-sqlite3[^'"]*)['"]/g,
    /new URL\(['"](\.[^'"]+)['"], import\.meta\.url\)/g,
  ].flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1]!));

test('what is packed is built, whole, and loads nothing that is not installed with it', (t) => {
  const folder = unpacked(t, pack(t));
  const { dependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  ) as Record<'dependencies' | 'optionalDependencies', Record<string, string>>;
  const installed = new Set([...Object.keys(dependencies), ...Object.keys(optionalDependencies)]);
  const builtin = new Set(builtinModules.map((name) => `node:${name}`));
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  assert.deepEqual(
    files.filter((name) => /\.tsx?$|(^|\/)(test|native-free-bench)(\/|$)/.test(name)),
    [],
  );
  const used = new Set<string>();
  const faults: string[] = [];
  for (const name of files.filter((each) => /^dist\/(src|workers)\/.*\.c?js$/.test(each))) {
    const path = join(folder, name);
    for (const loaded of loadedBy(readFileSync(path, 'utf8'))) {
      const packageName = /^(@[^/]+\/)?[^/]+/.exec(loaded)![0];
      used.add(packageName);
      const isThere = loaded.startsWith('.')
        ? existsSync(join(dirname(path), loaded))
        : builtin.has(loaded) || installed.has(packageName);
      if (!isThere) faults.push(`${name} loads ${loaded}`);
    }
  }
  assert.deepEqual(faults, []);
  assert.deepEqual(
    [...installed].filter((name) => !used.has(name)),
    [],
    'nothing is installed that is not used',
  );
});

/** Less than test/run.mjs gives a whole file, which would be cut off without a word. */
const INSTALL_LIMIT_MS = 480_000;
const NO_REGISTRY =
  /^npm (?:error|ERR!) code (?:ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNREFUSED|ECONNRESET|ENOTCACHED|ERR_SOCKET_TIMEOUT|EIDLETIMEOUT|E429|E5\d\d)$/m;

/** An empty folder in which it was installed; null where nobody has its dependencies, asked twice. */
const installedIn = (t: TestContext): string | null => {
  const folder = tempFolder(t);
  const args = ['install', pack(t), '--omit=dev', '--prefer-offline', '--no-audit', '--no-fund'];
  const endMs = performance.now() + INSTALL_LIMIT_MS;
  for (let tries = 1; ; tries += 1) {
    const leftMs = Math.max(1, Math.round(endMs - performance.now()));
    const { status, said, isCutOff } = run('npm', args, folder, leftMs);
    assert.ok(!isCutOff, `npm install was not done within ${INSTALL_LIMIT_MS / 1_000} s: ${said}`);
    if (!NO_REGISTRY.test(said)) {
      assert.equal(status, 0, said);
      return folder;
    }
    if (tries === 2) {
      t.skip(`no registry answers, and no cache has what it needs: ${said.split('\n')[0]}`);
      return null;
    }
  }
};

/** `npx framering` in a terminal: Ctrl+C reaches the whole group. */
const start = async (
  t: TestContext,
  folder: string,
  env: Record<string, string>,
  program = ['npx', 'framering'],
) => {
  const child = spawn(program[0]!, program.slice(1), { cwd: folder, env, detached: true });
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  t.after(() => hasEnded() || process.kill(-child.pid!, 'SIGKILL'));
  let out = '';
  let isClosed = false;
  child.once('close', () => {
    isClosed = true;
  });
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (out += text));
  const ready = await until(
    'it listens',
    () => {
      assert.ok(!hasEnded(), out);
      return recordsOf(out).find(({ msg }) => msg === 'listening');
    },
    { deadlineMs: 120_000, describe: () => out },
  );
  const url = String(ready['url']);
  const interrupt = async (): Promise<void> => {
    process.kill(-child.pid!, 'SIGINT');
    await until('all of it has ended', () => isClosed, { deadlineMs: 60_000, describe: () => out });
  };
  return { url, out: () => out, interrupt };
};

const login = async (url: string, password: string): Promise<string> =>
  (await callApi(url, 'POST', '/api/login', { body: { username: 'admin', password } })).body.token;

/** All that it starts, threads and processes, it finds where it was installed. */
const streamsFrom = async (t: TestContext, url: string, token: string): Promise<void> => {
  const camera = await FakeCamera.start({ mounts: { '/gate': { video: fixtures.h264High() } } });
  t.after(() => camera[Symbol.asyncDispose]());
  const body = { id: 'gate', url: camera.url(), record: true };
  assert.equal((await callApi(url, 'POST', '/api/cameras', { token, body })).status, 201);
  await until('the camera streams', async () => {
    const { body: cameras } = await callApi(url, 'GET', '/api/cameras', { token });
    return cameras[0]?.state === 'streaming';
  });
};

test('npx framering, in an empty folder where the tarball was installed', async (t) => {
  const folder = installedIn(t);
  if (folder === null) return;
  const { version } = JSON.parse(readFileSync(join(repo, 'package.json'), 'utf8')) as { version: string };
  assert.equal(run('npx', ['framering', '--version'], folder).out, `${version}\n`);
  const dataDir = join(folder, '.local/share/framering');
  const help = run('npx', ['framering', '--help'], folder);
  assert.equal(help.status, 0);
  assert.ok(help.out.includes(dataDir), help.out);
  const unknown = run('npx', ['framering', 'serve'], folder);
  assert.equal(unknown.status, 2);
  assert.match(unknown.said, /^framering knows no "serve": framering --help$/m);
  writeFileSync(join(folder, 'go2rtc.yaml'), 'streams: { door: rtsp://127.0.0.1/a }\n');
  const plan = run('npx', ['framering', 'import', 'go2rtc.yaml'], folder);
  assert.equal(plan.status, 0, plan.said);
  assert.match(plan.out, /"id":"door".*"url":"rtsp:\/\/127\.0\.0\.1\/a"/);
  assert.equal(existsSync(dataDir), false, 'nothing was started by now');

  const env = { ...shell(folder), HOST: '127.0.0.1', PORT: '0', METRICS_PORT: '0' };
  const first = await start(t, folder, env);
  await until('it tells where it is', () => first.out().includes(`Open ${first.url} in a browser.`));
  assert.ok(first.out().includes(`recordings in ${dataDir}/recordings.`), first.out());
  assert.doesNotMatch(first.out(), /few threads/);
  assert.match(await (await fetch(first.url)).text(), /<!doctype html>/i);
  const password = /^password: (.*)$/m.exec(first.out())?.[1] ?? '';
  await streamsFrom(t, first.url, await login(first.url, password));
  await first.interrupt();
  assert.ok(
    recordsOf(first.out()).some(({ msg }) => msg === 'stopped'),
    first.out(),
  );

  const elsewhere = join(folder, 'elsewhere');
  mkdirSync(elsewhere);
  const again = await start(t, elsewhere, env, [join(folder, 'node_modules/.bin/framering')]);
  assert.ok(await login(again.url, password), 'the same data from another folder');
  assert.doesNotMatch(again.out(), /in a browser/);
  await again.interrupt();
  assert.deepEqual(readdirSync(elsewhere), []);

  rmSync(join(folder, 'node_modules/onnxruntime-node'), { recursive: true });
  const model = join(folder, 'node_modules/framering/dist/src/detect/engine/model.js');
  const load = `import(${JSON.stringify(model)}).then(({ Model }) => Model.load('x.onnx')).catch((fault) => console.log(fault.message))`;
  assert.equal(run('node', ['-e', load], folder).out, "the package onnxruntime-node isn't installed\n");
});
