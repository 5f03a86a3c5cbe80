import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { newSecret, signedHeaders } from '../../src/notify/webhooks/signature.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const GUIDE = 'src/docs/guide';
const names: readonly string[] = JSON.parse(readFileSync(`${GUIDE}/contents.json`, 'utf8'));
const markdown = (name: string): string => readFileSync(`${GUIDE}/${name}.md`, 'utf8');

let app: TestApp;
before(async () => {
  app = await startTestApp({ withUsers: false });
});
after(() => app.stop());

const pathOf = (name: string): string => (name === 'index' ? '/docs' : `/docs/${name}`);
const get = async (path: string) => {
  const answer = await fetch(`${app.url}${path}`, { redirect: 'manual' });
  return { answer, text: await answer.text() };
};

test('each page of the guide is in its contents, and nothing else', () => {
  const files = readdirSync(GUIDE).filter((name) => name.endsWith('.md'));
  assert.deepEqual(files.sort(), names.map((name) => `${name}.md`).sort());
});

test('guide and reference are open to all, and take nothing from elsewhere', async () => {
  for (const path of [...names.map(pathOf), '/docs/', '/api/docs']) {
    const { answer, text } = await get(path);
    assert.equal(answer.status, 200, path);
    assert.match(answer.headers.get('content-type') ?? '', /^text\/html; charset=utf-8/);
    const policy = answer.headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy, /unsafe|https?:|\*/);
    assert.doesNotMatch(
      text,
      /<script(?![^>]*src="\/)|\sstyle=|(?:src|<link[^>]*href)="(?:https?:)?\/\//,
      path,
    );
    assert.doesNotMatch(text, /\{\{README|undefined|\[object|TODO/, path);
  }
  for (const path of ['/docs/guide.css', '/docs/guide.js', '/icon.svg'])
    assert.equal((await get(path)).answer.status, 200, path);
  for (const path of ['/docs/nothing', '/docs/index/more', '/docs/..%2f..%2fpackage', '/docs/README'])
    assert.equal((await get(path)).answer.status, 404, path);
});

test('each link within guide and reference leads somewhere, to its very heading', async () => {
  const pages = new Map<string, string>();
  for (const path of [...names.map(pathOf), '/api/docs']) pages.set(path, (await get(path)).text);
  let count = 0;
  for (const [from, text] of pages)
    for (const [, href] of text.matchAll(/href="([^"]+)"/g)) {
      if (/^https?:/.test(href!)) continue;
      const [path, anchor] = href!.split('#');
      const target = path === '' ? from : path!;
      const content = pages.get(target) ?? (await get(target)).text;
      if (!pages.has(target)) assert.equal((await get(target)).answer.status, 200, `${from}: ${href}`);
      if (anchor !== undefined) assert.ok(content.includes(`id="${anchor}"`), `${from}: ${href}`);
      count += 1;
    }
  assert.ok(count > 300, String(count));
});

test('the reference has each operation of the document, with its form', async () => {
  const { text } = await get('/api/docs');
  const { text: json } = await get('/api/openapi.json');
  const document = JSON.parse(json) as {
    paths: Record<string, Record<string, { operationId: string }>>;
    components: { schemas: Record<string, unknown> };
  };
  for (const operations of Object.values(document.paths))
    for (const { operationId } of Object.values(operations))
      assert.ok(text.includes(`<details id="${operationId}">`), operationId);
  for (const name of Object.keys(document.components.schemas))
    assert.ok(text.includes(`id="schema-${name}"`), name);
});

test('each variable and each metric that the guide names is there', async () => {
  const config = readFileSync('src/config.ts', 'utf8');
  const readme = readFileSync('README.md', 'utf8');
  const { text: metrics } = await get('/metrics');
  const sources = readdirSync('src/ops', { encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(`src/ops/${name}`, 'utf8'))
    .join();
  for (const name of names) {
    const text = markdown(name);
    for (const [, variable] of text.matchAll(/`([A-Z][A-Z]+(?:_[A-Z]+)+)(?:=[^`]*)?`/g))
      assert.ok(
        config.includes(`'${variable}'`) && readme.includes(`\`${variable}\``),
        `${name}: ${variable}`,
      );
    for (const [metric] of text.matchAll(/svc_[a-z_]+/g))
      assert.ok(metrics.includes(metric) || sources.includes(metric), `${name}: ${metric}`);
  }
});

test('each route that the guide names is there', async () => {
  const { text: json } = await get('/api/openapi.json');
  const paths = Object.keys(JSON.parse(json).paths);
  for (const name of names)
    for (const [, path] of markdown(name).matchAll(/`(?:GET|POST|PUT|DELETE) (\/[^`?]+)[^`]*`/g))
      assert.ok(paths.includes(path!.replaceAll(/:(\w+)/g, '{$1}')), `${name}: ${path}`);
});

test('what the service stands on is listed, with the licence that each package says', () => {
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { license?: string; dev?: boolean; devOptional?: boolean; peer?: boolean }>;
  };
  const rows = [...markdown('dependencies').matchAll(/^\| `([^`]+)` +\| ([^ ]+) +\| (.+) \|$/gm)];
  const listed = rows.map(([, name, licence, why]) => [name, licence, why!.trim() !== '']);
  const wanted = Object.keys({ ...dependencies, ...optionalDependencies })
    .sort()
    .map((name) => [name, packages[`node_modules/${name}`]?.license, true]);
  assert.deepEqual(listed, wanted);
  // And whatever they bring along.
  // MPL-2.0 asks for the source of its own files alone, which nobody changed here.
  const free =
    /MPL-2\.0|MIT|ISC|BSD-[23]-Clause|Apache-2\.0|BlueOak-1\.0\.0|0BSD|Unlicense|CC0-1\.0|Python-2\.0/;
  for (const [path, { license = '', dev, devOptional, peer }] of Object.entries(packages))
    if (path !== '' && dev !== true && devOptional !== true && peer !== true)
      assert.match(license, free, path);
});

test('a receiver that checks signatures as the guide has it takes our messages, and no others', async () => {
  const code = /```js\n([\s\S]+?)```/.exec(markdown('messages'))![1]!;
  const { isOurs } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  const secret = newSecret();
  const body = '{"type":"camera_lost.began"}';
  const wallMs = 1_790_000_000_000;
  const headers = signedHeaders(secret, { messageId: 'msg_1', wallMs, body });
  assert.equal(isOurs(headers, body, secret, wallMs), true);
  const other = { ...headers, 'webhook-signature': `v1,AAAA ${headers['webhook-signature']}` };
  assert.equal(isOurs(other, body, secret, wallMs + 299_000), true, 'one of several signatures');
  assert.equal(isOurs(headers, body, secret, wallMs + 301_000), false, 'too old');
  assert.equal(isOurs(headers, body, secret), false, 'too old by the own clock');
  assert.equal(isOurs(headers, `${body} `, secret, wallMs), false);
  assert.equal(isOurs(headers, body, newSecret(), wallMs), false);
  // Anybody can send anything to a receiver.
  for (const forged of [
    {},
    { ...headers, 'webhook-id': 'msg_2' },
    { ...headers, 'webhook-timestamp': 'soon' },
    { ...headers, 'webhook-signature': 'v1,' },
    { 'webhook-timestamp': headers['webhook-timestamp'] },
  ])
    assert.equal(isOurs(forged, body, secret, wallMs), false, JSON.stringify(forged));
});
