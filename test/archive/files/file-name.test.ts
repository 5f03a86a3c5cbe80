import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { closedName, openName, parseRecordingName } from '../../../src/archive/files/file-name.js';

const at = (text: string): number => Date.parse(text);

test('names are those of the interface', () => {
  assert.equal(openName(at('2026-11-21T08:30:00.900Z')), '2026-11-21_08-30-00_ongoing.mp4');
  assert.equal(
    closedName(at('2026-11-21T08:30:00.900Z'), at('2026-11-21T09:29:59.100Z')),
    '2026-11-21_08-30-00_to_09-30-00.mp4',
  );
});

test('an end before the start is on the next day, and an end is never at the start', () => {
  const name = closedName(at('2026-12-31T23:59:58Z'), at('2027-01-01T00:10:00Z'));
  assert.equal(name, '2026-12-31_23-59-58_to_00-10-00.mp4');
  assert.deepEqual(parseRecordingName(name), {
    startMs: at('2026-12-31T23:59:58Z'),
    endMs: at('2027-01-01T00:10:00Z'),
  });
  const brief = closedName(at('2026-11-21T23:59:59.100Z'), at('2026-11-21T23:59:59.300Z'));
  assert.equal(parseRecordingName(brief)?.endMs, at('2026-11-22T00:00:00Z'));
});

test('whatever we name is read back, to the second', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: at('2200-01-01T00:00:00Z') }),
      fc.integer({ min: 0, max: 82_800_000 }),
      (startMs, lengthMs) => {
        const startSecMs = Math.floor(startMs / 1000) * 1000;
        assert.deepEqual(parseRecordingName(openName(startMs)), { startMs: startSecMs, endMs: null });
        const closed = parseRecordingName(closedName(startMs, startMs + lengthMs));
        assert.equal(closed?.startMs, startSecMs);
        const roundingMs = closed!.endMs! - (startMs + lengthMs);
        assert.ok(roundingMs >= 0 && roundingMs <= 1000, String(roundingMs));
        assert.ok(closed!.endMs! > closed!.startMs);
      },
    ),
  );
});

test('nothing else is a name', () => {
  const faults = [
    '',
    '../2026-11-21_08-30-00_ongoing.mp4',
    '2026-11-21_08-30-00_ongoing.mp4\0',
    '2026-11-21_08-30-00_ongoing.mp4\n',
    '/2026-11-21_08-30-00_ongoing.mp4',
    '2026-11-21_08-30-00_ongoing.mp4.broken',
    '2026-02-30_08-30-00_ongoing.mp4',
    '2026-11-21_24-30-00_ongoing.mp4',
    '2026-11-21_08-30-00_to_08-61-00.mp4',
    '2026-11-21_08-30-00_to_24-00-00.mp4',
    '٢٠26-11-21_08-30-00_ongoing.mp4',
  ];
  for (const name of faults) assert.equal(parseRecordingName(name), null, name);
  fc.assert(fc.property(fc.string(), (text) => assert.equal(parseRecordingName(text), null)));
});

test('a date that there is none of is no name, and each that there is, is one', () => {
  const pad = (value: number, length = 2): string => String(value).padStart(length, '0');
  const number = (most: number) => fc.integer({ min: 0, max: most });
  const closedAt = (date: string, [hour = 0, minute = 0, second = 0]: readonly number[]): string =>
    `${date}_to_${[hour, minute, second].map((value) => pad(value)).join('-')}.mp4`;
  fc.assert(
    fc.property(
      fc.tuple(number(2600), number(13), number(32), number(25), number(61), number(61)),
      fc.tuple(number(25), number(61), number(61)),
      ([year, month, day, hour, minute, second], end) => {
        const [date, time] = [
          [pad(year, 4), pad(month), pad(day)].join('-'),
          [hour, minute, second].map((value) => pad(value)),
        ];
        const startMs = Date.parse(`${date}T${time.join(':')}Z`);
        const isThere =
          !Number.isNaN(startMs) &&
          year >= 100 &&
          new Date(startMs).toISOString() === `${date}T${time.join(':')}.000Z`;
        const stem = `${date}_${time.join('-')}`;
        assert.deepEqual(
          parseRecordingName(`${stem}_ongoing.mp4`),
          isThere ? { startMs, endMs: null } : null,
        );
        const closed = closedAt(stem, end);
        const isEnd = end[0] < 24 && end[1] < 60 && end[2] < 60;
        const parsed = parseRecordingName(closed);
        assert.equal(parsed !== null, isThere && isEnd, closed);
        if (parsed !== null) assert.equal(closedName(parsed.startMs, parsed.endMs!), closed);
      },
    ),
    { numRuns: 2_000 },
  );
});
