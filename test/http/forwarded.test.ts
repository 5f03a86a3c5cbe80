import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApp } from '../support/test-app.js';

const noticesOf = (logText: string): string[] =>
  logText.split('\n').filter((line) => line.includes('TRUST_PROXY is not set'));

test('the first forwarded request tells, once, that all clients of the proxy count as one', async (t) => {
  const app = await startTestApp({ withUsers: false });
  t.after(() => app.stop());
  await app.call('GET', '/livez');
  assert.deepEqual(noticesOf(app.logText()), []);
  await app.call('GET', '/livez', { headers: { 'x-forwarded-for': '203.0.113.9' } });
  await app.call('GET', '/livez', { headers: { forwarded: 'for=203.0.113.9' } });
  const notices = noticesOf(app.logText());
  assert.equal(notices.length, 1);
  assert.equal(JSON.parse(notices[0] ?? '').level, 'warn');
});

test('with TRUST_PROXY there is nothing to tell, and each client has its own ten tries', async (t) => {
  const app = await startTestApp({ withUsers: false, env: { TRUST_PROXY: 'loopback' } });
  t.after(() => app.stop());
  const login = async (username: string, password: string, ip: string): Promise<number> => {
    const options = { body: { username, password }, headers: { 'x-forwarded-for': ip } };
    return (await app.call('POST', '/api/login', options)).status;
  };
  for (let tries = 0; tries < 10; tries++) await login(`nobody-${tries}`, 'wrong', '203.0.113.9');
  assert.equal(await login('admin', app.adminPassword, '203.0.113.9'), 429);
  assert.equal(await login('admin', app.adminPassword, '203.0.113.10'), 200);
  assert.deepEqual(noticesOf(app.logText()), []);
});
