import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';

const WRITES = 1_000;

test('kill -9 during a thousand writes loses none that was acknowledged', async (t) => {
  const env = { DATA_DIR: tempFolder(t), JWT_SECRET: 'kept from one start to the next one' };
  const first = await startService(env);
  t.after(() => first.process.kill('SIGKILL'));
  const token = await first.login('admin', first.adminPassword);
  const acknowledged: string[] = [];
  let sent = 0;
  const writer = async (): Promise<void> => {
    while (sent < WRITES) {
      const id = `tag-${sent++}`;
      const { status } = await first.call('POST', '/api/tags', {
        token,
        body: { id, name: id, color: '#010203' },
      });
      assert.equal(status, 201);
      acknowledged.push(id);
      if (acknowledged.length === WRITES / 2) first.process.kill('SIGKILL');
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: 4 }, writer));
  await first.exited;
  assert.ok(
    ends.every(({ status }) => status === 'rejected'),
    'it died in the middle',
  );
  assert.ok(acknowledged.length >= WRITES / 2 && acknowledged.length < WRITES);

  const second = await startService(env);
  t.after(() => second.process.kill('SIGKILL'));
  const { body } = await second.call('GET', '/api/tags', { token });
  const kept = new Set((body as { id: string }[]).map(({ id }) => id));
  assert.deepEqual(
    acknowledged.filter((id) => !kept.has(id)),
    [],
  );
  assert.equal(await second.stop(), 0);
});
