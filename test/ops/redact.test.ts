import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { redactLine, redactText } from '../../src/ops/redact.js';

const jwt = `${'eyJhbGciOiJIUzI1NiJ9'}.${'eyJzdWIiOiJhZG1pbiJ9'}.${'c2lnbmF0dXJlLWxvb2tz'}`;

test('credentials are masked wherever a text holds them, and the rest stays', () => {
  const cases: [string, string][] = [
    ['open rtsp://admin:p4ss@10.0.0.1:554/x now', 'open rtsp://***@10.0.0.1:554/x now'],
    ['rtsp://admin:p@ss/w#rd?@cam/x', 'rtsp://***@cam/x'],
    ['rtsp://admin:two words@cam/x', 'rtsp://***@cam/x'],
    ['rtsp://admin@cam/x', 'rtsp://***@cam/x'],
    ['moved from rtsp://a:b@one/ to rtsp://c:d@two/', 'moved from rtsp://***@one/ to rtsp://***@two/'],
    ['moved from http://one/ to rtsp://c:d@two/', 'moved from http://one/ to rtsp://***@two/'],
    ['rtsp://cam/x failed\nask a@b', 'rtsp://cam/x failed\nask a@b'],
    ['/probe?url=rtsp%3A%2F%2Fu%3Ap%40cam%2Fx', '/probe?url=rtsp%3A%2F%2F***%40cam%2Fx'],
    ['Authorization: Bearer abcdefgh.123', 'Authorization: Bearer ***'],
    ['Authorization: Basic YWRtaW46cDRzcw==', 'Authorization: Basic ***'],
    ['Basic authentication is asked for', 'Basic authentication is asked for'],
    ['Digest username="a", response="0123456789abcdef0123456789abcdef"', 'Digest username="a", response=***'],
    [`token ${jwt} expired`, 'token *** expired'],
    ['GET /stream/ws/a?token=s3cret&x=1', 'GET /stream/ws/a?token=***&x=1'],
    ['path /user=admin_password=s3cret_channel=1', 'path /user=admin_password=***'],
    ['path /live?loginuse=a&loginpas=s3cret', 'path /live?loginuse=a&loginpas=***'],
    ['GET /stream/hls/a/index.m3u8?session=s3cret', 'GET /stream/hls/a/index.m3u8?session=***'],
    ['stored $scrypt$ln=15,r=8,p=1$c2FsdA$aGFzaA as', 'stored *** as'],
    ['stored scrypt$16384$8$1$73616c74$68617368', 'stored ***'],
    ['stored $argon2id$v=19$m=65536,t=3,p=4$c2FsdA$aGFzaA', 'stored ***'],
    ['body {"username":"a","password":"p\\"4ss","x":1}', 'body {"username":"a","password":"***","x":1}'],
    [
      'at file:///srv/node_modules/@pinojs/redact.js:1:2',
      'at file:///srv/node_modules/@pinojs/redact.js:1:2',
    ],
    ['camera is streaming', 'camera is streaming'],
    ['a@b sent http://host/x', 'a@b sent http://host/x'],
  ];
  for (const [text, masked] of cases) assert.equal(redactText(text), masked);
});

test('a field that is named for a secret is masked whatever it holds', () => {
  const line = JSON.stringify({
    msg: 'x',
    body: { username: 'a', Password: 'hunter2', list: [{ access_token: 17, 'set-cookie': ['c=1'] }] },
    token: '',
    jwtSecret: null,
  });
  assert.deepEqual(JSON.parse(redactLine(line)), {
    msg: 'x',
    body: { username: 'a', Password: '***', list: [{ access_token: '***', 'set-cookie': '***' }] },
    token: '',
    jwtSecret: null,
  });
});

/** Secrets of characters that never occur in what is put around them. */
const secret = fc.string({ unit: fc.constantFrom(...'QXZÄ7:/@ "\'\\<>{}&?%#'), minLength: 4, maxLength: 40 });
const hasMark = (text: string): boolean => /[QXZÄ7]{2}/.test(text);
const planted = secret.filter((text) => hasMark(text));

test('no password of a URL survives, whatever it is made of and wherever the URL stands', () => {
  const schemes = fc.constantFrom('rtsp', 'rtsps', 'http', 'RTSP');
  fc.assert(
    fc.property(schemes, planted, fc.boolean(), (scheme, password, isNested) => {
      const text = `can't open ${scheme}://admin:${password}@cam.example/live: no route`;
      const record = isNested ? { msg: 'm', error: { causes: [text] } } : { msg: text };
      const clean = JSON.parse(redactLine(JSON.stringify(record)));
      const shown: string = isNested ? clean.error.causes[0] : clean.msg;
      assert.equal(shown, `can't open ${scheme}://***@cam.example/live: no route`);
    }),
  );
});

test('no token and no hash survives in a text of any other characters', () => {
  const around = fc.string({ unit: fc.constantFrom(...' .,;:()[]"\'\n/é'), maxLength: 20 });
  const base64 = fc.string({ unit: fc.constantFrom(...'QXZJKWV7_-'), minLength: 12, maxLength: 60 });
  const wrapped = fc.oneof(
    base64.map((body) => ({ body, text: `eyJhbGciOi.${body}.${body}` })),
    base64.map((body) => ({ body, text: `Bearer ${body}` })),
    base64.map((body) => ({ body, text: `$scrypt$ln=15,r=8,p=1$${body}$${body}` })),
    base64.map((body) => ({ body, text: `?token=${body}` })),
  );
  fc.assert(
    fc.property(around, wrapped, around, (before, { body, text }, after) => {
      const line = redactLine(JSON.stringify({ msg: `${before} ${text} ${after}` }));
      assert.ok(!line.includes(body), line);
    }),
  );
});

test('any JSON record stays JSON with the same fields, and redacting again changes nothing', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), (record) => {
      const line = JSON.stringify(record);
      const clean = redactLine(line);
      assert.equal(redactLine(clean), clean);
      assert.equal(Object.keys(JSON.parse(clean)).length <= Object.keys(JSON.parse(line)).length, true);
    }),
  );
});

test('a huge hostile text costs little, and is cut without showing half a credential', () => {
  const hostile = [
    '://'.repeat(40_000),
    'eyJ'.repeat(40_000),
    '%3a%2f%2f'.repeat(10_000),
    '"token":"'.repeat(9_000),
  ];
  // Of this process alone: what others take of the machine is no cost of the text.
  const before = process.cpuUsage();
  for (const text of hostile) assert.ok(redactText(text).length <= 16_500);
  const tookMs = process.cpuUsage(before).user / 1_000;
  assert.ok(tookMs < 2_000, `${tookMs} ms`);
  const url = 'rtsp://admin:QXQXQX-not-for-you@cam/x';
  for (let shift = 0; shift < url.length + 2; shift++) {
    const text = `${' '.repeat(8_192 - shift)}${url}`;
    assert.doesNotMatch(redactText(text), /QX/, `cut ${shift} characters into the URL`);
  }
});
