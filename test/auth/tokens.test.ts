import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { bearerTokenOf, Tokens } from '../../src/auth/tokens.js';
import { AppError } from '../../src/base/errors.js';
import type { StoredUser } from '../../src/store/users.js';
import { FakeClock } from '../support/fake-clock.js';

const secret = Buffer.from('a secret of at least thirty-two bytes');
const eve: StoredUser = { username: 'eve', role: 'viewer', password_hash: 'h', token_epoch: 'epoch-1' };

const setUp = () => {
  const users = new Map([[eve.username, eve]]);
  const clock = new FakeClock();
  const tokens = new Tokens(secret, { users: { find: (name) => users.get(name) ?? null }, clock });
  return { users, clock, tokens, access: tokens.issueAccess(eve) };
};

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A JWT made by hand, so that nothing of the library under test vouches for itself. */
const forge = (claims: object, options: { key?: Buffer; alg?: string; digest?: string | null } = {}) => {
  const { key = secret, alg = 'HS256', digest = 'sha256' } = options;
  const signed = `${part({ alg, typ: 'JWT' })}.${part(claims)}`;
  return `${signed}.${digest === null ? '' : createHmac(digest, key).update(signed).digest('base64url')}`;
};

const claimsOf = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>;

test('an access token carries the claims that were promised, for one hour', () => {
  const { tokens, access, clock } = setUp();
  const { sub, role, iat, exp, jti } = claimsOf(access);
  assert.deepEqual({ sub, role }, { sub: 'eve', role: 'viewer' });
  assert.equal(iat, clock.wallMs() / 1_000);
  assert.equal(exp, (iat as number) + 3_600);
  assert.equal(typeof jti, 'string');
  assert.notEqual(claimsOf(tokens.issueAccess(eve))['jti'], jti);
  const principal = {
    username: 'eve',
    role: 'viewer',
    epoch: 'epoch-1',
    sessionId: null,
    limits: null,
    isKey: false,
  };
  assert.deepEqual(tokens.verifyAccess(access), principal);
  const ofSession = tokens.issueAccess(eve, 'session-1');
  assert.deepEqual(tokens.verifyAccess(ofSession), { ...principal, sessionId: 'session-1' });
  clock.advance(3_599_000);
  tokens.verifyAccess(access);
  clock.advance(1_000);
  assert.throws(() => tokens.verifyAccess(access), { code: 'token_expired' });
});

test('a stream token is good for one camera and one minute', () => {
  const { tokens, access, clock } = setUp();
  const stream = tokens.issueStream(tokens.verifyAccess(access), 'gate');
  const { sub, stream_id, iat, exp } = claimsOf(stream);
  assert.deepEqual({ sub, stream_id }, { sub: 'eve', stream_id: 'gate' });
  const next = tokens.issueStream(tokens.verifyAccess(access), 'gate');
  assert.notEqual(next, stream, 'one of the same second opens a viewing of its own');
  assert.equal(exp, (iat as number) + 60);
  assert.equal(tokens.verifyForCamera(stream, 'gate').username, 'eve');
  assert.throws(() => tokens.verifyForCamera(stream, 'yard'), { code: 'token_invalid' });
  clock.advance(59_000);
  tokens.verifyForCamera(stream, 'gate');
  clock.advance(1_000);
  assert.throws(() => tokens.verifyForCamera(stream, 'gate'), { code: 'token_expired' });
});

test('a stream token is no access token, an access token opens any stream', () => {
  const { tokens, access } = setUp();
  const stream = tokens.issueStream(tokens.verifyAccess(access), 'gate');
  assert.throws(() => tokens.verifyAccess(stream), { code: 'token_invalid' });
  assert.equal(tokens.verifyForCamera(access, 'any').username, 'eve');
});

test('a wall token opens walls alone, for one minute, and nothing else opens one', () => {
  const { users, tokens, access, clock } = setUp();
  const principal = tokens.verifyAccess(access);
  const token = tokens.issueWall(principal);
  const { sub, wall, iat, exp } = claimsOf(token);
  assert.deepEqual([sub, wall, Number(exp) - Number(iat)], ['eve', true, 60]);
  assert.equal(tokens.verifyWall(token).username, 'eve');
  assert.throws(() => tokens.verifyAccess(token), { code: 'token_invalid' });
  assert.throws(() => tokens.verifyForCamera(token, 'gate'), { code: 'token_invalid' });
  for (const other of [access, tokens.issueStream(principal, 'gate')])
    assert.throws(() => tokens.verifyWall(other), { code: 'token_invalid' });
  users.set('eve', { ...eve, token_epoch: 'epoch-2' });
  assert.throws(() => tokens.verifyWall(token), { code: 'token_revoked' });
  users.set('eve', eve);
  clock.advance(60_000);
  assert.throws(() => tokens.verifyWall(token), { code: 'token_expired' });
});

test('tokens stop at once when their user is deleted or has another epoch', () => {
  const { tokens, users, access } = setUp();
  const stream = tokens.issueStream(tokens.verifyAccess(access), 'gate');
  users.set('eve', { ...eve, role: 'operator', token_epoch: 'epoch-2' });
  assert.throws(() => tokens.verifyAccess(access), { code: 'token_revoked' });
  assert.throws(() => tokens.verifyForCamera(stream, 'gate'), { code: 'token_revoked' });
  users.delete('eve');
  assert.throws(() => tokens.verifyAccess(access), { code: 'token_revoked' });
  assert.throws(() => tokens.verifyForCamera(stream, 'gate'), { code: 'token_revoked' });
});

test('the role is that of the user, not what the token says', () => {
  const { tokens, access } = setUp();
  const bold = forge({ ...claimsOf(access), role: 'admin' });
  assert.equal(tokens.verifyAccess(bold).role, 'viewer');
});

test('forged tokens are refused, whatever is wrong with them', () => {
  const { tokens, access } = setUp();
  const good = claimsOf(access);
  assert.equal(tokens.verifyAccess(forge(good)).username, 'eve', 'the forger can make a good one');
  const [header, body, signature] = access.split('.') as [string, string, string];
  const without = (name: string): object => ({ ...good, [name]: undefined });
  const forgeries: Record<string, string> = {
    'alg none, no signature': forge(good, { alg: 'none', digest: null }),
    'alg None': forge(good, { alg: 'None', digest: null }),
    'alg none, right signature': forge(good, { alg: 'none' }),
    HS512: forge(good, { alg: 'HS512', digest: 'sha512' }),
    HS384: forge(good, { alg: 'HS384', digest: 'sha384' }),
    'RS256 with the secret as its key': forge(good, { alg: 'RS256' }),
    'another secret': forge(good, { key: Buffer.alloc(32, 7) }),
    'an empty secret': forge(good, { key: Buffer.alloc(0) }),
    'another body': `${header}.${part({ ...good, sub: 'admin' })}.${signature}`,
    'no signature': `${header}.${body}.`,
    'two parts': `${header}.${body}`,
    'no exp': forge(without('exp')),
    'exp as text': forge({ ...good, exp: '9999999999' }),
    'no sub': forge(without('sub')),
    'sub as a list': forge({ ...good, sub: ['eve'] }),
    'no epoch': forge(without('epoch')),
    'no audience': forge(without('aud')),
    'audience of a stream token': forge({ ...good, aud: 'stream' }),
    'both audiences': forge({ ...good, aud: ['access', 'stream'] }),
    'not valid yet': forge({ ...good, nbf: 9_999_999_999 }),
    'a list': forge([]),
    'a very long one': `${access}${'A'.repeat(100_000)}`,
  };
  for (const [what, token] of Object.entries(forgeries)) {
    assert.throws(() => tokens.verifyAccess(token), { code: 'token_invalid' }, what);
    if (what !== 'audience of a stream token')
      assert.throws(() => tokens.verifyForCamera(token, 'gate'), { code: 'token_invalid' }, what);
  }
  const nameless = forge({ ...good, aud: 'stream' });
  assert.throws(() => tokens.verifyForCamera(nameless, 'gate'), { code: 'token_invalid' });
  const late = forge({ ...good, exp: 1 }, { key: Buffer.alloc(32, 7) });
  assert.throws(() => tokens.verifyAccess(late), { code: 'token_invalid' }, 'only a real one can expire');
});

test('no token at all is told apart from a bad one', () => {
  const { tokens } = setUp();
  for (const token of [null, '']) {
    assert.throws(() => tokens.verifyAccess(token), { code: 'token_missing' });
    assert.throws(() => tokens.verifyForCamera(token, 'gate'), { code: 'token_missing' });
  }
});

test('arbitrary text is refused in our own words, and never repeated', () => {
  const { tokens, access } = setUp();
  const mutated = fc
    .tuple(fc.nat(access.length - 1), fc.string({ minLength: 1, maxLength: 3 }))
    .map(([at, text]) => access.slice(0, at) + text + access.slice(at + 1))
    .filter((token) => token !== access);
  const anyToken = fc.oneof(
    fc.string({ minLength: 1, unit: 'binary' }),
    mutated,
    fc.tuple(fc.json(), fc.json()).map(([header, body]) => {
      const encode = (text: string): string => Buffer.from(text).toString('base64url');
      return `${encode(header)}.${encode(body)}.x`;
    }),
  );
  const refuse = (token: string): void => {
    try {
      tokens.verifyAccess(token);
      // base64url has spare bits in a last character: another text may be the same signature.
      assert.deepEqual(Buffer.from(token, 'base64url'), Buffer.from(access, 'base64url'));
    } catch (thrown) {
      if (!(thrown instanceof AppError)) throw thrown;
      assert.equal(thrown.code, 'token_invalid');
      assert.equal(thrown.message, 'the token is not valid');
      assert.equal(thrown.cause, undefined);
    }
  };
  fc.assert(fc.property(anyToken, refuse), { numRuns: 300 });
});

test('the Authorization header is read as RFC 6750 says', () => {
  assert.equal(bearerTokenOf('Bearer abc.def'), 'abc.def');
  assert.equal(bearerTokenOf('bearer  abc '), 'abc');
  for (const header of [undefined, '', 'Bearer', 'Bearer ', 'Basic abc', 'Bearerabc', 'Bearer a b'])
    assert.equal(bearerTokenOf(header), null, header);
});
