import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isAllowedAddress } from '../../src/notify/webhooks/target-address.js';

const rules = { allowsLocal: false };
const octets = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255));

/** RFC 6890, said in another way than the code does. */
const isForbidden = ([a, b]: readonly number[]): boolean =>
  a === 0 || a === 127 || (a === 169 && b === 254) || a! >= 224;

test('an address is judged alike in all its spellings', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        octets,
        fc.tuple(fc.constantFrom(0, 127, 169, 224, 255), fc.constantFrom(0, 254), fc.nat(255), fc.nat(255)),
      ),
      (address) => {
        const [a, b, c, d] = address;
        const text = address.join('.');
        const [high, low] = [((a << 8) | b).toString(16), ((c << 8) | d).toString(16)];
        for (const spelled of [
          text,
          `::ffff:${text}`,
          `::ffff:${high}:${low}`,
          `0:0:0:0:0:FFFF:${high}:${low}`,
          `64:ff9b::${high}:${low}`,
          `2002:${high}:${low}::1`,
        ])
          assert.equal(isAllowedAddress(spelled, rules), !isForbidden(address), spelled);
      },
    ),
    { numRuns: 500 },
  );
});

test('this machine and its link may be allowed, what is no host never is', () => {
  const local = ['127.0.0.1', '127.9.9.9', '::1', 'fe80::1%eth0', '169.254.169.254', '::ffff:127.0.0.1'];
  for (const address of local) {
    assert.equal(isAllowedAddress(address, rules), false, address);
    assert.equal(isAllowedAddress(address, { allowsLocal: true }), true, address);
  }
  for (const address of [
    '0.0.0.0',
    '::',
    '224.0.0.1',
    'ff02::1',
    '255.255.255.255',
    '::ffff:0.0.0.0',
    '',
    'x',
  ])
    assert.equal(isAllowedAddress(address, { allowsLocal: true }), false, address);
  for (const address of ['192.168.1.5', '10.0.0.1', '93.184.216.34', '2606:2800::1', 'fd00::5'])
    assert.equal(isAllowedAddress(address, rules), true, address);
});
