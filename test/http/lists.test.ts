import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../support/test-app.js';

let app: TestApp;
before(async () => {
  app = await startTestApp();
});
after(() => app.stop());

const get = (path: string, headers: Record<string, string> = {}, token = app.tokens.admin) =>
  fetch(app.url + path, { headers: { authorization: `Bearer ${token}`, ...headers } });

/** Every page of a list, each by the address that the one before names. */
const pagesOf = async (path: string): Promise<Record<string, string>[][]> => {
  const pages: Record<string, string>[][] = [];
  for (let next: string | undefined = path; next !== undefined; ) {
    const page = await get(next);
    assert.equal(page.status, 200);
    pages.push((await page.json()) as Record<string, string>[]);
    next = /^<([^>]+)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1];
  }
  return pages;
};

test('a list is given whole, or page by page, however it changes meanwhile', async () => {
  for (const id of ['e', 'a', 'd', 'b', 'c']) {
    await app.asAdmin('POST', '/api/tags', { id, name: id, color: '#000000' });
    await app.asAdmin('POST', '/api/folders', { id, name: id });
    await app.asAdmin('POST', '/api/cameras', { id, url: 'rtsp://127.0.0.1:9/1', disabled: true });
  }
  for (const path of ['/api/tags', '/api/folders', '/api/cameras']) {
    const ids = (pages: Record<string, string>[][]) => pages.map((page) => page.map(({ id }) => id).join(''));
    assert.deepEqual(ids(await pagesOf(path)), ['abcde']);
    assert.deepEqual(ids(await pagesOf(`${path}?limit=2`)), ['ab', 'cd', 'e']);
    assert.deepEqual(ids(await pagesOf(`${path}?limit=5`)), ['abcde'], 'no page that is empty');
    assert.deepEqual(ids(await pagesOf(`${path}?cursor=bb`)), ['cde'], 'the last one seen may be gone');
    assert.deepEqual(ids(await pagesOf(`${path}?cursor=e&limit=1`)), ['']);
    for (const query of ['limit=0', 'limit=1001', 'limit=x', 'limit=', 'cursor=%2F'])
      assert.equal((await get(`${path}?${query}`)).status, 400, query);
  }
  const names = (await pagesOf('/api/users?limit=1')).map(([user]) => user?.['username']);
  assert.deepEqual(names, [...names].sort());
  assert.ok(names.length > 1);
});

test('who has the list already is told so, until it is another one', async () => {
  for (const path of ['/api/tags', '/api/folders', '/api/users', '/api/tags?limit=1']) {
    const etag = (await get(path)).headers.get('etag') ?? '';
    const again = await get(path, { 'if-none-match': etag });
    assert.deepEqual([again.status, await again.text()], [304, ''], path);
  }
  const before = (await get('/api/tags')).headers.get('etag') ?? '';
  await app.asAdmin('PUT', '/api/tags/a', { name: 'another' });
  const after = await get('/api/tags', { 'if-none-match': before });
  assert.equal(after.status, 200);
  const [page] = [await get('/api/tags?limit=5')];
  await app.asAdmin('POST', '/api/tags', { id: 'zz', name: 'x', color: '#000000' });
  const same = await get('/api/tags?limit=5', { 'if-none-match': page.headers.get('etag') ?? '' });
  assert.equal(await page.text(), await same.text(), 'the page is the same, but is the last no more');
  assert.deepEqual([same.status, page.headers.get('link'), same.headers.has('link')], [200, null, true]);
});

test('a list that hides passwords is another one than the one that shows them', async () => {
  const url = 'rtsp://root:s3cret@127.0.0.1:9/1';
  await app.asAdmin('POST', '/api/cameras', { id: 'z', url, disabled: true });
  for (const path of ['/api/cameras', '/api/cameras?limit=1&cursor=e', '/api/cameras/z']) {
    const shown = await get(path);
    const hidden = await get(path, { 'if-none-match': shown.headers.get('etag') ?? '""' }, app.tokens.viewer);
    assert.equal(hidden.status, 200);
    assert.match(await shown.text(), /s3cret/);
    assert.equal(shown.headers.get('cache-control'), 'no-store');
    assert.doesNotMatch(await hidden.text(), /s3cret/);
  }
});

test('one camera is what the list has of it', async () => {
  const list = (await app.asAdmin('GET', '/api/cameras')).body as { id: string }[];
  assert.deepEqual(
    (await app.asAdmin('GET', '/api/cameras/c')).body,
    list.find(({ id }) => id === 'c'),
  );
  const missing = await app.asAdmin('GET', '/api/cameras/none');
  assert.deepEqual([missing.status, missing.body.code], [404, 'not_found']);
});

test('a tag is changed in what is sent', async () => {
  await app.asAdmin('POST', '/api/tags', { id: 'door', name: 'Door', color: '#00ff00' });
  const changed = await app.asAdmin('PUT', '/api/tags/door', { id: 'door', color: '#0000ff' });
  assert.deepEqual([changed.status, changed.body], [200, { id: 'door', name: 'Door', color: '#0000ff' }]);
  assert.equal((await app.asAdmin('PUT', '/api/tags/door', { id: 'gate' })).status, 400);
  assert.equal((await app.asAdmin('PUT', '/api/tags/door', { color: 'blue' })).status, 400);
  assert.equal((await app.asAdmin('PUT', '/api/tags/door', { colour: '#0000ff' })).status, 400);
  assert.equal((await app.asAdmin('PUT', '/api/tags/none', { name: 'x' })).status, 404);
  assert.deepEqual(
    (await app.asAdmin('GET', '/api/tags')).body.find(({ id }: { id: string }) => id === 'door'),
    changed.body,
  );
});

test('a folder is moved with what is in it, and never below itself', async () => {
  for (const [id, parent_id] of [
    ['house', ''],
    ['floor', 'house'],
    ['room', 'floor'],
    ['yard', ''],
  ])
    await app.asAdmin('POST', '/api/folders', { id, name: id, parent_id });
  const move = async (id: string, parent_id: string) => {
    const { status, body } = await app.asAdmin('PUT', `/api/folders/${id}`, { parent_id });
    return status === 200 ? body.parent_id : body.code;
  };
  assert.equal(await move('floor', 'yard'), 'yard');
  assert.equal(await move('yard', 'house'), 'house');
  for (const below of ['house', 'yard', 'floor', 'room'])
    assert.equal(await move('house', below), 'folder_cycle');
  assert.equal(await move('house', 'none'), 'unknown_parent');
  assert.equal(await move('yard', ''), '');
  const folders = (await app.asAdmin('GET', '/api/folders')).body as { id: string; parent_id: string }[];
  const parents = Object.fromEntries(folders.map(({ id, parent_id }) => [id, parent_id]));
  assert.deepEqual(
    [parents['house'], parents['floor'], parents['room'], parents['yard']],
    ['', 'yard', 'floor', ''],
  );
  assert.equal((await app.asAdmin('PUT', '/api/folders/none', { name: 'x' })).status, 404);
});
