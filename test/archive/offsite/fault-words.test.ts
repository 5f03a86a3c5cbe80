import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultWords } from '../../../src/archive/offsite/fault-words.js';
import { s3Error } from '../../../src/s3/errors.js';

test('what a store says of itself, and a disk of its paths, is for the log alone', () => {
  const refusal = s3Error(
    's3_refused',
    'the store answered 403 AccessDenied: arn:aws:iam::123456789012:user/box may not',
    {
      details: { status: 403, s3_code: 'AccessDenied' },
    },
  );
  assert.equal(faultWords(refusal), 'the store answered 403 AccessDenied');
  const odd = s3Error('s3_refused', 'x', { details: { status: 403, s3_code: 'of bucket secret-name' } });
  assert.equal(faultWords(odd), 'the store answered 403');
  assert.equal(
    faultWords(s3Error('s3_unavailable', "the store can't be reached: x")),
    "the store can't be reached: x",
  );
  const full = Object.assign(new Error("ENOSPC: no space left, write '/data/outbox.json'"), {
    code: 'ENOSPC',
  });
  assert.equal(faultWords(full), 'the disk failed: ENOSPC');
  assert.equal(faultWords(new Error('/data/x is bad')), 'it failed, and the log says why');
});
