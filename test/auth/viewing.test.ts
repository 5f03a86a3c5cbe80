import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Tokens } from '../../src/auth/tokens.js';
import { type EndReason, ViewingSessions } from '../../src/auth/viewers.js';
import { ViewingGate, type ViewingRequest } from '../../src/auth/viewing-gate.js';
import { createLogger } from '../../src/base/log.js';
import type { StoredUser } from '../../src/store/users.js';
import { FakeClock } from '../support/fake-clock.js';

const user = (username: string): StoredUser => ({
  username,
  role: 'viewer',
  password_hash: 'h',
  token_epoch: 'epoch-1',
});

const setUp = () => {
  const clock = new FakeClock();
  const logged: string[] = [];
  const users = new Map([
    ['eve', user('eve')],
    ['adam', user('adam')],
  ]);
  const tokens = new Tokens(Buffer.alloc(32, 1), {
    users: { find: (name) => users.get(name) ?? null },
    clock,
  });
  const sessions = new ViewingSessions({
    clock,
    log: createLogger((_level, message) => logged.push(message)),
  });
  const gate = new ViewingGate({ tokens, sessions });
  const streamToken = (cameraId: string, username = 'eve'): string =>
    tokens.issueStream(tokens.verifyAccess(tokens.issueAccess(user(username))), cameraId);
  const poll = (
    cameraId: string,
    shown: { token?: string; session?: string | null },
    changes: Partial<ViewingRequest> = {},
  ) =>
    gate.admitPoll({
      cameraId,
      tokenAuth: true,
      permission: 'live.watch',
      token: shown.token ?? null,
      session: shown.session ?? null,
      ...changes,
    });
  return { clock, users, tokens, sessions, gate, streamToken, poll, logged };
};

test('a camera without token_auth is open to all, whatever they show', () => {
  const { poll, gate, sessions } = setUp();
  const open = { tokenAuth: false };
  for (const shown of [{}, { token: 'nonsense' }, { session: 'nonsense' }])
    assert.deepEqual(poll('gate', shown, open), { sessionId: null, username: null });
  const request = {
    cameraId: 'gate',
    tokenAuth: false,
    permission: 'live.watch',
    token: 'nonsense',
  } as const;
  assert.equal(gate.admitConnection(request, () => undefined).username, null);
  assert.equal(sessions.size, 0);
});

test('a good token opens a session, one for each camera and token, that goes on without the token', () => {
  const { poll, streamToken, tokens, clock, sessions } = setUp();
  const token = streamToken('gate');
  const { sessionId, username } = poll('gate', { token });
  assert.equal(username, 'eve');
  assert.match(sessionId ?? '', /^[A-Za-z0-9_-]{32}$/);
  assert.deepEqual(poll('gate', { token }), { sessionId, username: 'eve' }, 'the same one');
  for (let minute = 0; minute < 30; minute++) {
    clock.advance(60_000);
    assert.deepEqual(poll('gate', { session: sessionId }), { sessionId, username: 'eve' });
  }
  const access = tokens.issueAccess(user('eve'));
  const opened = ['gate', 'yard'].map((camera) => poll(camera, { token: access }).sessionId);
  assert.equal(new Set([...opened, sessionId]).size, 3);
  assert.equal(sessions.size, 3);
});

test('a session is good for its own camera alone', () => {
  const { poll, streamToken } = setUp();
  const { sessionId } = poll('gate', { token: streamToken('gate') });
  assert.throws(() => poll('yard', { session: sessionId }), { code: 'token_expired' });
  poll('gate', { session: sessionId });
});

test('a session that is not used for over a minute has ended', () => {
  const { poll, streamToken, clock } = setUp();
  const { sessionId } = poll('gate', { token: streamToken('gate') });
  clock.advance(60_000);
  poll('gate', { session: sessionId });
  clock.advance(60_001);
  assert.throws(() => poll('gate', { session: sessionId }), { code: 'token_expired' });
  assert.throws(() => poll('gate', { session: 'never-was' }), { code: 'token_expired' });
});

test('a session lasts 12 hours at most, however much it is used', () => {
  const { poll, streamToken, clock } = setUp();
  const token = streamToken('gate');
  const { sessionId } = poll('gate', { token });
  for (let minute = 1; minute < 12 * 60; minute++) {
    clock.advance(60_000);
    poll('gate', minute % 2 === 0 ? { session: sessionId } : { token });
  }
  clock.advance(60_000);
  assert.throws(() => poll('gate', { session: sessionId }), { code: 'token_expired' });
  assert.throws(() => poll('gate', { token }), { code: 'token_expired' });
});

test('the very token that opened a viewing goes on as long as that is alive, even expired', () => {
  const { poll, streamToken, clock } = setUp();
  const [used, late, same] = [streamToken('gate'), streamToken('gate', 'adam'), streamToken('yard')];
  const { sessionId } = poll('gate', { token: used });
  for (let round = 0; round < 10; round++) {
    clock.advance(30_000);
    assert.deepEqual(poll('gate', { token: used }), { sessionId, username: 'eve' });
  }
  assert.throws(() => poll('gate', { token: late }), { code: 'token_expired' }, 'never used in its lifetime');
  assert.throws(() => poll('yard', { token: same }), { code: 'token_expired' });
  assert.throws(() => poll('yard', { token: used }), { code: 'token_expired' }, 'not on another camera');
  clock.advance(60_001);
  assert.throws(() => poll('gate', { token: used }), { code: 'token_expired' }, 'the viewing has ended');
});

test('a dead session beside a good token opens a new one', () => {
  const { poll, streamToken, clock } = setUp();
  const { sessionId } = poll('gate', { token: streamToken('gate') });
  clock.advance(61_000);
  const next = poll('gate', { session: sessionId, token: streamToken('gate') });
  assert.notEqual(next.sessionId, sessionId);
});

test('without anything to show, or with a token that is no good, nobody gets in', () => {
  const { poll, streamToken, gate, users } = setUp();
  assert.throws(() => poll('gate', {}), { code: 'token_missing' });
  assert.throws(() => poll('gate', { token: 'nonsense' }), { code: 'token_invalid' });
  assert.throws(() => poll('gate', { token: streamToken('yard') }), { code: 'token_invalid' });
  const request = { cameraId: 'gate', tokenAuth: true, permission: 'live.watch', token: null } as const;
  assert.throws(() => gate.admitConnection(request, () => undefined), { code: 'token_missing' });
  const token = streamToken('gate');
  poll('gate', { token });
  users.delete('eve');
  assert.throws(() => poll('gate', { token }), { code: 'token_revoked' }, 'though its viewing is alive');
});

test('sessions and connections end with their user, and only those', () => {
  const { poll, streamToken, sessions, gate, clock } = setUp();
  const tokens = { eve: streamToken('gate'), adam: streamToken('gate', 'adam') };
  const ended: string[] = [];
  const connect = (name: 'eve' | 'adam') =>
    gate.admitConnection(
      { cameraId: 'gate', tokenAuth: true, permission: 'live.watch', token: tokens[name] },
      (reason) => ended.push(`${name} ${reason}`),
    );
  connect('eve');
  connect('adam');
  connect('eve').release();
  const { sessionId } = poll('gate', { token: tokens.eve });
  const other = poll('gate', { token: tokens.adam }).sessionId;
  sessions.endForUser('eve');
  assert.deepEqual(ended, ['eve access_withdrawn']);
  assert.throws(() => poll('gate', { session: sessionId }), { code: 'token_expired' });
  clock.advance(60_000);
  assert.throws(() => poll('gate', { token: tokens.eve }), { code: 'token_expired' }, 'nor by its token');
  poll('gate', { session: other });
  sessions.endForUser('eve');
  assert.equal(ended.length, 1, 'told once');
});

test('sessions and connections end with their camera, viewers without a token too', () => {
  const { poll, streamToken, sessions } = setUp();
  const ended: [string, EndReason][] = [];
  sessions.hold('gate', null, (reason) => ended.push(['anyone', reason]));
  sessions.hold('gate', 'eve', (reason) => ended.push(['eve', reason]));
  sessions.hold('yard', 'eve', (reason) => ended.push(['elsewhere', reason]));
  const { sessionId } = poll('gate', { token: streamToken('gate') });
  const other = poll('yard', { token: streamToken('yard') }).sessionId;
  sessions.endForCamera('gate', 'access_withdrawn');
  assert.deepEqual(ended, [
    ['anyone', 'access_withdrawn'],
    ['eve', 'access_withdrawn'],
  ]);
  assert.throws(() => poll('gate', { session: sessionId }), { code: 'token_expired' });
  poll('yard', { session: other });
  sessions.endForCamera('yard', 'camera_deleted');
  assert.deepEqual(ended.at(-1), ['elsewhere', 'camera_deleted']);
});

test('where a camera is disabled connections end, and sessions go on for its recordings', () => {
  const { poll, streamToken, sessions } = setUp();
  const ended: string[] = [];
  sessions.hold('gate', null, (reason) => ended.push(`anyone ${reason}`));
  sessions.hold('yard', null, () => ended.push('elsewhere'));
  const { sessionId } = poll('gate', { token: streamToken('gate') });
  sessions.endConnections('gate', 'access_withdrawn');
  sessions.endConnections('gate', 'access_withdrawn');
  assert.deepEqual(ended, ['anyone access_withdrawn']);
  assert.equal(poll('gate', { session: sessionId }).username, 'eve');
});

test('one viewer that cannot be told does not spare the others', () => {
  const { sessions, logged } = setUp();
  const ended: number[] = [];
  sessions.hold('gate', 'eve', () => {
    throw new Error('socket is gone');
  });
  const last = sessions.hold('gate', 'eve', () => ended.push(3));
  sessions.hold('gate', 'eve', () => {
    ended.push(2);
  });
  const releases = sessions.hold('gate', 'eve', () => last.release());
  sessions.endForCamera('gate', 'camera_deleted');
  releases.release();
  assert.deepEqual(ended, [3, 2]);
  assert.equal(logged.length, 1);
});

test('memory is bounded: ended sessions go first, then the own oldest, never those of others', () => {
  const { sessions, clock } = setUp();
  const full = 20_000;
  const first = sessions.open('gate', 'adam', 'token');
  for (let index = 0; index < full; index++) sessions.open('gate', 'eve', `token-${index}`);
  assert.equal(sessions.size, full);
  assert.ok(sessions.touch(first, 'gate') !== null, 'adam was not pushed out by eve');
  assert.equal(sessions.resume('gate', 'token-0'), null, 'the oldest of her own was');
  assert.notEqual(sessions.resume('gate', 'token-1'), null);
  assert.throws(() => sessions.open('gate', 'newcomer', 'token of a newcomer'), {
    code: 'too_many_viewings',
  });
  clock.advance(60_001);
  sessions.open('gate', 'newcomer', 'token of a newcomer');
  assert.equal(sessions.size, 1);
});
