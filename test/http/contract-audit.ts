import assert from 'node:assert/strict';
import { auditActions } from '../../src/http/audit.js';

type AuditRecord = Readonly<Record<string, unknown>> & { readonly action: string };

/** Holds a log in which all was done that can be against what the audit log is to tell. */
export const checkAudit = (logText: string): void => {
  const records = logText
    .split('\n')
    .filter((line) => line.includes('"action":'))
    .map((line) => JSON.parse(line) as AuditRecord);
  const told = new Set(records.map(({ action }) => action));
  assert.deepEqual(
    auditActions.filter((action) => !told.has(action)),
    // Of keys only those are told that are none (keys.test.ts).
    ['use_key'],
  );
  for (const { action, ip, user } of records) {
    assert.equal(ip, '127.0.0.1', action);
    if (!action.endsWith('_failed')) assert.ok(user, action);
  }
};
