import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Sights } from '../../src/auth/sight.js';
import { Tokens } from '../../src/auth/tokens.js';
import { type EndReason, Viewers } from '../../src/auth/viewers.js';
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
  const viewers = new Viewers({
    clock,
    log: createLogger((_level, message) => logged.push(message)),
  });
  const sights = new Sights({
    cameras: { folderOf: () => null, withTag: () => [] },
    folders: { parentOf: () => null },
    ...{ limitsOf: () => null, viewers },
  });
  const gate = new ViewingGate({ tokens, viewers, sights });
  const streamToken = (cameraId: string, username = 'eve'): string =>
    tokens.issueStream(tokens.verifyAccess(tokens.issueAccess(user(username))), cameraId);
  const poll = (
    cameraId: string,
    shown: { token?: string; session?: string | null },
    changes: Partial<ViewingRequest> = {},
  ) =>
    gate.viewingFor({
      cameraId,
      tokenAuth: true,
      permission: 'live.watch',
      token: shown.token ?? null,
      session: shown.session ?? null,
      ...changes,
    });
  return { clock, users, tokens, viewers, gate, streamToken, poll, logged };
};

test('a camera without token_auth is open to all, whatever they show', () => {
  const { poll, gate, viewers } = setUp();
  const open = { tokenAuth: false };
  for (const shown of [{}, { token: 'nonsense' }, { session: 'nonsense' }])
    assert.deepEqual(poll('gate', shown, open), { id: null, username: null });
  const request = {
    cameraId: 'gate',
    tokenAuth: false,
    permission: 'live.watch',
    token: 'nonsense',
  } as const;
  assert.equal(gate.placeFor(request, () => undefined).username, null);
  assert.equal(viewers.viewingCount, 0);
});

test('a good token opens a viewing, one for each camera and token, that goes on without the token', () => {
  const { poll, streamToken, tokens, clock, viewers } = setUp();
  const token = streamToken('gate');
  const { id, username } = poll('gate', { token });
  assert.equal(username, 'eve');
  assert.match(id ?? '', /^[A-Za-z0-9_-]{32}$/);
  assert.deepEqual(poll('gate', { token }), { id, username: 'eve' }, 'the same one');
  for (let minute = 0; minute < 30; minute++) {
    clock.advance(60_000);
    assert.deepEqual(poll('gate', { session: id }), { id, username: 'eve' });
  }
  const access = tokens.issueAccess(user('eve'));
  const opened = ['gate', 'yard'].map((camera) => poll(camera, { token: access }).id);
  assert.equal(new Set([...opened, id]).size, 3);
  assert.equal(viewers.viewingCount, 3);
});

test('a viewing is good for its own camera alone', () => {
  const { poll, streamToken } = setUp();
  const { id } = poll('gate', { token: streamToken('gate') });
  assert.throws(() => poll('yard', { session: id }), { code: 'token_expired' });
  poll('gate', { session: id });
});

test('a viewing that is not used for over a minute has ended', () => {
  const { poll, streamToken, clock } = setUp();
  const { id } = poll('gate', { token: streamToken('gate') });
  clock.advance(60_000);
  poll('gate', { session: id });
  clock.advance(60_001);
  assert.throws(() => poll('gate', { session: id }), { code: 'token_expired' });
  assert.throws(() => poll('gate', { session: 'never-was' }), { code: 'token_expired' });
});

test('a viewing lasts 12 hours at most, however much it is used', () => {
  const { poll, streamToken, clock } = setUp();
  const token = streamToken('gate');
  const { id } = poll('gate', { token });
  for (let minute = 1; minute < 12 * 60; minute++) {
    clock.advance(60_000);
    poll('gate', minute % 2 === 0 ? { session: id } : { token });
  }
  clock.advance(60_000);
  assert.throws(() => poll('gate', { session: id }), { code: 'token_expired' });
  assert.throws(() => poll('gate', { token }), { code: 'token_expired' });
});

test('the very token that opened a viewing goes on as long as that is alive, even expired', () => {
  const { poll, streamToken, clock } = setUp();
  const [used, late, same] = [streamToken('gate'), streamToken('gate', 'adam'), streamToken('yard')];
  const { id } = poll('gate', { token: used });
  for (let round = 0; round < 10; round++) {
    clock.advance(30_000);
    assert.deepEqual(poll('gate', { token: used }), { id, username: 'eve' });
  }
  assert.throws(() => poll('gate', { token: late }), { code: 'token_expired' }, 'never used in its lifetime');
  assert.throws(() => poll('yard', { token: same }), { code: 'token_expired' });
  assert.throws(() => poll('yard', { token: used }), { code: 'token_expired' }, 'not on another camera');
  clock.advance(60_001);
  assert.throws(() => poll('gate', { token: used }), { code: 'token_expired' }, 'the viewing has ended');
});

test('a dead viewing beside a good token opens a new one', () => {
  const { poll, streamToken, clock } = setUp();
  const { id } = poll('gate', { token: streamToken('gate') });
  clock.advance(61_000);
  const next = poll('gate', { session: id, token: streamToken('gate') });
  assert.notEqual(next.id, id);
});

test('without anything to show, or with a token that is no good, nobody gets in', () => {
  const { poll, streamToken, gate, users } = setUp();
  assert.throws(() => poll('gate', {}), { code: 'token_missing' });
  assert.throws(() => poll('gate', { token: 'nonsense' }), { code: 'token_invalid' });
  assert.throws(() => poll('gate', { token: streamToken('yard') }), { code: 'token_invalid' });
  const request = { cameraId: 'gate', tokenAuth: true, permission: 'live.watch', token: null } as const;
  assert.throws(() => gate.placeFor(request, () => undefined), { code: 'token_missing' });
  const token = streamToken('gate');
  poll('gate', { token });
  users.delete('eve');
  assert.throws(() => poll('gate', { token }), { code: 'token_revoked' }, 'though its viewing is alive');
});

test('viewings and places end with their user, and only those', () => {
  const { poll, streamToken, viewers, gate, clock } = setUp();
  const tokens = { eve: streamToken('gate'), adam: streamToken('gate', 'adam') };
  const ended: string[] = [];
  const connect = (name: 'eve' | 'adam') =>
    gate.placeFor(
      { cameraId: 'gate', tokenAuth: true, permission: 'live.watch', token: tokens[name] },
      (reason) => ended.push(`${name} ${reason}`),
    );
  connect('eve');
  connect('adam');
  connect('eve').release();
  const { id } = poll('gate', { token: tokens.eve });
  const other = poll('gate', { token: tokens.adam }).id;
  viewers.endForUser('eve');
  assert.deepEqual(ended, ['eve access_withdrawn']);
  assert.throws(() => poll('gate', { session: id }), { code: 'token_expired' });
  clock.advance(60_000);
  assert.throws(() => poll('gate', { token: tokens.eve }), { code: 'token_expired' }, 'nor by its token');
  poll('gate', { session: other });
  viewers.endForUser('eve');
  assert.equal(ended.length, 1, 'told once');
});

test('viewings and places end with their camera, viewers without a token too', () => {
  const { poll, streamToken, viewers } = setUp();
  const ended: [string, EndReason][] = [];
  viewers.takePlace('gate', null, (reason) => ended.push(['anyone', reason]));
  viewers.takePlace('gate', 'eve', (reason) => ended.push(['eve', reason]));
  viewers.takePlace('yard', 'eve', (reason) => ended.push(['elsewhere', reason]));
  const { id } = poll('gate', { token: streamToken('gate') });
  const other = poll('yard', { token: streamToken('yard') }).id;
  viewers.endForCamera('gate', 'access_withdrawn');
  assert.deepEqual(ended, [
    ['anyone', 'access_withdrawn'],
    ['eve', 'access_withdrawn'],
  ]);
  assert.throws(() => poll('gate', { session: id }), { code: 'token_expired' });
  poll('yard', { session: other });
  viewers.endForCamera('yard', 'camera_deleted');
  assert.deepEqual(ended.at(-1), ['elsewhere', 'camera_deleted']);
});

test('where a camera is disabled places end, and viewings go on for its recordings', () => {
  const { poll, streamToken, viewers } = setUp();
  const ended: string[] = [];
  viewers.takePlace('gate', null, (reason) => ended.push(`anyone ${reason}`));
  viewers.takePlace('yard', null, () => ended.push('elsewhere'));
  const { id } = poll('gate', { token: streamToken('gate') });
  viewers.endPlaces('gate', 'access_withdrawn');
  viewers.endPlaces('gate', 'access_withdrawn');
  assert.deepEqual(ended, ['anyone access_withdrawn']);
  assert.equal(poll('gate', { session: id }).username, 'eve');
});

test('one viewer that cannot be told does not spare the others', () => {
  const { viewers, logged } = setUp();
  const ended: number[] = [];
  viewers.takePlace('gate', 'eve', () => {
    throw new Error('socket is gone');
  });
  const last = viewers.takePlace('gate', 'eve', () => ended.push(3));
  viewers.takePlace('gate', 'eve', () => {
    ended.push(2);
  });
  const releases = viewers.takePlace('gate', 'eve', () => last.release());
  viewers.endForCamera('gate', 'camera_deleted');
  releases.release();
  assert.deepEqual(ended, [3, 2]);
  assert.equal(logged.length, 1);
});

test('memory is bounded: ended viewings go first, then the own oldest, never those of others', () => {
  const { viewers, clock } = setUp();
  const full = 20_000;
  const { id: first } = viewers.openViewing('gate', 'adam', 'token');
  for (let index = 0; index < full; index++) viewers.openViewing('gate', 'eve', `token-${index}`);
  assert.equal(viewers.viewingCount, full);
  assert.ok(viewers.useViewing(first, 'gate') !== null, 'adam was not pushed out by eve');
  assert.equal(viewers.resumeViewing('gate', 'token-0'), null, 'the oldest of her own was');
  assert.notEqual(viewers.resumeViewing('gate', 'token-1'), null);
  assert.throws(() => viewers.openViewing('gate', 'newcomer', 'token of a newcomer'), {
    code: 'too_many_viewings',
  });
  clock.advance(60_001);
  viewers.openViewing('gate', 'newcomer', 'token of a newcomer');
  assert.equal(viewers.viewingCount, 1);
});

test('what somebody does not see any more ends: viewings, places, and whatever shows it beside others', () => {
  const { viewers } = setUp();
  const ended: string[] = [];
  const take = (name: string, cameraId: string | null, username: string | null, shows: string[] = []): void =>
    void viewers.takePlace(cameraId, username, (reason) => ended.push(`${name} ${reason}`), { shows });
  take('live', 'yard', 'eve');
  take('of another', 'yard', 'adam');
  take('of anybody', 'yard', null);
  take('elsewhere', 'gate', 'eve');
  take('export', null, 'eve', ['gate', 'yard']);
  take('log', null, 'eve');
  const viewing = viewers.openViewing('yard', 'eve', 'a token');
  const other = viewers.openViewing('gate', 'eve', 'another token');
  viewers.endUnseen((username, cameraId) => username !== 'eve' || cameraId === 'gate');
  assert.deepEqual(ended, ['live access_withdrawn', 'export access_withdrawn']);
  assert.equal(viewers.useViewing(viewing.id, 'yard'), null);
  assert.notEqual(viewers.useViewing(other.id, 'gate'), null);
});
