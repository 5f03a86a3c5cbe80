import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, beforeEach, mock, test } from 'node:test';
import { readEventStream } from '../../src/web/data/event-stream.js';
import { Problem } from '../../src/web/data/problem.js';
import { onReach, request } from '../../src/web/data/request.js';
import {
  accessToken,
  api,
  changePassword,
  leave,
  resume,
  session,
  signIn,
} from '../../src/web/data/session.js';
import { until } from '../support/until.js';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const ME = {
  username: 'guard',
  role: 'viewer',
  permissions: [],
  time_zone: 'UTC',
  must_change_password: false,
};
const json =
  (body: object, status = 200): Answer =>
  (_request, response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
/** The head, half of the body, and nothing more. */
const halfway: Answer = (_request, response) => void response.writeHead(200).write('{"tok');

const answers = new Map<string, Answer>();
const asked: string[] = [];
const server = createServer((request, response) => {
  const name = `${request.method} ${request.url}`;
  asked.push(name);
  (answers.get(name) ?? json({}, 404))(request, response);
});
const ownFetch = globalThis.fetch;

before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A page's addresses begin with where it came from.
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  globalThis.fetch = (path, init) => ownFetch(`${origin}${String(path)}`, init);
});
after(() => {
  globalThis.fetch = ownFetch;
  leave();
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  leave();
  asked.length = 0;
  answers.clear();
  answers.set('POST /api/login', json({ token: 'first' }));
  answers.set('POST /api/session', json({ token: 'second' }));
  answers.set('GET /api/me', json(ME));
});

afterEach(() => {
  mock.restoreAll();
  mock.timers.reset();
});

const isOffline = (fault: unknown): boolean => fault instanceof Problem && fault.code === 'offline';

/** Timers of just this length go by a test's own clock, so that a machine that stands still takes no time; those of `fetch` don't. */
const SILENT_MS = 1_234;
const held = new Map<unknown, { readonly run: () => void; leftMs: number }>();

const holdTimers = (): void => {
  const { setTimeout: begin, clearTimeout: end } = globalThis;
  mock.method(globalThis, 'setTimeout', (...given: Parameters<typeof setTimeout>) => {
    const [run, ms] = given;
    if (ms !== SILENT_MS) return begin(...given);
    const timer = {};
    held.set(timer, { run, leftMs: ms });
    return timer;
  });
  mock.method(globalThis, 'clearTimeout', (timer?: NodeJS.Timeout) => {
    if (!held.delete(timer)) end(timer);
  });
};

const pass = async (ms: number): Promise<void> => {
  const settle = async (): Promise<void> => {
    for (let turns = 0; turns < 200; turns += 1) await new Promise(setImmediate);
  };
  await settle();
  for (const [timer, waiting] of held) {
    waiting.leftMs -= ms;
    if (waiting.leftMs > 0) continue;
    held.delete(timer);
    waiting.run();
  }
  await settle();
};

/** Nothing comes for so long. */
const assertGivenUp = async (read: Promise<unknown>): Promise<void> => {
  let outcome: unknown = null;
  read.then(
    () => {
      outcome = 'read';
    },
    (fault: unknown) => {
      outcome = fault;
    },
  );
  // What had not come by then is waited for anew.
  for (let tries = 0; tries < 3 && outcome === null; tries += 1) await pass(SILENT_MS);
  assert.ok(isOffline(outcome), String(outcome));
};

test('an answer that stands still halfway is no answer, whatever it is read as', async () => {
  holdTimers();
  answers.set('GET /slow', halfway);
  let isReached = true;
  onReach((is) => {
    isReached = is;
  });
  for (const read of ['text', 'json', 'blob'] as const) {
    isReached = true;
    const answer = await request('GET', '/slow', { timeoutMs: SILENT_MS });
    await assertGivenUp(answer[read]());
    assert.equal(isReached, false);
  }
  await assertGivenUp(api('GET', '/slow', { timeoutMs: SILENT_MS }));
});

test('one that goes on is waited for, however long it takes in all', async () => {
  holdTimers();
  let steady: ServerResponse | undefined;
  answers.set('GET /steady', (_request, response) => {
    steady = response;
    response.flushHeaders();
  });
  const answer = await request('GET', '/steady', { timeoutMs: SILENT_MS });
  const reader = answer.body?.getReader();
  let text = '';
  for (let pieces = 0; pieces < 12; pieces += 1) {
    const read = reader?.read();
    await pass(SILENT_MS - 100);
    steady?.write(`${pieces} `);
    text += Buffer.from((await read)?.value ?? []).toString();
  }
  steady?.end();
  assert.equal((await reader?.read())?.done, true);
  assert.deepEqual(text.trim().split(' ').map(Number), [...Array(12).keys()]);
  assert.equal(answer.status, 200);
});

test('events that come no more are noticed', async () => {
  answers.set('GET /events', (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: {"id":"gate"}\n\n');
  });
  const heard: string[] = [];
  holdTimers();
  const answer = await request('GET', '/events', { timeoutMs: SILENT_MS });
  const read = readEventStream(answer, (_type, data) => void heard.push(data));
  await assertGivenUp(read);
  assert.deepEqual(heard, ['{"id":"gate"}']);
});

test('what nobody wants any more is given up, before the answer and within it, and is no outage', async () => {
  answers.set('GET /never', () => {});
  answers.set('GET /slow', halfway);
  let outages = 0;
  onReach((is) => {
    if (!is) outages += 1;
  });
  // Some browsers have no `AbortSignal.any`.
  mock.method(AbortSignal, 'any', () => assert.fail('not to be had'));
  for (const path of ['/never', '/slow']) {
    const abort = new AbortController();
    const read = request('GET', path, { signal: abort.signal }).then((answer) => answer.text());
    setTimeout(() => abort.abort(), 50);
    await assert.rejects(read, { name: 'AbortError' });
  }
  await assert.rejects(request('GET', '/never', { signal: AbortSignal.abort() }), { name: 'AbortError' });
  mock.restoreAll();
  assert.equal(outages, 0);
});

test('a token that may have ended is another one before a stream is asked for with it', async () => {
  mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
  await signIn('guard', 'secret', false);
  mock.timers.setTime(1_000_000 + 50 * 60_000);
  assert.equal(await accessToken(), 'first');
  // The machine slept, and its timers with it.
  mock.timers.setTime(1_000_000 + 58 * 60_000);
  answers.set('POST /api/session', json({ code: 'unavailable', detail: 'busy' }, 503));
  assert.equal(await accessToken(), 'first', 'it may be good yet');
  answers.set('POST /api/session', json({ token: 'second' }));
  assert.equal(await accessToken(), 'second');
  // A clock that was set back says nothing of its age.
  mock.timers.setTime(1_000);
  answers.set('POST /api/session', json({ token: 'third' }));
  assert.equal(await accessToken(), 'third');
});

test('a renewal that fails is tried again', async () => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  await signIn('guard', 'secret', false);
  answers.set('POST /api/session', json({ code: 'unavailable', detail: 'busy' }, 503));
  const renewals = (): number => asked.filter((name) => name === 'POST /api/session').length;
  const untilAsked = async (count: number): Promise<void> => {
    while (renewals() < count) await new Promise(setImmediate);
    // And answered.
    for (let turns = 0; turns < 200; turns += 1) await new Promise(setImmediate);
  };
  mock.timers.tick(40 * 60_000);
  await untilAsked(1);
  answers.set('POST /api/session', json({ token: 'second' }));
  mock.timers.tick(60_000);
  await untilAsked(2);
  assert.equal(await accessToken(), 'second');
});

test('where something between makes the page look like another one, it says so, and lets sign in', async () => {
  const problem = { code: 'wrong_origin', detail: 'only a page of this very service may ask' };
  await signIn('guard', 'secret', false);
  answers.set('GET /api/cameras', json({ code: 'unauthenticated', detail: 'expired' }, 401));
  answers.set('POST /api/session', json(problem, 403));
  await assert.rejects(api('GET', '/api/cameras'), { status: 403 });
  assert.deepEqual(session.peek(), { state: 'ended', me: ME, why: problem.detail });
  session.value = { state: 'unknown' };
  await assert.rejects(resume(), { status: 403, detail: problem.detail });
  assert.equal(session.peek().state, 'unknown', 'the page says why, and what can be done');
});

test('what is asked while the password changes waits, and comes with the token of the new one', async () => {
  await signIn('guard', 'old', false);
  let isEnded = false;
  answers.set('PUT /api/me/password', (_request, response) => {
    isEnded = true;
    // The answer takes a while; whoever asks with the old token meanwhile is refused.
    setTimeout(() => json({ token: 'third' })(_request, response), 100);
  });
  const tokens: (string | undefined)[] = [];
  answers.set('GET /api/wall-token', (asking, response) => {
    tokens.push(asking.headers.authorization);
    json({ token: 'wall' })(asking, response);
  });
  const changed = changePassword('old', 'another');
  await until('it is under way', () => isEnded);
  const [given] = await Promise.all([accessToken(), api('GET', '/api/wall-token'), changed]);
  assert.equal(given, 'third');
  assert.deepEqual(tokens, ['Bearer third']);
});
