import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserName } from '../../src/web/pages/me/browser-name.js';

test('a browser is named by what it calls itself', () => {
  const mac = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)';
  const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0';
  const iPhone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15';
  for (const [userAgent, name] of [
    ['Mozilla/5.0 (Windows NT 10.0; rv:128.0) Gecko/20100101 Firefox/128.0', 'Firefox 128, Windows'],
    [`Mozilla/5.0 (X11; Linux x86_64) ${chrome} Safari/537.36`, 'Chrome 140, Linux'],
    [`Mozilla/5.0 (Linux; Android 15) ${chrome} Mobile Safari/537.36`, 'Chrome 140, Android'],
    [`Mozilla/5.0 (Windows NT 10.0) ${chrome} Safari/537.36 Edg/140.0.0.0`, 'Edge 140, Windows'],
    [`${mac} Version/18.1 Safari/605.1.15`, 'Safari 18, Mac'],
    [`${iPhone} (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1`, 'Safari 18, iPhone'],
    [`Program/1.0 ${'x'.repeat(100)}`, `Program/1.0 ${'x'.repeat(48)}`],
    ['', ''],
  ] as const)
    assert.equal(browserName(userAgent), name);
});
