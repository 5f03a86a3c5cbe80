import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { Authenticator } from '../../src/rtsp/auth.js';
import { parseChallenges } from '../../src/rtsp/challenge.js';

const credentials = { user: 'Mufasa', password: 'Circle of Life' };

const responseTo = (challenge: string, method = 'GET', uri = '/dir/index.html', cnonce = ''): string => {
  const authenticator = new Authenticator(credentials, () => cnonce);
  assert.ok(authenticator.onUnauthorized([challenge], false));
  return authenticator.authorize(method, uri) ?? '';
};

const rfc7616 = (algorithm: string): string =>
  responseTo(
    `Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=${algorithm}, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"`,
    'GET',
    '/dir/index.html',
    'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ',
  );

test('RFC 7616 §3.9.1: MD5 and SHA-256 with qop', () => {
  assert.match(rfc7616('MD5'), /response="8ca523f5e9506fed4657c9700eebdbec"/);
  const sha = rfc7616('SHA-256');
  assert.match(sha, /response="753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"/);
  assert.match(sha, /opaque="FQhe[^"]*", qop=auth, nc=00000001, cnonce="f2\/w/);
  assert.match(sha, /algorithm=SHA-256/);
});

test('RFC 2617 §3.5: MD5 with qop', () => {
  const authenticator = new Authenticator({ user: 'Mufasa', password: 'Circle Of Life' }, () => '0a4f113b');
  authenticator.onUnauthorized(
    [
      'Digest realm="testrealm@host.com", qop="auth,auth-int", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc069c403ebaf9f0171e9517f40e41"',
    ],
    false,
  );
  assert.match(
    authenticator.authorize('GET', '/dir/index.html') ?? '',
    /response="6629fae49393a05397450978507c4ef1"/,
  );
  assert.match(authenticator.authorize('GET', '/dir/index.html') ?? '', /nc=00000002/);
});

test('RFC 2617 §3.2.2.1: no qop, as most cameras do it', () => {
  const header = responseTo('Digest realm="Surveillance Server", nonce="98481030"', 'DESCRIBE', 'rtsp://c/1');
  const md5 = (text: string): string => createHash('md5').update(text).digest('hex');
  const ha1 = md5('Mufasa:Surveillance Server:Circle of Life');
  assert.ok(header.includes(`response="${md5(`${ha1}:98481030:${md5('DESCRIBE:rtsp://c/1')}`)}"`), header);
  assert.doesNotMatch(header, /qop|cnonce|nc=|algorithm|opaque/);
});

test('-sess hashes the nonces into the identity (RFC 7616 §3.4.2)', () => {
  const sha = (text: string): string => createHash('sha256').update(text).digest('hex');
  const header = responseTo('Digest realm=r, nonce=n, qop=auth, algorithm=SHA-256-sess', 'PLAY', 'u', 'c');
  const ha1 = sha(`${sha('Mufasa:r:Circle of Life')}:n:c`);
  assert.ok(header.includes(`response="${sha(`${ha1}:n:00000001:c:auth:${sha('PLAY:u')}`)}"`), header);
});

test('challenges: several in one header, unquoted, unknown parameters (Hikvision), broken', () => {
  const read = (...values: string[]) =>
    parseChallenges(values).map(({ scheme, parameters }) => [scheme, Object.fromEntries(parameters)]);
  assert.deepEqual(read('Digest realm="a, b=\\"c\\"",nonce = xyz ,stale=FALSE, Basic realm="d"'), [
    ['digest', { realm: 'a, b="c"', nonce: 'xyz', stale: 'FALSE' }],
    ['basic', { realm: 'd' }],
  ]);
  assert.deepEqual(read('Digest realm="IP Camera(12345)", random="abc", nonce="1"', 'Basic'), [
    ['digest', { realm: 'IP Camera(12345)', random: 'abc', nonce: '1' }],
    ['basic', {}],
  ]);
  assert.deepEqual(read('Digest realm="open, nonce=1'), [['digest', { realm: 'open, nonce=1' }]]);
  assert.deepEqual(read('', ' ,,= "', '\u0000'), []);
});

test('any header is read in bounded time, without an exception', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 200 }), { maxLength: 4 }), (values) => {
      assert.ok(parseChallenges(values).length <= 16);
    }),
  );
  assert.ok(parseChallenges([`Digest ${'a="\\'.repeat(5000)}`, 'x '.repeat(9000)]).length <= 16);
});

const digest = (nonce: string, more = ''): string => `Digest realm="r", nonce="${nonce}"${more}`;
const schemeOf = (authenticator: Authenticator): string => {
  const header = authenticator.authorize('X', 'u') ?? '';
  return /algorithm=([\w-]+)/.exec(header)?.[1] ?? header.slice(0, header.indexOf(' '));
};

test('quirk 29: the strongest first, then each other one once (TP-Link: only Basic works)', () => {
  const offered = ['Basic realm="r"', digest('1', ', algorithm=MD5'), digest('2', ', algorithm=SHA-256')];
  const authenticator = new Authenticator(credentials);
  const tried: string[] = [];
  for (let wasSent = false; authenticator.onUnauthorized(offered, wasSent); wasSent = true) {
    tried.push(schemeOf(authenticator));
  }
  assert.deepEqual(tried, ['SHA-256', 'MD5', 'Basic']);
});

test('a refused password is not tried again with a fresh nonce, an aged nonce is', () => {
  const wrong = new Authenticator(credentials);
  assert.ok(wrong.onUnauthorized([digest('1')], false));
  assert.equal(wrong.onUnauthorized([digest('2')], true), false);

  const stale = new Authenticator(credentials);
  assert.ok(stale.onUnauthorized([digest('1')], false));
  assert.ok(stale.onUnauthorized([digest('2', ', stale=true')], true));

  const aged = new Authenticator(credentials);
  assert.ok(aged.onUnauthorized([digest('1')], false));
  aged.onAccepted();
  assert.ok(aged.onUnauthorized([digest('2')], true));
  assert.match(aged.authorize('X', 'u') ?? '', /nonce="2"/);
  assert.equal(aged.onUnauthorized([digest('2')], true), false);
});

test('without credentials, or with nothing that we can do, there is no answer', () => {
  assert.equal(new Authenticator(null).onUnauthorized([digest('1')], false), false);
  for (const offer of [
    'Bearer',
    'Digest realm="r"',
    digest('1', ', algorithm=X'),
    digest('1', ', qop="auth-int"'),
  ]) {
    const authenticator = new Authenticator(credentials);
    assert.equal(authenticator.onUnauthorized([offer], false), false, offer);
    assert.equal(authenticator.authorize('X', 'u'), null);
  }
});
