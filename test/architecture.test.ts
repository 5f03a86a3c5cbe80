import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';

/**
 * Who may import whom. A folder may always import itself; `main.ts`, `app.ts` and the parts that it is made of may
 * import all, and nobody else imports them. The tests run compiled from dist/, and read the sources beside it.
 */
const allowed: Readonly<Record<string, readonly string[]>> = {
  base: [],
  analytics: ['base'],
  codec: ['base'],
  ring: ['base', 'codec'],
  rtp: ['base', 'codec'],
  fmp4: ['base', 'codec'],
  mpegts: ['base', 'codec'],
  flac: ['base', 'codec'],
  rtsp: ['base', 'codec', 'rtp'],
  // What boxes send each other, in threads that never see a database: no part of `cluster`, which has one.
  relay: ['base', 'codec', 'ring'],
  store: ['base'],
  // Another box fills a ring in the place of a camera.
  camera: ['analytics', 'base', 'codec', 'flac', 'relay', 'ring', 'rtp', 'rtsp', 'store', 'wire'],
  wire: ['base', 'codec'],
  archive: ['base', 'codec', 'flac', 'ring', 'fmp4', 'mpegts', 's3', 'wire'],
  live: ['base', 'codec', 'flac', 'ring', 'rtp', 'rtsp', 'mpegts', 'fmp4', 'wire'],
  detect: ['analytics', 'base', 'codec', 'objects', 'ring', 'pictures'],
  // Runs in browsers, too.
  objects: [],
  pictures: ['base', 'codec', 'ring'],
  models: ['base', 'objects', 'store'],
  // Cameras write the same XML in their answers as in their metadata, and ask for the same Digest as by RTSP.
  onvif: ['analytics', 'base', 'rtsp'],
  // A store answers in XML, which is bounded and read as that of cameras.
  s3: ['analytics', 'base'],
  // What happens is told by events; to whom is in the store.
  notify: ['base', 'events', 'store'],
  auth: ['base', 'store'],
  backup: ['base', 'store', 'auth'],
  // What all boxes have alike is what the store has.
  cluster: ['base', 'relay', 'store'],
  // An event says what one must be allowed to hear of it; a database that fails does so like the configuration's.
  events: ['base', 'auth', 'store'],
  ops: ['base'],
  // Of the service types alone: see below.
  web: ['http', 'auth', 'objects'],
  // Makes what the API takes; a command of its own.
  import: ['base', 'http', 'rtsp'],
  // The guide: no code of the service.
  docs: [],
  // What other programs read: no code either.
  install: [],
  http: [
    'base',
    'auth',
    'backup',
    'camera',
    'archive',
    'live',
    'pictures',
    'models',
    'objects',
    'detect',
    'onvif',
    'ops',
    'events',
    'notify',
  ],
};
const workersMayImport = [
  ...['base', 'ring', 'camera', 'archive', 'live', 'pictures', 'detect', 'cluster', 'relay'],
];
/** What a worker thread never loads, however indirectly: secrets and the database stay on the main thread. */
const neverInWorkers = ['src/store/', 'src/auth/', 'src/backup/', 'src/http/'];
const parts = [
  'adopted-settings',
  'cluster-facts',
  'storage',
  'media',
  'operations',
  'happenings',
  'notices',
  'other-boxes',
  'event-pictures',
  'detection',
  'routes',
  'listeners',
  'stops',
  'service-facts',
  'served-tls',
].map((name) => `src/${name}.ts`);
const roots = ['src/command.ts', 'src/main.ts', 'src/app.ts', ...parts, 'src/config.ts'];

const repo = join(import.meta.dirname, '../..');

type Import = { from: string; to: string; typeOnly: boolean };

const filesBelow = (folder: string): string[] => {
  // git keeps no empty folder: a fresh clone may lack one that nobody has filled yet.
  if (!existsSync(join(repo, folder))) return [];
  return readdirSync(join(repo, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => `${folder}/${name}`);
};

/** The source of what is imported as it will be called once it is compiled. */
const withSuffix = (path: string): string => {
  const source = path.replace(/\.js$/, '.ts');
  return existsSync(join(repo, `${source}x`)) ? `${source}x` : source;
};

const importsOf = (file: string): Import[] => {
  const text = readFileSync(join(repo, file), 'utf8');
  const found: Import[] = [];
  for (const match of text.matchAll(/(?:^|\n)\s*(import|export)\s+(type\s)?[^;]*?from\s+'(\.[^']+)'/g)) {
    const to = withSuffix(normalize(join(dirname(file), match[3]!)));
    found.push({ from: file, to, typeOnly: match[2] !== undefined });
  }
  for (const match of text.matchAll(/new URL\(\s*'(\.[^']+\.js)'\s*,\s*import\.meta\.url/g)) {
    const to = normalize(join(dirname(file), match[1]!)).replace(/\.js$/, '.ts');
    found.push({ from: file, to, typeOnly: true });
  }
  return found;
};

const roomOf = (file: string): string => {
  const parts = file.split('/');
  return parts[0] === 'src' ? parts[1]! : parts[0]!;
};

const sources = [...filesBelow('src'), ...filesBelow('workers')];
const imports = sources.flatMap(importsOf);

test('every folder imports only what the layer table allows', () => {
  const faults: string[] = [];
  for (const { from, to } of imports) {
    if (roots.includes(from) && from !== 'src/config.ts') continue;
    const target = roomOf(to);
    const source = roomOf(from);
    if (source === target) continue;
    if (to.startsWith('workers/')) {
      // A main-side handle names its worker's entry by URL; nobody imports it as code.
      continue;
    }
    const mayImport =
      source === 'workers' ? workersMayImport : source === 'config.ts' ? ['base'] : allowed[source];
    if (mayImport === undefined) faults.push(`${from}: folder ${source} is not in the table`);
    else if (!mayImport.includes(target)) faults.push(`${from} imports ${to}`);
  }
  assert.deepEqual(faults, []);
});

test('the web app has only types of the service: nothing of it runs in a browser but what is made for both', () => {
  const faults = imports.filter(
    ({ from, to, typeOnly }) =>
      roomOf(from) === 'web' && !['web', 'objects'].includes(roomOf(to)) && !typeOnly,
  );
  assert.deepEqual(faults, []);
  for (const file of filesBelow('src/objects')) {
    const imported = readFileSync(join(repo, file), 'utf8').matchAll(/from '([^']+)'/g);
    for (const [, name = ''] of imported) assert.match(name, /^\.\//, `${file} imports ${name}`);
  }
});

test('nobody but the ring knows where in its memory what lies', () => {
  const faults = imports.filter(({ from, to }) => to === 'src/ring/layout.ts' && roomOf(from) !== 'ring');
  assert.deepEqual(faults, []);
});

test('nobody imports the composition root or the process entry', () => {
  const faults = imports.filter(
    ({ from, to }) =>
      to === 'src/main.ts' ||
      (to === 'src/app.ts' && from !== 'src/main.ts') ||
      (parts.includes(to) && from !== 'src/app.ts' && !parts.includes(from)),
  );
  assert.deepEqual(faults, []);
});

test('there is no import circle, types included', () => {
  const next = new Map<string, string[]>();
  for (const { from, to } of imports) {
    // A main-side handle names its worker's entry by URL, and the entry loads what the handle types.
    if (!to.startsWith('workers/')) next.set(from, [...(next.get(from) ?? []), to]);
  }
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): void => {
    const at = path.indexOf(file);
    assert.equal(at, -1, `cycle: ${[...path.slice(at), file].join(' → ')}`);
    if (done.has(file)) return;
    path.push(file);
    for (const target of next.get(file) ?? []) visit(target);
    path.pop();
    done.add(file);
  };
  for (const file of next.keys()) visit(file);
});

/** All that is loaded where these are started. */
const loadedBy = (entries: readonly string[]): ReadonlySet<string> => {
  const reached = new Set<string>();
  const reach = (file: string): void => {
    if (reached.has(file)) return;
    reached.add(file);
    for (const { to, typeOnly } of importsOf(file)) if (!typeOnly) reach(to);
  };
  for (const entry of entries) reach(entry);
  return reached;
};

test('who speaks with a store is loaded by the threads that do, and by nobody else', () => {
  const entries = [...filesBelow('workers'), 'src/main.ts', 'src/app.ts'];
  const loading = entries.filter((entry) =>
    [...loadedBy([entry])].some((file) => file.startsWith('src/s3/') || file.endsWith('/offsite/copier.ts')),
  );
  assert.deepEqual(loading, ['workers/archive-copier.ts', 'workers/archive-store-reader.ts']);
});

test('worker threads never load the database, accounts or the web server', () => {
  const reached = loadedBy(filesBelow('workers'));
  const faults = [...reached].filter((file) => neverInWorkers.some((folder) => file.startsWith(folder)));
  assert.deepEqual(faults, []);
  for (const file of reached) {
    assert.doesNotMatch(
      readFileSync(join(repo, file), 'utf8'),
      /import\((?:name|'better-sqlite3)|from 'better-sqlite3'/,
      file,
    );
  }
});

test('what only a cluster needs is loaded where there is one: nothing else imports it, but for its types', () => {
  for (const room of ['cluster', 'relay']) {
    const faults = imports.filter(
      ({ from, to, typeOnly }) =>
        roomOf(to) === room && ![room, 'workers'].includes(roomOf(from)) && !typeOnly,
    );
    assert.deepEqual(faults, []);
  }
  const ofOneBox = filesBelow('workers').filter(
    (name) => !['workers/relay.ts', 'workers/pulse.ts', 'workers/archive-boxes.ts'].includes(name),
  );
  assert.deepEqual(
    imports.filter(({ from, to }) => ofOneBox.includes(from) && ['relay', 'cluster'].includes(roomOf(to))),
    [],
  );
  const isOfOthers = (file: string): boolean => file.startsWith('src/archive/others/');
  assert.deepEqual(
    imports.filter(
      ({ from, to, typeOnly }) =>
        isOfOthers(to) && !isOfOthers(from) && !typeOnly && from !== 'workers/archive-boxes.ts',
    ),
    [],
  );
  for (const file of sources.filter((name) => roomOf(name) !== 'cluster'))
    assert.doesNotMatch(readFileSync(join(repo, file), 'utf8'), /from '@nats-io\//, file);
});

test('worker entries stay thin', () => {
  for (const entry of filesBelow('workers')) {
    const lines = readFileSync(join(repo, entry), 'utf8').split('\n').length;
    assert.ok(lines <= 40, `${entry} has ${lines} lines`);
  }
});

test('no file outgrows its room, and none is a barrel', () => {
  for (const file of [...sources, ...filesBelow('test'), ...filesBelow('native-free-bench')]) {
    const text = readFileSync(join(repo, file), 'utf8');
    assert.ok(text.split('\n').length <= 500, `${file} has over 500 lines: two things live in one room`);
    assert.ok(!/^export \*/m.test(text), `${file} re-exports everything of another file`);
    assert.ok(!file.endsWith('/index.ts'), `${file}: name a file for what it does`);
  }
});

test('every folder of the house is written in the table', () => {
  const folders = readdirSync(join(repo, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
  for (const folder of folders) assert.ok(allowed[folder], `src/${folder} has no line in the layer table`);
});

test('what each thread of jobs loads has no parser of schemas: it would be loaded a dozen times', () => {
  const loaded = new Set(['src/archive/jobs/jobs.ts']);
  for (const file of loaded)
    for (const { from, to, typeOnly } of imports) if (from === file && !typeOnly) loaded.add(to);
  assert.ok(loaded.has('src/archive/keep/cut-recording.ts'));
  const faults = [...loaded].filter((file) => / from 'zod'/.test(readFileSync(join(repo, file), 'utf8')));
  assert.deepEqual(faults, []);
});

/** A folder with more files than this is walked by a README: its own, or the next one above. */
const SMALL_FOLDER_FILES = 7;

test('the README of each large folder names every file and room in it', () => {
  const missing: string[] = [];
  for (const folder of new Set(filesBelow('src').map((file) => dirname(file)))) {
    if (folder === 'src') continue;
    const entries = readdirSync(join(repo, folder), { withFileTypes: true }).filter(
      (entry) => entry.isDirectory() || /\.tsx?$/.test(entry.name),
    );
    const readmes = [folder, dirname(folder)].map((path) => join(repo, path, 'README.md'));
    const readme = readmes.find((path) => existsSync(path));
    if (readme !== readmes[0] && entries.length <= SMALL_FOLDER_FILES) continue;
    const text = readme === undefined ? '' : readFileSync(readme, 'utf8');
    const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
    missing.push(...names.filter((name) => !text.includes(`\`${name}\``)).map((name) => `${folder}/${name}`));
  }
  assert.deepEqual(missing, []);
});
