import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { resolveControl, resolveSession } from '../../src/rtsp/control-url.js';
import { isRtspError } from '../../src/rtsp/errors.js';
import { parseCameraUrl, redactUrl } from '../../src/rtsp/url.js';

const short = (text: string): string => {
  const { isSecure, host, port, credentials, requestUri } = parseCameraUrl(text);
  const login = credentials === null ? '' : `${credentials.user} ${credentials.password} `;
  return `${isSecure ? 'tls ' : ''}${login}${host} ${port} ${requestUri}`;
};

test('camera URLs as people write them', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['rtsp://cam', 'cam 554 rtsp://cam/'],
    ['RTSP://cam.lan:8554/a/b?c=d', 'cam.lan 8554 rtsp://cam.lan:8554/a/b?c=d'],
    ['rtsps://10.0.0.1/x', 'tls 10.0.0.1 322 rtsps://10.0.0.1/x'],
    ['rtsp://cam?channel=1', 'cam 554 rtsp://cam/?channel=1'],
    ['rtsp://10.0.0.1:/x', '10.0.0.1 554 rtsp://10.0.0.1/x'],
    [' rtsp://10.0.0.1/a b\tü"', '10.0.0.1 554 rtsp://10.0.0.1/a%20b%09%C3%BC"'],
    ['rtsp://[2001:db8::1]:555/x', '2001:db8::1 555 rtsp://[2001:db8::1]:555/x'],
    ['rtsp://2001:db8::1/x', '2001:db8::1 554 rtsp://[2001:db8::1]/x'],
    ['rtsp://u:p@[fe80::1%25eth0]/x', 'u p fe80::1%eth0 554 rtsp://[fe80::1]/x'],
    ['rtsp://küche.local/x', 'xn--kche-0ra.local 554 rtsp://xn--kche-0ra.local/x'],
    ['rtsp://u@cam/x', 'u  cam 554 rtsp://cam/x'],
    ['rtsp://:p@cam/x', ' p cam 554 rtsp://cam/x'],
  ];
  for (const [text, expected] of cases) assert.equal(short(text), expected, text);
});

test('pain 16: passwords with @ # % : / ?, raw and percent-encoded', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['rtsp://u:p@ss@10.0.0.1/x', 'p@ss'],
    ['rtsp://u:p%40s%2Fs%23@10.0.0.1/x', 'p@s/s#'],
    ['rtsp://u:a:b@10.0.0.1/x', 'a:b'],
    ['rtsp://u:a#b@10.0.0.1/x', 'a#b'],
    ['rtsp://u:a/b@10.0.0.1/x', 'a/b'],
    ['rtsp://u:1/2@10.0.0.1:554/x', '1/2'],
    ['rtsp://u:a?b@cam.lan/x', 'a?b'],
    ['rtsp://u:p@s/w@10.0.0.1/x', 'p@s/w'],
    ['rtsp://u:p@#/?:%@localhost/x', 'p@#/?:%'],
    ['rtsp://u:a/b@cam/x', 'a/b'],
    ['rtsp://u:100%@cam/x', '100%'],
    ['rtsp://u:%zz%E9@cam/x', '%zz%E9'],
    ['rtsp://u:%C3%A9@cam/x', 'é'],
  ];
  for (const [text, password] of cases) {
    const url = parseCameraUrl(text);
    assert.deepEqual(url.credentials, { user: 'u', password }, text);
    assert.match(url.requestUri, /^rtsp:\/\/(10\.0\.0\.1|cam|cam\.lan|localhost)(:554)?\/x$/, text);
  }
});

test('an @ in the path stays there', () => {
  for (const text of [
    'rtsp://10.0.0.1/a@b/c',
    'rtsp://cam.lan:554/live@2',
    'rtsp://u:p@10.0.0.1/a@b.c/d',
    'rtsp://cam/a@b',
    'rtsp://localhost:8554/x?user=a@b.c',
  ]) {
    assert.match(parseCameraUrl(text).requestUri, /@/, text);
  }
});

test('what is no camera URL is refused without quoting it', () => {
  for (const text of [
    '',
    'http://u:geheim@h/',
    'rtsp://',
    'rtsp://u:geheim',
    'rtsp://u:geheim@',
    'rtsp://h:99999/geheim',
    'rtsp://[::1/',
    'rtsp://a b/',
  ]) {
    try {
      parseCameraUrl(text);
      assert.fail(text);
    } catch (error) {
      assert.ok(isRtspError(error) && error.code === 'bad_url', text);
      assert.doesNotMatch(JSON.stringify(error) + error.message, /geheim/);
    }
  }
});

test('pain 17: no password survives redaction', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['rtsp://u:geheim@10.0.0.1:554/x', 'rtsp://u:***@10.0.0.1:554/x'],
    ['rtsps://u:g@e/heim@10.0.0.1/x', 'rtsps://u:***@10.0.0.1/x'],
    ['rtsp://10.0.0.1/x', 'rtsp://10.0.0.1/x'],
    ['rtsp://u@cam/x', 'rtsp://u@cam/x'],
    ['rtsp://c.d/user=admin_password=geheim_channel=1', 'rtsp://c.d/user=admin_password=***_channel=1'],
    ['rtsp://c.d/live?loginuse=a&loginpas=geheim', 'rtsp://c.d/live?loginuse=a&loginpas=***'],
    ['rtsp://c.d/live?key=geheim&keyframe=1', 'rtsp://c.d/live?key=***&keyframe=1'],
    ['rtsp://c.d/live?apikey=geheim&access_key=geheim', 'rtsp://c.d/live?apikey=***&access_key=***'],
    ['rtsp://c.d/live?authcode=geheim&secretkey=geheim', 'rtsp://c.d/live?authcode=***&secretkey=***'],
    ['rtsp://c.d/live?usr=a&psw=geheim', 'rtsp://c.d/live?usr=a&psw=***'],
    ['rtsp://c.d/live?pin=geheim&sig=geheim&pins=1', 'rtsp://c.d/live?pin=***&sig=***&pins=1'],
    ['rtsp://c.d/0/admin:geheim/main', 'rtsp://c.d/0/admin:***/main'],
    ['rtsp://c.d/x?pwd=geheim&a=1', 'rtsp://c.d/x?pwd=***&a=1'],
    ['rtsp://u:p@1.2/geheim@10.0.0.1/x', 'rtsp://u:***@10.0.0.1/x'],
    ['rtsp://u:geheim', 'rtsp://***'],
    ['http://u:geheim@h/x', 'http://***'],
    ['geheim', '://***'],
  ];
  for (const [text, expected] of cases) assert.equal(redactUrl(text), expected);
});

const secret = fc.stringMatching(/^[@#%:/?a-z0-9 ]{0,6}geheim[@#%:/?a-z0-9 ]{0,6}$/);

test('passwords round-trip when percent-encoded, and are never shown', () => {
  fc.assert(
    fc.property(secret, (password) => {
      const text = `rtsp://user:${encodeURIComponent(password)}@192.168.1.2/live`;
      assert.equal(parseCameraUrl(text).credentials?.password, password);
      assert.doesNotMatch(redactUrl(text), /geheim/);
      assert.doesNotMatch(redactUrl(`rtsp://user:${password}@192.168.1.2/live`), /geheim/);
    }),
  );
});

test('any text is parsed or refused, and can be redacted', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.string().map((tail) => `rtsp://${tail}`),
      ),
      (text) => {
        redactUrl(text);
        try {
          assert.match(parseCameraUrl(text).requestUri, /^rtsps?:\/\/[!-~]+$/);
        } catch (error) {
          assert.ok(isRtspError(error) && error.code === 'bad_url', String(error));
        }
      },
    ),
  );
});

const REQUEST = 'rtsp://10.0.0.9:554/live';

test('quirk 1: Content-Base absolute, relative, without scheme (Anjvision), or wrong', () => {
  const cases: readonly (readonly [string | null, string])[] = [
    [null, 'rtsp://10.0.0.9:554/live/t1'],
    ['rtsp://192.168.5.206/h264Preview_01_main/', 'rtsp://192.168.5.206/h264Preview_01_main/t1'],
    ['192.168.1.10:554/stream0/', 'rtsp://192.168.1.10:554/stream0/t1'],
    ['/stream0/', 'rtsp://10.0.0.9:554/stream0/t1'],
    ['rtsp://u:p@10.0.0.9/x', 'rtsp://10.0.0.9/x/t1'],
    ['not a url', 'rtsp://10.0.0.9:554/live/t1'],
    ['rtsp://', 'rtsp://10.0.0.9:554/live/t1'],
    ['rtsp://c:1/H264?channel=1&proto=Onvif', 'rtsp://c:1/H264?channel=1&proto=Onvif/t1'],
  ];
  for (const [base, expected] of cases) assert.equal(resolveControl('*', base, REQUEST, 't1'), expected);
});

test('quirk 2: control with a leading slash, a doubled scheme, absolute, or none', () => {
  const cases: readonly (readonly [string | null, string])[] = [
    ['/t1', 'rtsp://10.0.0.9:554/live/t1'],
    ['rtsp://rtsp://10.0.0.9/live/t1', 'rtsp://10.0.0.9/live/t1'],
    ['rtsp://[fd00::2]/t1', 'rtsp://[fd00::2]/t1'],
    ['RTSP://10.0.0.9/Track 1', 'rtsp://10.0.0.9/Track%201'],
    ['?ctype=video', 'rtsp://10.0.0.9:554/live?ctype=video'],
    ['*', REQUEST],
    [null, REQUEST],
    ['', REQUEST],
  ];
  for (const [control, expected] of cases) {
    assert.equal(resolveControl(null, null, REQUEST, control), expected, String(control));
  }
  assert.equal(resolveControl(null, null, `${REQUEST}/`, '/t1'), 'rtsp://10.0.0.9:554/live/t1');
});

test('the session is named by its own control, else by Content-Base, else by the request', () => {
  assert.equal(resolveSession('rtsp://10.0.0.9/all', '/x', REQUEST), 'rtsp://10.0.0.9/all');
  assert.equal(resolveSession('all', '/x/', REQUEST), 'rtsp://10.0.0.9:554/x/all');
  assert.equal(resolveSession('*', '/x/', REQUEST), 'rtsp://10.0.0.9:554/x/');
  assert.equal(resolveSession(null, null, REQUEST), REQUEST);
  assert.equal(resolveControl('rtsp://10.0.0.9/all', '/x', REQUEST, 't1'), 'rtsp://10.0.0.9/all/t1');
});

test('what a camera names itself never breaks a request line', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), (session, base, media) => {
      assert.match(resolveControl(session, base, REQUEST, media), /^[!-~]+$/);
    }),
  );
});
