import assert from 'node:assert/strict';
import { test } from 'node:test';
import { amzDate, authorizationOf, sha256Hex } from '../../src/s3/sign.js';

/** Published by AWS: "Authenticating Requests: Using the Authorization Header", examples of signature calculations. */
const SIGNER = {
  accessKey: 'AKIAIOSFODNN7EXAMPLE',
  secretKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
};
const HOST = 'examplebucket.s3.amazonaws.com';
const DATE = '20130524T000000Z';
const EMPTY = sha256Hex('');

const signatureOf = (
  method: string,
  path: string,
  query: Record<string, string>,
  headers: Record<string, string>,
  payloadHash = EMPTY,
): string =>
  authorizationOf(
    {
      ...{ method, path, query, payloadHash },
      headers: { host: HOST, 'x-amz-content-sha256': payloadHash, 'x-amz-date': DATE, ...headers },
    },
    SIGNER,
  );

test("signs as AWS' examples have it", () => {
  assert.equal(
    signatureOf('GET', '/test.txt', {}, { range: 'bytes=0-9' }),
    'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,' +
      'SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,' +
      'Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  );
  const put = signatureOf(
    'PUT',
    '/test%24file.text',
    {},
    { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
    sha256Hex('Welcome to Amazon S3.'),
  );
  assert.match(put, /Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd$/);
  const lifecycle = signatureOf('GET', '/', { lifecycle: '' }, {});
  assert.match(lifecycle, /Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543$/);
  const list = signatureOf('GET', '/', { prefix: 'J', 'max-keys': '2' }, {});
  assert.match(list, /Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7$/);
});

test('writes times as signatures have them', () => {
  assert.equal(amzDate(Date.UTC(2013, 4, 24, 0, 0, 0, 987)), DATE);
});
