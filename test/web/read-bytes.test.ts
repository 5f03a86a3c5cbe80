import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { readBytes } from '../../src/web/model/read-bytes.js';

const BYTES = 9_000_001;
const content = Buffer.alloc(BYTES, Buffer.from([1, 2, 3, 5, 7, 11, 13]));
const server = createServer((request, response) => {
  response.statusCode = request.url === '/model' ? 200 : 404;
  response.end(content);
});
let address = '';
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/model`;
});
after(() => {
  server.closeAllConnections();
  server.close();
});

for (const sizeBytes of [undefined, 0, 1, BYTES - 1, BYTES, BYTES + 1, 1e12])
  test(`all bytes come where ${sizeBytes ?? 'nothing'} was said of how many there are, and nothing else is held`, async () => {
    const told: number[] = [];
    const whole = await readBytes(address, (bytes) => told.push(bytes), sizeBytes);
    assert.equal(Buffer.compare(whole, content), 0);
    assert.equal(whole.buffer.byteLength, BYTES);
    assert.equal(told.at(-1), BYTES);
    assert.deepEqual(
      told,
      [...told].sort((a, b) => a - b),
    );
  });

test('what the service refuses is no content', async () => {
  await assert.rejects(
    readBytes(`${address}s`, () => {}),
    /404/,
  );
});
