import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addDays,
  areAlike,
  cityOf,
  clockText,
  dateOf,
  dayBounds,
  instantsOf,
  knownZone,
  offsetText,
} from '../../src/web/data/zones.js';

const HOUR_MS = 3_600_000;
const BERLIN = 'Europe/Berlin';
const at = (text: string): number => Date.parse(text);

test('a day lasts as long as it does in the zone, and begins when it begins there', () => {
  const hoursOf = (date: string, zone: string): number => {
    const { fromMs, toMs } = dayBounds(date, zone);
    assert.equal(dateOf(fromMs, zone), date);
    assert.notEqual(dateOf(fromMs - 1, zone), date);
    assert.equal(dateOf(toMs, zone), addDays(date, 1));
    return (toMs - fromMs) / HOUR_MS;
  };
  assert.equal(hoursOf('2026-11-20', BERLIN), 24);
  assert.equal(hoursOf('2026-03-29', BERLIN), 23);
  assert.equal(hoursOf('2026-10-25', BERLIN), 25);
  assert.equal(hoursOf('2026-11-01', 'America/New_York'), 25);
  // Half an hour, in the other half of the year; and a zone where midnight itself is left out.
  assert.equal(hoursOf('2026-04-05', 'Australia/Lord_Howe'), 24.5);
  assert.equal(hoursOf('2018-11-04', 'America/Sao_Paulo'), 23);
  assert.equal(hoursOf('2026-11-20', 'UTC'), 24);
  assert.equal(dayBounds('2026-11-20', BERLIN).fromMs, at('2026-11-19T23:00:00Z'));
});

test('a time that clocks show twice is two instants, and one that they leave out is none', () => {
  const wall = { year: 2026, month: 10, day: 25, hour: 2, minute: 30, second: 0 };
  assert.deepEqual(instantsOf(wall, BERLIN), [at('2026-10-25T00:30:00Z'), at('2026-10-25T01:30:00Z')]);
  assert.deepEqual(instantsOf({ ...wall, month: 3, day: 29 }, BERLIN), []);
  assert.deepEqual(instantsOf({ ...wall, hour: 12 }, BERLIN), [at('2026-10-25T11:30:00Z')]);
});

test('clocks, offsets and cities are shown as the zone has them', () => {
  const ms = at('2026-11-20T01:14:07.042Z');
  assert.equal(clockText(ms, BERLIN), '02:14:07');
  assert.equal(clockText(ms, BERLIN, { hasSeconds: false }), '02:14');
  assert.equal(clockText(ms, BERLIN, { hasMillis: true }), '02:14:07.042');
  assert.equal(clockText(at('2026-11-19T23:00:00Z'), BERLIN), '00:00:00');
  assert.equal(offsetText(ms, BERLIN), '+01:00');
  assert.equal(offsetText(at('2026-07-01T00:00:00Z'), 'America/St_Johns'), '-02:30');
  assert.equal(cityOf('America/Argentina/Buenos_Aires'), 'Buenos Aires');
  assert.equal(addDays('2026-02-28', 1), '2026-03-01');
  assert.equal(areAlike(BERLIN, 'Europe/Paris', ms), true);
  assert.equal(areAlike('Africa/Lagos', BERLIN, ms), false, 'the same now, another in summer');
});

test('a zone that this browser does not know is shown as UTC', () => {
  assert.deepEqual([knownZone(BERLIN), knownZone('Mars/Olympus'), knownZone('')], [BERLIN, 'UTC', 'UTC']);
});
