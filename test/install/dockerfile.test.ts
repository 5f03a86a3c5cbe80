import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { recordsOf, runService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { effective, readDockerfile, type Stage } from './dockerfile.js';
import { judge, repo, run, whyNo } from './judges.js';

const stages = readDockerfile();
const last = stages.at(-1)!;
const NEEDED_BY_APT: Readonly<Record<string, readonly string[]>> = {
  build: ['python3', 'make', 'g++'],
  'with-ffmpeg': ['ffmpeg'],
};

test('hadolint finds nothing to say about it', { skip: whyNo('hadolint') }, () => {
  assert.deepEqual(run(judge('hadolint'), ['--no-color', 'Dockerfile']), { status: 0, said: '' });
});

test('what runs at last is no root, says whether it is well, and is the program itself', () => {
  assert.match(last.base, /^runtime$/);
  for (const stage of stages.filter(({ name }) => name !== 'build')) {
    assert.match(effective(stages, stage, 'USER') ?? '', /^1000:1000$/, stage.name);
    assert.match(effective(stages, stage, 'HEALTHCHECK') ?? '', /CMD \["node", /);
    assert.deepEqual(JSON.parse(effective(stages, stage, 'CMD') ?? ''), [...['node', 'dist/src/main.js']]);
  }
  for (const { base } of stages.filter(({ base }) => base.includes(':')))
    assert.match(base, /^node:\d+-slim$/);
});

/** A machine whose folders are all below one: `/app` and `/data` of the image are there. */
const shellIn = (root: string) => {
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((part) => !part.includes('node_modules'));
  const nodedir = process.env['npm_config_nodedir'];
  const env = {
    ...{ PATH: [dirname(process.execPath), ...path].join(delimiter), HOME: join(root, 'root') },
    npm_config_cache: join(process.env['HOME'] ?? root, '.npm'),
    ...(nodedir === undefined ? {} : { npm_config_nodedir: nodedir }),
    // How quick the database is tells nothing here, and its optimization would take a minute.
    ...{ CFLAGS: '-O0', CXXFLAGS: '-O0', npm_config_prefer_offline: 'true' },
  };
  return (command: string) =>
    run('sh', ['-euc', command.replaceAll(/(?<=\s)\/data\b/g, join(root, 'data'))], {
      cwd: join(root, 'app'),
      env,
    });
};

/** What the context has, as .dockerignore leaves it. */
const copyIn = (text: string, from: string, to: string): void => {
  const words = text.split(' ').filter((word) => !word.startsWith('--'));
  for (const source of words.slice(0, -1)) {
    const name = source.replace(/^\/app\//, '').replace(/^\.\//, '');
    assert.ok(existsSync(join(from, name)), `there is no ${source} to copy`);
    cpSync(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
  }
};

/** Runs the steps of a stage; null: nobody has what npm needs. */
const build = (t: TestContext, stage: Stage, roots: ReadonlyMap<string, string>): string | null => {
  const root = tempFolder(t);
  mkdirSync(join(root, 'app'));
  const shell = shellIn(root);
  for (const { name, text } of stage.instructions) {
    if (name === 'COPY') {
      const from = /^--from=(\S+)/.exec(text)?.[1];
      copyIn(text, from === undefined ? repo : join(roots.get(from)!, 'app'), join(root, 'app'));
    } else if (name === 'RUN' && text.startsWith('apt-get')) {
      // The base image's own packages: on this machine they are there, or the test says which one is not.
      for (const program of NEEDED_BY_APT[stage.name] ?? []) {
        assert.ok(text.includes(program), `${stage.name} no longer installs ${program}`);
        assert.equal(shell(`command -v ${program}`).status, 0, `the step needs ${program} here`);
      }
    } else if (name === 'RUN') {
      const { status, said } = shell(text);
      if (/\b(ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNREFUSED)\b.*(registry|request to)/.test(said)) {
        t.skip('no registry answers, and no cache has what npm needs');
        return null;
      }
      assert.equal(status, 0, `${text}\n${said}`);
    }
  }
  return root;
};

const unquoted = (text: string): Record<string, string> =>
  Object.fromEntries(text.split(' ').map((pair) => pair.split('=') as [string, string]));

test('its steps, one after the other in empty folders, make a service that runs and is well', async (t) => {
  const roots = new Map<string, string>();
  for (const name of ['build', 'runtime']) {
    const root = build(t, stages.find((stage) => stage.name === name)!, roots);
    if (root === null) return;
    roots.set(name, root);
  }
  const root = roots.get('runtime')!;
  const app = join(root, 'app');
  assert.deepEqual(readdirSync(app).sort(), ['dist', 'node_modules', 'package.json']);
  for (const name of ['typescript', 'vite', 'playwright-core'])
    assert.equal(existsSync(join(app, 'node_modules', name)), false, `${name} is for developers`);
  const env = unquoted(effective(stages, last, 'ENV') ?? '');
  assert.equal(env['DATA_DIR'], '/data');
  const service = runService({ ...env, DATA_DIR: join(root, 'data') }, join(app, 'dist/src/main.js'));
  t.after(() => service.process.kill('SIGKILL'));
  const { metrics_url } = await until(
    'it listens',
    () => recordsOf(service.out()).find(({ msg }) => msg === 'listening'),
    { deadlineMs: 60_000, describe: () => service.out() + service.err() },
  );
  assert.doesNotMatch(service.out(), /few threads/);
  const check = /CMD (\[.*\])$/.exec(effective(stages, last, 'HEALTHCHECK') ?? '')?.[1] ?? '';
  const [program = '', ...args] = JSON.parse(check) as string[];
  const HEALTH = { PATH: process.env['PATH'], METRICS_PORT: new URL(String(metrics_url)).port };
  assert.equal(run(program, args, { env: HEALTH }).status, 0, 'it is well');
  service.process.kill((effective(stages, last, 'STOPSIGNAL') ?? '') as NodeJS.Signals);
  assert.equal(await service.exited, 0);
  assert.equal(run(program, args, { env: HEALTH }).status, 1, 'it is gone');
});
