import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  claimedUfrag,
  isBindingSuccess,
  parseBindingRequest,
  writeBindingRequest,
  writeBindingSuccess,
} from '../../../src/live/whep/path/stun.js';
import { bindingRequest } from '../../support/whep-client.js';

const PASSWORD = 'a password of twenty-four';

/** The address that an answer tells, unmasked (RFC 8489 §14.2). */
const mappedAddress = (answer: Buffer): { port: number; bytes: number[] } => {
  const value = answer.subarray(24, 24 + answer.readUInt16BE(22));
  const mask = answer.subarray(4, 20);
  return {
    port: value.readUInt16BE(2) ^ mask.readUInt16BE(0),
    bytes: [...value.subarray(4)].map((byte, i) => byte ^ mask[i]!),
  };
};

test('an answer tells the address that the check came from', () => {
  const id = randomBytes(12);
  const v4 = mappedAddress(writeBindingSuccess(id, '203.0.113.7', 50_007, PASSWORD));
  assert.deepEqual(v4, { port: 50_007, bytes: [203, 0, 113, 7] });
  const v6 = mappedAddress(writeBindingSuccess(id, '2001:db8::1:ff', 9, PASSWORD));
  const expected = [0x20, 1, 0xd, 0xb8, ...Array(9).fill(0), 1, 0, 0xff];
  assert.deepEqual(v6, { port: 9, bytes: expected });
  const mapped = mappedAddress(writeBindingSuccess(id, '::ffff:192.0.2.1', 9, PASSWORD));
  assert.deepEqual(mapped.bytes.slice(-6), [0xff, 0xff, 192, 0, 2, 1]);
});

test('our question is a request as others make them, and only its own answer counts', () => {
  const id = randomBytes(12);
  const question = writeBindingRequest(id, 'viewer:us', PASSWORD);
  const read = { username: 'viewer:us', useCandidate: false, transactionId: id };
  assert.deepEqual(parseBindingRequest(question, PASSWORD), read);
  const answer = writeBindingSuccess(id, '192.0.2.1', 9, PASSWORD);
  assert.equal(isBindingSuccess(answer, id, PASSWORD), true);
  assert.equal(isBindingSuccess(answer, randomBytes(12), PASSWORD), false);
  assert.equal(isBindingSuccess(answer, id, `${PASSWORD}!`), false);
  assert.equal(isBindingSuccess(question, id, PASSWORD), false);
});

test('a check names whom it is for, and counts as it was signed or not at all', () => {
  const check = bindingRequest('us:viewer', PASSWORD);
  assert.equal(claimedUfrag(check), 'us');
  assert.equal(claimedUfrag(bindingRequest('nobody', PASSWORD)), null);
  assert.equal(claimedUfrag(bindingRequest(':viewer', PASSWORD)), null);
  assert.equal(claimedUfrag(bindingRequest(`${'x'.repeat(257)}:viewer`, PASSWORD)), null);
  assert.equal(parseBindingRequest(check, PASSWORD)?.useCandidate, true);
  // The last eight bytes are the fingerprint, which nothing is made of.
  fc.assert(
    fc.property(fc.nat(check.length - 9), fc.integer({ min: 1, max: 255 }), (at, change) => {
      const forged = Buffer.from(check);
      forged[at] = forged[at]! ^ change;
      assert.equal(parseBindingRequest(forged, PASSWORD), null);
    }),
  );
  for (let end = 0; end < check.length; end += 1) {
    assert.equal(parseBindingRequest(check.subarray(0, end), PASSWORD), null);
    assert.equal(claimedUfrag(check.subarray(0, end)), null);
  }
});

test('whatever comes is read or refused', () => {
  const header = Buffer.alloc(20);
  header.writeUInt16BE(1, 0);
  header.writeUInt32BE(0x2112a442, 4);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 1_600 }), fc.boolean(), (bytes, hasHeader) => {
      const message = hasHeader ? Buffer.concat([header, bytes]) : Buffer.from(bytes);
      if (hasHeader) message.writeUInt16BE(bytes.length, 2);
      assert.equal(parseBindingRequest(message, PASSWORD), null);
      assert.equal(isBindingSuccess(message, randomBytes(12), PASSWORD), false);
      const ufrag = claimedUfrag(message);
      assert.ok(ufrag === null || (ufrag.length > 0 && ufrag.length <= 256));
    }),
  );
});
