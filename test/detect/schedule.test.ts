import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { dayNames, isScheduled, type ScheduledHours, SiteClock } from '../../src/detect/schedule.js';

const clock = new SiteClock();

const isOn = (schedule: readonly ScheduledHours[], at: string, zone = 'Europe/Berlin'): boolean =>
  isScheduled(schedule, clock.at(Date.parse(at), zone));

test('hours are those of the site, on days on which its clocks are changed too', () => {
  const night: ScheduledHours[] = [{ days: ['sat'], from: '22:00', to: '06:00' }];
  // Winter: an hour ahead of UTC. 2026-03-28 is a Saturday; at 1 UTC of the next day it is 3, not 2.
  assert.deepEqual(
    [
      '2026-03-28T20:59Z',
      '2026-03-28T21:00Z',
      '2026-03-29T00:59Z',
      '2026-03-29T03:59Z',
      '2026-03-29T04:00Z',
    ].map((at) => isOn(night, at)),
    [false, true, true, true, false],
  );
  // Summer: two hours ahead. 2026-10-24 is a Saturday; at 1 UTC of the next day it is 2 again.
  assert.deepEqual(
    [
      '2026-10-24T19:59Z',
      '2026-10-24T20:00Z',
      '2026-10-25T00:30Z',
      '2026-10-25T04:59Z',
      '2026-10-25T05:00Z',
    ].map((at) => isOn(night, at)),
    [false, true, true, true, false],
  );
  const twice: ScheduledHours[] = [{ days: ['sun'], from: '02:00', to: '03:00' }];
  assert.ok(isOn(twice, '2026-10-25T00:30Z') && isOn(twice, '2026-10-25T01:30Z'), 'an hour that comes twice');
  for (let minute = 0; minute < 120; minute += 1)
    assert.equal(
      isOn(twice, new Date(Date.UTC(2026, 2, 29, 0, minute)).toISOString()),
      false,
      'one that is left out',
    );
  // Half an hour off, and a change by half an hour (Lord Howe Island, 2026-04-05).
  assert.equal(
    isOn([{ days: ['mon'], from: '05:30', to: '05:31' }], '2026-11-23T00:00Z', 'Asia/Kolkata'),
    true,
  );
  assert.equal(
    isOn([{ days: ['sun'], from: '01:30', to: '02:00' }], '2026-04-04T15:15Z', 'Australia/Lord_Howe'),
    true,
  );
});

test('without hours it is always a time to detect, and a zone that nobody knows is the machine’s own', () => {
  assert.ok(isScheduled(undefined, { day: 0, minute: 0 }) && isScheduled([], { day: 6, minute: 1_439 }));
  const now = Date.UTC(2026, 10, 23, 12);
  assert.deepEqual(new SiteClock().at(now, 'Mars/Olympus'), new SiteClock().at(now, ''));
});

const anyTime = fc
  .nat(1_439)
  .map(
    (minute) => `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`,
  );
const anyZone = fc.constantFrom(
  'UTC',
  'Europe/Berlin',
  'America/St_Johns',
  'Australia/Lord_Howe',
  'Pacific/Apia',
);
const anyInstant = fc.integer({ min: Date.UTC(2025, 0, 1), max: Date.UTC(2027, 0, 1) });

test('at any moment, anywhere, hours and the rest of them are all there is, and never at once', () => {
  const days = [...dayNames];
  fc.assert(
    fc.property(anyTime, anyTime, anyZone, anyInstant, (from, to, zone, atMs) => {
      fc.pre(from !== to);
      const local = clock.at(atMs, zone);
      assert.notEqual(
        isScheduled([{ days, from, to }], local),
        isScheduled([{ days, from: to, to: from }], local),
      );
      assert.ok(isScheduled([{ days, from: '00:00', to: '24:00' }], local));
      const byDay = dayNames.map((day) => isScheduled([{ days: [day], from: '00:00', to: '24:00' }], local));
      assert.equal(byDay.filter((is) => is).length, 1, 'it is one day');
    }),
  );
});

test('in a zone without changes hours are what plain arithmetic says', () => {
  fc.assert(
    fc.property(anyTime, anyTime, fc.nat(6), anyInstant, (from, to, day, atMs) => {
      const minutes = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
      const WEEK = 7 * 1_440;
      // 1970-01-01 was a Thursday.
      const minuteOfWeek = (Math.floor(atMs / 60_000) + 4 * 1_440) % WEEK;
      const begin = day * 1_440 + minutes(from);
      const length = (minutes(to) - minutes(from) + 1_440) % 1_440 || 1_440;
      const expected = (minuteOfWeek - begin + WEEK) % WEEK < length;
      assert.equal(isScheduled([{ days: [dayNames[day]!], from, to }], clock.at(atMs, 'UTC')), expected);
    }),
  );
});
