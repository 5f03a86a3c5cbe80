import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { eventBeside } from '../../src/web/data/kept-events.js';
import { leave, signIn } from '../../src/web/data/session.js';

const DAY_MS = 86_400_000;
const ME = { username: 'g', role: 'viewer', permissions: [], time_zone: 'UTC', must_change_password: false };
const ownFetch = globalThis.fetch;
/** When events of the service began. */
let times: readonly number[] = [];
/** How many times the service looked in vain, and led on, before it told one. */
let emptyPages = 0;
const asked: URLSearchParams[] = [];

/** As the service answers (src/http/routes/kept-events.ts). */
const eventsOf = (query: URLSearchParams): Response => {
  asked.push(query);
  const page = Number(query.get('cursor') ?? 0);
  if (page < emptyPages) {
    query.set('cursor', String(page + 1));
    return new Response('[]', { headers: { link: `</api/events?${query}>; rel="next"` } });
  }
  const [from, to] = ['from', 'to'].map((name) => query.get(name));
  const sign = query.get('order') === 'oldest_first' ? 1 : -1;
  const found = times
    .filter((at) => at >= Date.parse(from ?? '1970-01-01') && at < Date.parse(to ?? '9999-01-01'))
    .sort((a, b) => sign * (a - b))
    .slice(0, Number(query.get('limit')));
  return Response.json(found.map((at) => ({ from: new Date(at).toISOString() })));
};

before(async () => {
  globalThis.fetch = async (path) => {
    const url = new URL(String(path), 'http://service');
    if (url.pathname === '/api/events') return eventsOf(url.searchParams);
    return Response.json(url.pathname === '/api/me' ? ME : { token: 'good' });
  };
  await signIn('g', 'p', false);
});
after(() => {
  globalThis.fetch = ownFetch;
  leave();
});

test('the next event and the one before are found however many there are and however far, in one question', async () => {
  const moments = fc.array(fc.oneof(fc.nat(900 * DAY_MS), fc.nat(2_000)), { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(moments, fc.nat(900 * DAY_MS), fc.nat(3), async (given, timeMs, empty) => {
      [times, emptyPages] = [given, empty];
      for (const direction of [1, -1] as const) {
        asked.length = 0;
        const beside = given.filter((at) => (direction === 1 ? at > timeMs : at < timeMs));
        const nearest = direction === 1 ? Math.min(...beside) : Math.max(...beside);
        const found = await eventBeside(['gate', 'yard'], timeMs, direction, 'label:person');
        assert.equal(found, beside.length === 0 ? null : nearest);
        assert.equal(asked.length, empty + 1);
        const [first] = asked;
        assert.deepEqual([first?.getAll('camera_id'), first?.get('label')], [['gate', 'yard'], 'person']);
      }
    }),
    { numRuns: 200 },
  );
});

test('an event that this machine takes for one still to come is the next one all the same', async () => {
  const aheadMs = Date.now() + 3_600_000;
  [times, emptyPages] = [[aheadMs], 0];
  assert.equal(await eventBeside(['gate'], aheadMs - 60_000, 1, null), aheadMs);
});
