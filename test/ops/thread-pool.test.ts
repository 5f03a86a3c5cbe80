import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Logger } from '../../src/base/log.js';
import { warnOfFewThreads } from '../../src/ops/thread-pool.js';

const warningsWith = (threads: number): unknown[] => {
  const warnings: unknown[] = [];
  const nothing = (): void => {};
  const log: Logger = {
    ...{ debug: nothing, info: nothing, error: nothing, child: () => log },
    warn: (_message, fields) => warnings.push(fields),
  };
  warnOfFewThreads(log, threads);
  return warnings;
};

test('who starts the service with few threads for the disk is told, and how many there should be', () => {
  assert.deepEqual(warningsWith(4), [{ threads: 4, wanted: 16 }]);
  assert.deepEqual(warningsWith(8), [{ threads: 8, wanted: 16 }]);
  assert.deepEqual(warningsWith(16), []);
});
