import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { all as allOf, at, attribute, type Element, textOf } from '../../src/analytics/xml-tree.js';
import { envelope, readAnswer, usernameToken } from '../../src/onvif/soap.js';
import { Authenticator } from '../../src/rtsp/auth.js';
import { tempFolder } from '../support/temp-folder.js';
import { roleNames, startTestApp, type TestApp } from '../support/test-app.js';

const ENV = { ONVIF_DEVICE: 'hidden', RTSP_PORT: '0' };
const DEVICE = '/onvif/device_service';
const MEDIA = '/onvif/media_service';
const MEDIA2 = '/onvif/media2_service';

let app: TestApp;

before(async () => {
  app = await startTestApp({ env: ENV });
  await app.asAdmin('POST', '/api/folders', { id: 'outside', name: 'Outside' });
  const url = 'rtsp://admin:secret@127.0.0.1:9/1';
  const camera = { url, sub_url: url, token_auth: true };
  await app.asAdmin('POST', '/api/cameras', { id: 'door', ...camera });
  await app.asAdmin('POST', '/api/cameras', { id: 'yard', ...camera, folder_id: 'outside', sub_url: '' });
  await app.asAdmin('POST', '/api/cameras', { id: 'asleep', ...camera, disabled: true });
});
after(() => app.stop());

type Key = { readonly user: string; readonly password: string; readonly id: string };

let keys = 0;
const makeKey = async (fields: object = {}): Promise<Key> => {
  keys += 1;
  const user = `recorder-${keys}`;
  const answer = await app.asAdmin('POST', '/api/keys', { name: user, role: 'viewer', ...fields });
  assert.equal(answer.status, 201, answer.text);
  return { user, password: answer.body.onvif_password, id: answer.body.id };
};

const tokenOf = (key: Omit<Key, 'id'>, createdMs = Date.now(), nonce = randomBytes(16)): string =>
  usernameToken(key, nonce, createdMs);

type Told = {
  readonly status: number;
  readonly codes: string;
  readonly reason: string;
  readonly answer: Element;
  readonly text: string;
  readonly challenges: string;
};

const send = async (path: string, text: string, headers: Record<string, string> = {}): Promise<Told> => {
  const response = await fetch(`${app.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/soap+xml; charset=utf-8', ...headers },
    body: text,
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const read = readAnswer(bytes);
  return {
    status: response.status,
    codes: read.kind === 'fault' ? read.fault.codes.join(' ') : '',
    reason: read.kind === 'fault' ? read.fault.reason : '',
    answer: read.kind === 'answer' ? read.element : '',
    text: bytes.toString(),
    challenges: response.headers.get('www-authenticate') ?? '',
  };
};

const ask = (path: string, operation: string, header = '', inside = ''): Promise<Told> =>
  send(path, envelope(`<${operation}>${inside}</${operation}>`, header));

const profilesOf = async (key: Key): Promise<string[]> => {
  const { answer } = await ask(MEDIA, 'GetProfiles', tokenOf(key));
  return allOf(answer, 'Profiles').map((profile) => attribute(profile, 'token'));
};

test('it is no device unless it is switched on', async () => {
  const plain = await startTestApp();
  try {
    for (const path of [DEVICE, MEDIA]) assert.equal((await plain.call('POST', path)).status, 404);
    assert.equal((await plain.call('GET', '/onvif/snapshot/door')).status, 404);
    const made = await plain.asAdmin('POST', '/api/keys', { name: 'plain', role: 'viewer' });
    assert.equal(made.body.onvif_password, undefined);
  } finally {
    await plain.stop();
  }
});

test('everybody may ask for the time and the services, and nobody for more', async () => {
  const { answer } = await ask(DEVICE, 'GetSystemDateAndTime');
  const date = at(answer, 'SystemDateAndTime', 'UTCDateTime', 'Date');
  assert.equal(textOf(at(date, 'Year')), String(new Date().getUTCFullYear()));
  const services = await ask(DEVICE, 'GetServices');
  assert.deepEqual(
    allOf(services.answer, 'Service').map((service) => textOf(at(service, 'XAddr'))),
    [DEVICE, MEDIA, MEDIA2].map((path) => `${app.url}${path}`),
  );
  for (const [path, operations] of [
    [
      DEVICE,
      ['GetDeviceInformation', 'GetScopes', 'GetHostname', 'GetNetworkInterfaces', 'GetUsers', 'constructor'],
    ],
    [MEDIA, ['GetProfiles', 'GetVideoSources', 'GetStreamUri', 'GetSnapshotUri', '__proto__']],
    [MEDIA2, ['GetProfiles', 'GetVideoEncoderConfigurations', 'GetStreamUri', 'GetSnapshotUri']],
  ] as const)
    for (const operation of operations) {
      const { status, codes, challenges } = await ask(path, operation);
      assert.deepEqual([status, codes], [401, 'Sender NotAuthorized'], operation);
      assert.match(challenges, /Digest .*SHA-256.*Digest .*MD5/);
    }
});

test('each role of a key sees what it may, limited ones their cameras alone, and disabled ones nobody', async () => {
  const seen: Record<string, string[] | string> = {};
  for (const role of roleNames) {
    const key = await makeKey({ role });
    const { codes } = await ask(MEDIA, 'GetProfiles', tokenOf(key));
    seen[role] = codes === '' ? await profilesOf(key) : codes;
  }
  const all = ['door', 'door:sub', 'yard'];
  assert.deepEqual(seen, { viewer: all, operator: all, admin: all, service: 'Sender NotAuthorized' });
  const byFolder = await makeKey({ folders: ['outside'] });
  assert.deepEqual(await profilesOf(byFolder), ['yard']);
  const byCamera = await makeKey({ cameras: ['door'] });
  assert.deepEqual(await profilesOf(byCamera), ['door', 'door:sub']);
  const second = await ask(MEDIA2, 'GetProfiles', tokenOf(byCamera), '<Type>All</Type>');
  assert.deepEqual(
    allOf(second.answer, 'Profiles').map((profile) => attribute(profile, 'token')),
    ['door', 'door:sub'],
  );
  const elsewhere = await ask(MEDIA2, 'GetStreamUri', tokenOf(byCamera), '<ProfileToken>yard</ProfileToken>');
  assert.deepEqual([elsewhere.status, elsewhere.codes], [400, 'Sender InvalidArgVal NoProfile']);
  for (const operation of ['GetStreamUri', 'GetSnapshotUri', 'GetProfile']) {
    const hidden = await ask(MEDIA, operation, tokenOf(byCamera), '<ProfileToken>yard</ProfileToken>');
    assert.deepEqual([hidden.status, hidden.codes], [400, 'Sender InvalidArgVal NoProfile']);
  }
  await app.asAdmin('DELETE', `/api/keys/${byCamera.id}`);
  assert.equal((await ask(MEDIA, 'GetProfiles', tokenOf(byCamera))).codes, 'Sender NotAuthorized');
});

test('addresses are those that the client asked by; no host in it leads anywhere else', async () => {
  const key = await makeKey();
  const inside = '<ProfileToken>door:sub</ProfileToken>';
  const told = await ask(MEDIA, 'GetStreamUri', tokenOf(key), inside);
  assert.equal(textOf(at(told.answer, 'MediaUri', 'Uri')), `${app.rtspUrl}/door?stream=sub`);
  const multicast = `<StreamSetup><Stream>RTP-Multicast</Stream></StreamSetup>${inside}`;
  const refused = await ask(MEDIA, 'GetStreamUri', tokenOf(key), multicast);
  assert.equal(refused.codes, 'Sender InvalidArgVal InvalidStreamSetup');
  assert.ok(!told.text.includes('secret'));
});

test('a token is good once, for some minutes, and with the right password alone', async () => {
  const key = await makeKey();
  const once = tokenOf(key);
  assert.equal((await ask(DEVICE, 'GetScopes', once)).status, 200);
  assert.match((await ask(DEVICE, 'GetScopes', once)).reason, /used before/);
  for (const offsetMs of [-301_000, 301_000, -3_600_000])
    assert.match((await ask(DEVICE, 'GetScopes', tokenOf(key, Date.now() + offsetMs))).reason, /not ours/);
  for (const offsetMs of [120_000, 1_000])
    assert.equal((await ask(DEVICE, 'GetScopes', tokenOf(key, Date.now() + offsetMs))).status, 200);
  const plain = tokenOf(key)
    .replace('#PasswordDigest', '#PasswordText')
    .replace(/(<Password[^>]*>)[^<]*/, `$1${key.password}`);
  assert.match((await ask(DEVICE, 'GetScopes', plain)).reason, /https alone/);
  const other = await makeKey();
  const foreign = await ask(DEVICE, 'GetScopes', tokenOf({ user: other.user, password: key.password }));
  assert.deepEqual([foreign.status, foreign.codes], [400, 'Sender NotAuthorized']);
});

test('HTTP Digest is good once for each count, for its request, and for nonces of ours', async () => {
  const key = await makeKey();
  const { challenges } = await ask(DEVICE, 'GetScopes');
  const digest = new Authenticator(key);
  assert.ok(digest.onUnauthorized([challenges], false));
  const first = digest.authorize('POST', DEVICE)!;
  const soap = envelope('<GetScopes/>', '');
  const by = (authorization: string, path = DEVICE) => send(path, soap, { authorization });
  assert.equal((await by(first)).status, 200);
  const again = await by(first);
  assert.equal(again.status, 401);
  assert.match(again.challenges, /stale=true/);
  assert.equal((await by(digest.authorize('POST', DEVICE)!)).status, 200);
  assert.equal((await by(digest.authorize('POST', DEVICE)!, MEDIA)).status, 401, 'of another address');
  assert.equal((await by(digest.authorize('GET', DEVICE)!)).status, 401, 'of another method');
  const invented = challenges.replaceAll(
    /nonce="[^"]*"/g,
    `nonce="${Date.now().toString(36)}.${'0'.repeat(16)}.${'A'.repeat(22)}"`,
  );
  const forged = new Authenticator(key);
  forged.onUnauthorized([invented], false);
  assert.equal((await by(forged.authorize('POST', DEVICE)!)).status, 401);
});

test('the password opens ONVIF and nothing of the API, and stands in no log', async () => {
  const key = await makeKey();
  const asUser = await app.call('POST', '/api/login', {
    body: { username: key.user, password: key.password },
  });
  assert.equal(asUser.status, 401);
  assert.equal((await app.call('GET', '/api/cameras', { token: key.password })).status, 401);
  await ask(DEVICE, 'GetScopes', tokenOf(key));
  assert.ok(!app.logText().includes(key.password));
  const listed = await app.asAdmin('GET', '/api/keys');
  assert.ok(!listed.text.includes(key.password));
  const backup = await app.asAdmin('GET', '/api/system/backup/export');
  assert.ok(!backup.text.includes(key.password));
});

test('whatever is sent is answered by a fault, and soon', async () => {
  const key = await makeKey();
  const hostile = [
    '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
    '<a>'.repeat(5_000),
    envelope(`<GetScopes>${'<a/>'.repeat(500)}</GetScopes>`, tokenOf(key)),
    envelope('', tokenOf(key)),
    '{}',
    '<__proto__/>',
  ];
  for (const text of hostile) {
    const { status, codes } = await send(DEVICE, text);
    assert.ok(status === 401 || status === 400, `${status} ${text.slice(0, 40)}`);
    assert.match(codes, /^Sender (NotAuthorized|WellFormed)$/);
  }
  assert.equal((await send(DEVICE, ' '.repeat(40_000))).status, 413);
  const typed = await fetch(`${app.url}${DEVICE}`, {
    method: 'POST',
    body: '<a/>',
    headers: { 'content-type': 'text/xml' },
  });
  assert.equal(typed.status, 415);
  const unknown = await ask(DEVICE, 'SetUser', tokenOf(key));
  assert.deepEqual([unknown.status, unknown.codes], [500, 'Receiver ActionNotSupported']);
  const element = fc.constantFrom(
    'Username',
    'Password',
    'Nonce',
    'Created',
    'Security',
    'UsernameToken',
    'ProfileToken',
  );
  const part = fc.oneof(
    fc.string(),
    element.map((name) => `<${name}>`),
    element.map((name) => `</${name}>`),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(part, { maxLength: 12 }),
      fc.array(part, { maxLength: 12 }),
      async (head, body) => {
        const { status } = await send(
          MEDIA,
          envelope(`<GetProfile>${body.join('')}</GetProfile>`, head.join('')),
        );
        assert.ok(status === 401 || status === 400 || status === 429, String(status));
      },
    ),
    { numRuns: 60 },
  );
});

test('guesses are counted with failed logins of their address, and audited', async () => {
  const own = await startTestApp({ env: ENV });
  const before = app;
  app = own;
  try {
    const key = await makeKey();
    let last: Told | null = null;
    for (let tries = 0; tries < 12; tries += 1)
      last = await ask(DEVICE, 'GetScopes', tokenOf({ user: key.user, password: `guess ${tries}` }));
    assert.match(`${last?.codes}: ${last?.reason}`, /^Sender NotAuthorized: too many/);
    const login = { body: { username: 'viewer', password: 'correct horse battery' } };
    assert.equal((await own.call('POST', '/api/login', login)).status, 429);
    const audit = await own.asAdmin('GET', '/api/audit?action=use_key_failed');
    assert.equal(audit.body.length, 10, audit.text);
    assert.equal((await ask(DEVICE, 'GetScopes', tokenOf(key))).status, 200, 'nothing can be guessed of it');
  } finally {
    app = before;
    await own.stop();
  }
});

test('the password of a key lasts as long as the secret of the service', async (t) => {
  const dataDir = tempFolder(t);
  const before = app;
  const withSecret = async (JWT_SECRET: string, look: () => Promise<void>): Promise<void> => {
    app = await startTestApp({ env: { ...ENV, JWT_SECRET }, dataDir, withUsers: false });
    try {
      await look();
    } finally {
      await app.stop();
      app = before;
    }
  };
  const [one, other] = ['1'.repeat(32), '2'.repeat(32)];
  let key: Key | null = null;
  await withSecret(one, async () => {
    const body = { username: 'admin', password: app.adminPassword };
    const { token } = (await app.call('POST', '/api/login', { body })).body;
    const made = await app.call('POST', '/api/keys', { token, body: { name: 'lasting', role: 'viewer' } });
    key = { user: 'lasting', password: made.body.onvif_password, id: made.body.id };
  });
  const statuses: number[] = [];
  for (const secret of [one, other])
    await withSecret(secret, async () => {
      statuses.push((await ask(DEVICE, 'GetScopes', tokenOf(key!, Date.now() + 1_000))).status);
    });
  assert.deepEqual(statuses, [200, 400]);
});

test('a name of ours that is none is not told to anybody', async () => {
  for (const [host, shown] of [
    ['recorder.lan:8080', 'http://recorder.lan:8080'],
    ['[fe80::1]:80', 'http://[fe80::1]:80'],
    ['a/b', new URL(app.url).origin.replace(/:\d+$/, '')],
    ['"><x', new URL(app.url).origin.replace(/:\d+$/, '')],
  ] as const) {
    const { port } = new URL(app.url);
    const body = envelope('<GetServices/>', '');
    const request = httpRequest({
      ...{ port, host: '127.0.0.1', method: 'POST', path: DEVICE },
      headers: { host, 'content-type': 'application/soap+xml' },
    });
    request.end(body);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const text = (await response.toArray()).join('');
    assert.equal(/XAddr>([^<]*)/.exec(text)?.[1], `${shown}${DEVICE}`, host);
  }
});
