import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadJwtSecret } from '../../src/auth/jwt-secret.js';
import { tempFolder } from '../support/temp-folder.js';

test('the secret is made once, at the first start, and is private', (t) => {
  const folder = join(tempFolder(t), 'deep', 'data');
  const secret = loadJwtSecret(folder, null);
  assert.ok(secret.length >= 32);
  assert.deepEqual(readdirSync(folder), ['jwt-secret'], 'no draft stays behind');
  assert.equal(statSync(join(folder, 'jwt-secret')).mode & 0o777, 0o600);
  assert.deepEqual(loadJwtSecret(folder, null), secret);
  assert.notDeepEqual(loadJwtSecret(tempFolder(t), null), secret);
});

test('a configured secret is used as it is, and no file is made', (t) => {
  const folder = tempFolder(t);
  assert.equal(loadJwtSecret(folder, 'x'.repeat(32)).toString(), 'x'.repeat(32));
  assert.deepEqual(readdirSync(folder), []);
  assert.throws(
    () => loadJwtSecret(folder, 'hunter2'),
    (thrown: Error) => {
      assert.match(thrown.message, /JWT_SECRET must have at least 32 bytes/);
      return !thrown.message.includes('hunter2');
    },
  );
});

test('a secret that an operator wrote is taken without its line end', (t) => {
  const folder = tempFolder(t);
  writeFileSync(join(folder, 'jwt-secret'), `  ${'y'.repeat(32)} \r\n`, { mode: 0o600 });
  assert.equal(loadJwtSecret(folder, null).toString(), `  ${'y'.repeat(32)} `);
});

test('a file that is unsafe or too short is refused by name, stays as it is and is not shown', (t) => {
  const path = join(tempFolder(t), 'jwt-secret');
  const folder = join(path, '..');
  const refuse = (content: string, mode: number, why: RegExp): void => {
    writeFileSync(path, content);
    chmodSync(path, mode);
    assert.throws(
      () => loadJwtSecret(folder, null),
      (thrown: Error & { code: string }) => {
        assert.equal(thrown.code, 'bad_jwt_secret');
        assert.match(thrown.message, why);
        assert.ok(thrown.message.includes(path));
        assert.ok(content.trim() === '' || !thrown.message.includes(content.slice(0, 5)));
        return true;
      },
    );
    assert.equal(readFileSync(path, 'utf8'), content);
    assert.equal(statSync(path).mode & 0o777, mode);
  };
  refuse('z'.repeat(40), 0o644, /chmod 600/);
  refuse('z'.repeat(40), 0o640, /chmod 600/);
  refuse('z'.repeat(31), 0o600, /less than 32 bytes/);
  refuse(`${'z'.repeat(31)}\n\n`, 0o600, /less than 32 bytes/);
  refuse('', 0o600, /less than 32 bytes/);
  refuse('z'.repeat(5_000), 0o600, /too long/);
});

test('something else of that name, or no folder to write to, is refused with a reason', (t) => {
  const folder = tempFolder(t);
  mkdirSync(join(folder, 'jwt-secret'), { mode: 0o700 });
  assert.throws(() => loadJwtSecret(folder, null), { code: 'bad_jwt_secret', message: /is not a file/ });
  writeFileSync(join(folder, 'file'), '');
  assert.throws(() => loadJwtSecret(join(folder, 'file'), null), { code: 'bad_jwt_secret' });
  assert.ok(!existsSync(join(folder, 'file', 'jwt-secret')));
});
