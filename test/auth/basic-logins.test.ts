import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authError } from '../../src/auth/auth-error.js';
import { BasicLogins } from '../../src/auth/basic-logins.js';
import type { Principal } from '../../src/auth/tokens.js';

const setUp = () => {
  const checked: string[] = [];
  const revoked = new Set<string>();
  const logins = new BasicLogins({
    accounts: {
      login: (username, password, address) => {
        checked.push(`${username} ${password} ${address}`);
        if (password !== 'right') return Promise.reject(authError('bad_credentials', 'wrong'));
        return Promise.resolve(`token ${checked.length}`);
      },
    },
    tokens: {
      verifyAccess: (token) => {
        if (revoked.has(token ?? '')) throw authError('token_revoked', 'withdrawn');
        return {
          username: 'john',
          role: 'viewer',
          epoch: '1',
          sessionId: null,
          limits: null,
          isKey: false,
        } satisfies Principal;
      },
    },
  });
  return { logins, checked, revoked };
};

test('what was right once is checked once, however many ask at the same time', async () => {
  const { logins, checked } = setUp();
  const tokens = await Promise.all([1, 2, 3].map(() => logins.tokenFor('john', 'right', '::1')));
  assert.deepEqual(tokens, ['token 1', 'token 1', 'token 1']);
  assert.deepEqual(checked, ['john right ::1']);
});

test('what was right at one address is checked at another: nobody guesses at what others have shown', async () => {
  const { logins, checked } = setUp();
  await logins.tokenFor('john', 'right', '::1');
  await logins.tokenFor('john', 'right', '::2');
  assert.deepEqual(checked, ['john right ::1', 'john right ::2']);
});

test('a wrong password is checked each time, and another one is never taken for it', async () => {
  const { logins, checked } = setUp();
  await logins.tokenFor('john', 'right', '::1');
  for (let attempt = 0; attempt < 2; attempt += 1)
    await assert.rejects(logins.tokenFor('john', 'wrong', '::1'), { code: 'bad_credentials' });
  await logins.tokenFor('johnr', 'ight', '::1').catch(() => {});
  assert.equal(checked.length, 4);
});

test('when the token is withdrawn the password is checked anew', async () => {
  const { logins, checked, revoked } = setUp();
  revoked.add(await logins.tokenFor('john', 'right', '::1'));
  assert.deepEqual(await Promise.all([1, 2].map(() => logins.tokenFor('john', 'right', '::1'))), [
    'token 2',
    'token 2',
  ]);
  assert.equal(checked.length, 2);
});
