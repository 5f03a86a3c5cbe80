import assert from 'node:assert/strict';
import { after, before, mock, test } from 'node:test';
import { TimelineStore } from '../../src/web/archive/tape/timeline-store.js';
import { noteServiceTime } from '../../src/web/data/service-clock.js';
import { leave, signIn } from '../../src/web/data/session.js';
import { monotonicMs } from '../../src/web/player/monotonic.js';
import { until } from '../support/until.js';

const HOUR_MS = 3_600_000;
const MIDDAY_MS = Date.parse('2026-11-20T11:00:00Z');
const ME = { username: 'g', role: 'viewer', permissions: [], time_zone: 'UTC', must_change_password: false };
const LANE = { recorded: [], gaps: [], motion: [], labels: {} };
const ownFetch = globalThis.fetch;
const ownNow = performance.now.bind(performance);
let passedMs = 0;
let isFailing = false;
let asked = 0;

/** The service tells its time, which is so late now. */
const tellTime = (timeMs: number): void => noteServiceTime(monotonicMs(), new Date(timeMs).toISOString());

before(async () => {
  mock.method(performance, 'now', () => ownNow() + passedMs);
  globalThis.fetch = async (path) => {
    const { pathname } = new URL(String(path), 'http://service');
    if (pathname !== '/api/timeline') return Response.json(pathname === '/api/me' ? ME : { token: 'good' });
    asked += 1;
    return isFailing ? Response.json({}, { status: 503 }) : Response.json({ gate: LANE });
  };
  await signIn('g', 'p', false);
});
after(() => {
  leave();
  globalThis.fetch = ownFetch;
  mock.restoreAll();
});

for (const isRefused of [false, true])
  test(`when the service's clock is set back ${isRefused ? 'a refusal' : 'the tape'} grows no older than before`, async () => {
    const store = new TimelineStore();
    store.use(['gate']);
    const look = (): void => store.look(MIDDAY_MS - 3 * HOUR_MS, MIDDAY_MS);
    tellTime(MIDDAY_MS);
    [asked, isFailing] = [0, isRefused];
    look();
    await until('it is answered', () =>
      isRefused ? store.problem.value !== null : store.lanes.value.size > 0,
    );
    look();
    assert.equal(asked, 1, 'it is fresh, or waits');
    isFailing = false;
    passedMs += 10_000;
    tellTime(MIDDAY_MS - HOUR_MS);
    await until('it is asked again', () => {
      look();
      return asked === 2;
    });
    await until('the tape is there', () => store.problem.value === null && store.lanes.value.size > 0);
  });
