import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { RecordedSeen } from '../../src/web/archive/seen/recorded-seen.js';
import { until } from '../support/until.js';

const T = Date.UTC(2026, 10, 20, 2, 14);
const person = { label: 'person', score: 0.9, box: [0.1, 0.2, 0.3, 0.4] } as const;

test('what was seen in a picture is drawn over it, and over those behind it until something else is told', async () => {
  const asked: number[] = [];
  let changes = 0;
  const seen = new RecordedSeen(
    async (_camera, fromMs, toMs) => {
      asked.push(fromMs, toMs);
      return [
        { atMs: T - 3_000, objects: [person] },
        { atMs: T + 1_000, objects: [person] },
        { atMs: T + 2_000, objects: [] },
        { atMs: T + 20_000, objects: [person] },
      ];
    },
    () => {
      changes += 1;
    },
  );
  const at = (ms: number) => {
    const { objects, isOfIt } = seen.at('gate', T + ms);
    return [objects.length, isOfIt];
  };
  assert.deepEqual(at(1_000), [0, true], 'not known yet');
  seen.want(new Map([['gate', T + 1_000]]));
  await until('it is known', () => changes === 1);
  assert.deepEqual(asked, [T - 5_000, T + 60_000]);
  assert.deepEqual(
    [at(0), at(999), at(1_000), at(1_600)],
    [
      [1, false],
      [1, true],
      [1, true],
      [1, false],
    ],
  );
  assert.deepEqual(
    [at(2_000), at(24_999), at(25_001)],
    [
      [0, true],
      [1, false],
      [0, true],
    ],
  );
  assert.equal(seen.at('dock', T + 1_000).objects.length, 0);
  seen.want(new Map([['gate', T + 30_000]]));
  assert.equal(asked.length, 2, 'the minute is known');
  seen.close();
});

test('what could not be read, and what is recorded just now, is asked for again a little later', async () => {
  mock.timers.enable({ apis: ['Date'], now: T });
  let asked = 0;
  const seen = new RecordedSeen(
    async () => {
      asked += 1;
      if (asked === 1) throw new Error('the service does not answer');
      return [{ atMs: T - 1_000, objects: [person] }];
    },
    () => {},
  );
  const want = async (): Promise<number> => {
    seen.want(new Map([['gate', T - 1_000]]));
    await new Promise((resolve) => setImmediate(resolve));
    return asked;
  };
  assert.deepEqual([await want(), await want()], [1, 1]);
  mock.timers.setTime(T + 5_000);
  assert.deepEqual([await want(), await want()], [2, 2]);
  assert.equal(seen.at('gate', T - 1_000).objects.length, 1);
  mock.timers.setTime(T + 10_000);
  assert.equal(await want(), 3, 'there may be more by now');
  mock.timers.setTime(T + 60_000);
  assert.equal(await want(), 4);
  mock.timers.setTime(T + 900_000);
  assert.equal(await want(), 4, 'nothing is added any more');
  mock.timers.reset();
});
