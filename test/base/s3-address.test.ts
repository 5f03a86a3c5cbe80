import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { s3AddressOf, s3Host } from '../../src/base/s3-address.js';

test('takes keys, port, prefix and region out of a URL', () => {
  assert.deepEqual(s3AddressOf('https://key:s%2Fec%2Bret@s3.example.org/my-bucket/site/box-1?region=eu-1'), {
    isTls: true,
    host: 's3.example.org',
    port: 443,
    accessKey: 'key',
    secretKey: 's/ec+ret',
    bucket: 'my-bucket',
    prefix: 'site/box-1/',
    region: 'eu-1',
  });
  const local = s3AddressOf('http://a:b@[::1]:7070/bucket/');
  assert.deepEqual([local?.host, local?.port, local?.prefix, local?.region], ['::1', 7070, '', 'us-east-1']);
  assert.equal(s3Host(local!), '[::1]:7070');
});

test('refuses what is no address of a bucket', () => {
  for (const text of [
    'https://s3.example.org/bucket',
    'https://key@s3.example.org/bucket',
    'https://key:secret@s3.example.org',
    'https://key:secret@s3.example.org/b',
    'https://key:secret@s3.example.org/bucket//double',
    'https://key:secret@s3.example.org/bucket/a%2F..%2Fb',
    'https://key:secret@s3.example.org/bucket?regoin=eu-1',
    'https://key:secret@s3.example.org/bucket?region=eu-1&region=eu-2',
    'https://key:secret@s3.example.org/bucket?region=',
    'https://key:secret@s3.example.org/bucket#x',
    'https://key:secret@s3.example.org:0/bucket',
    'https://ke%2Fy:secret@s3.example.org/bucket',
    'https://key:sec%0Aret@s3.example.org/bucket',
    'https://key:%zz@s3.example.org/bucket',
    's3://key:secret@s3.example.org/bucket',
    'bucket',
  ])
    assert.equal(s3AddressOf(text), null, text);
});

test('any printable secret comes back, once it is encoded', () => {
  const printable = fc.string({
    unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
    minLength: 1,
    maxLength: 60,
  });
  fc.assert(
    fc.property(printable, (secret) => {
      const address = s3AddressOf(`https://key:${encodeURIComponent(secret)}@host/bucket`);
      assert.equal(address?.secretKey, secret);
    }),
  );
});
