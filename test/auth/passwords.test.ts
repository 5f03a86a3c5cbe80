import assert from 'node:assert/strict';
import { scryptSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  checkPasswordRule,
  generatePassword,
  hashPassword,
  isPasswordHash,
  isWeakHash,
  verifyPassword,
} from '../../src/auth/passwords.js';
import { weakHash } from '../support/weak-hash.js';

test('a hash fits its own password alone, has a salt of its own and keeps its parameters', async () => {
  const [first, second] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')]);
  assert.match(first, /^\$scrypt\$ln=15,r=8,p=3\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  assert.notEqual(first, second);
  assert.ok(isPasswordHash(first));
  assert.equal(await verifyPassword('correct horse', first), true);
  assert.equal(await verifyPassword('correct horse', second), true);
  assert.equal(await verifyPassword('correct horsf', first), false);
  assert.equal(await verifyPassword('', first), false);
});

test('a hash of other parameters is checked with those', async () => {
  const key = scryptSync('password', 'saltsaltsaltsalt', 32, { N: 1_024, r: 4, p: 2 });
  const text = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
  const hash = `$scrypt$ln=10,r=4,p=2$${text(Buffer.from('saltsaltsaltsalt'))}$${text(key)}`;
  assert.equal(await verifyPassword('password', hash), true);
  assert.equal(await verifyPassword('passwore', hash), false);
});

test('a hash is as strong as OWASP asks, in 32 MiB', async () => {
  const [, ln = '', r = '', p = ''] =
    /ln=(\d+),r=(\d+),p=(\d+)/.exec(await hashPassword('correct horse')) ?? [];
  // N=2^17, r=8, p=1 in 128 MiB is as good as N=2^15, r=8, p=3: less memory for the one who checks many at once.
  assert.deepEqual([ln, r, p], ['15', '8', '3']);
  assert.equal(isWeakHash(await hashPassword('correct horse')), false);
  assert.equal(isWeakHash(weakHash('correct horse')), true);
});

test('the same letters in another Unicode form are the same password', async () => {
  assert.equal(await verifyPassword('Ångström'.normalize('NFD'), await hashPassword('Ångström')), true);
});

test('a hash that would cost too much or is none is refused, and fits no password', async () => {
  const tail = 'c2FsdHNhbHRzYWx0c2FsdA$c2FsdHNhbHRzYWx0c2FsdHNhbHRzYWx0';
  const costly = [
    `$scrypt$ln=18,r=8,p=1$${tail}`,
    `$scrypt$ln=63,r=8,p=1$${tail}`,
    `$scrypt$ln=17,r=9,p=1$${tail}`,
    `$scrypt$ln=15,r=8,p=5$${tail}`,
    `$scrypt$ln=15,r=0,p=1$${tail}`,
    `$scrypt$ln=17,r=1,p=1$${tail}`,
    `$scrypt$ln=0,r=8,p=1$${tail}`,
  ];
  const others = [
    '',
    'password',
    `$argon2id$v=19$m=1,t=1,p=1$${tail}`,
    '$scrypt$ln=15,r=8,p=1$$',
    `${costly[0]}\n`,
  ];
  for (const hash of [...costly, ...others]) assert.equal(isPasswordHash(hash), false, hash);
  assert.equal(await verifyPassword('password', 'password'), false);
  assert.equal(await verifyPassword('', ''), false);
});

test('every hash that is accepted can be checked without a fault', async () => {
  const anyCost = fc.tuple(fc.nat(9), fc.nat(20), fc.nat(5));
  await fc.assert(
    fc.asyncProperty(anyCost, async ([ln, r, p]) => {
      const hash = `$scrypt$ln=${ln},r=${r},p=${p}$c2FsdHNhbHRzYWx0c2FsdA$c2FsdHNhbHRzYWx0c2FsdHNhbHRzYWx0`;
      if (isPasswordHash(hash)) assert.equal(await verifyPassword('password', hash), false);
    }),
    { numRuns: 40 },
  );
});

test('a user who does not exist costs as much as one who does', async () => {
  const hash = await hashPassword('correct horse');
  const cpuMsOf = async (stored: string | null, password = 'wrong horse'): Promise<number> => {
    const before = process.cpuUsage();
    for (let round = 0; round < 4; round++) assert.equal(await verifyPassword(password, stored), false);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 4_000;
  };
  const known = await cpuMsOf(hash);
  const weak = weakHash('correct horse');
  for (const cost of [
    await cpuMsOf(null),
    await cpuMsOf('damaged'),
    await cpuMsOf(hash, 'x'.repeat(5_000)),
    await cpuMsOf(weak),
  ])
    assert.ok(cost > known / 2 && cost < known * 2, `${cost} ms against ${known} ms`);
});

test('the work leaves the main thread free', async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  await hashPassword('correct horse');
  clearInterval(timer);
  assert.ok(turns >= 3, `the event loop turned ${turns} times`);
});

test('keys are compared in constant time', () => {
  const source = readFileSync(join(import.meta.dirname, '../../..', 'src/auth/passwords.ts'), 'utf8');
  assert.match(source, /timingSafeEqual\(key, stored\.key\)/);
  assert.doesNotMatch(source, /\.equals\(|compare\(|key ===|=== key/);
});

test('a password has 8 to 256 characters', () => {
  const refused = { code: 'bad_password' };
  for (const good of ['12345678', 'x'.repeat(256), '😀'.repeat(8), '😀'.repeat(256)]) checkPasswordRule(good);
  for (const bad of ['', '1234567', 'x'.repeat(257), '😀'.repeat(7), '😀'.repeat(257), 'x'.repeat(1_000_000)])
    assert.throws(() => checkPasswordRule(bad), refused);
});

test('a generated password has 16 readable characters, each as likely as the next', () => {
  const counts = new Map<string, number>();
  const rounds = 4_000;
  for (let round = 0; round < rounds; round++) {
    const password = generatePassword();
    assert.match(password, /^[A-HJ-NP-Za-km-z2-9]{16}$/);
    for (const character of password) counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  assert.equal(counts.size, 57);
  const expected = (rounds * 16) / 57;
  // Six standard deviations: one false alarm in many millions of runs.
  for (const [character, count] of counts)
    assert.ok(Math.abs(count - expected) < 6 * Math.sqrt(expected), `${character}: ${count}`);
});
