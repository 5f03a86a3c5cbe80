import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whyOutOfReach } from '../../src/relay/out-of-reach.js';

test('a box whose pictures no other can ask for says why', () => {
  const why = (boxAddress: string | null, relayHost: string) => whyOutOfReach({ boxAddress, relayHost });
  assert.match(why(null, '0.0.0.0') ?? '', /BOX_ADDRESS/);
  for (const host of ['127.0.0.1', '::1', 'localhost', '127.0.1.1'])
    assert.match(why('https://box-1.site:8443', host) ?? '', /RELAY_HOST/, host);
  assert.match(why('http://[fd00::1]:8080', '127.0.0.1') ?? '', /RELAY_HOST/);
  for (const host of ['0.0.0.0', '::', '10.0.0.7', 'box-1'])
    assert.equal(why('https://box-1.site:8443', host), null, host);
  // All boxes of one machine.
  for (const address of ['http://127.0.0.1:8080', 'http://localhost:8080', 'http://[::1]:8080'])
    assert.equal(why(address, '127.0.0.1'), null, address);
});
