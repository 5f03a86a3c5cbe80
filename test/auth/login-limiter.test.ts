import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LoginLimiter } from '../../src/auth/login-limiter.js';
import type { AppError } from '../../src/base/errors.js';
import { FakeClock } from '../support/fake-clock.js';

const setUp = (isHome: (address: string, username: string) => boolean = () => false) => {
  const clock = new FakeClock();
  const limiter = new LoginLimiter({ clock, isHome });
  const fail = (address: string, name: string, times: number): void => {
    assert.ok(times > 0);
    for (let index = 0; index < times; index++) limiter.begin(address, name).end(true);
  };
  /** Seconds to wait, or 0. */
  const waitSec = (address: string, name: string): number => {
    try {
      limiter.check(address, name);
      return 0;
    } catch (thrown) {
      const { code, details } = thrown as AppError;
      assert.equal(code, 'too_many_attempts');
      return details['retryAfterSec'] as number;
    }
  };
  return { clock, limiter, fail, waitSec };
};

test('10 failures for one name, from any addresses, block the name for a minute', () => {
  const { clock, limiter, fail, waitSec } = setUp();
  for (let index = 0; index < 9; index++) fail(`10.0.0.${index}`, 'eve', 1);
  assert.equal(waitSec('10.0.1.1', 'eve'), 0);
  fail('10.0.0.10', 'eve', 1);
  assert.equal(waitSec('10.0.1.1', 'eve'), 60);
  assert.throws(() => limiter.begin('10.0.1.1', 'eve'), { code: 'too_many_attempts' });
  assert.equal(waitSec('10.0.0.1', 'adam'), 0, 'other names from those addresses are free');
  clock.advance(59_001);
  assert.equal(waitSec('10.0.1.1', 'eve'), 1);
  clock.advance(999);
  assert.equal(waitSec('10.0.1.1', 'eve'), 0);
  fail('10.0.1.1', 'eve', 9);
  assert.equal(waitSec('10.0.1.1', 'eve'), 0, 'the count starts again');
});

test('10 failures from one address, for any names, block the address, in both its spellings', () => {
  const { fail, waitSec } = setUp();
  for (let index = 0; index < 10; index++) fail('192.0.2.7', `user-${index}`, 1);
  assert.equal(waitSec('192.0.2.7', 'other'), 60);
  assert.equal(waitSec('::ffff:192.0.2.7', 'other'), 60);
  assert.equal(waitSec('192.0.2.8', 'user-1'), 0);
  assert.equal(waitSec('2001:db8::7', 'user-1'), 0);
});

test('all addresses of an IPv6 /64 are one', () => {
  const { fail, waitSec } = setUp();
  for (let index = 0; index < 10; index++) fail(`2001:db8:1:2::${index.toString(16)}`, `user-${index}`, 1);
  assert.equal(waitSec('2001:db8:1:2:ffff::1', 'other'), 60);
  assert.equal(waitSec('2001:db8:1:3::1', 'other'), 0);
});

test('where a name is at home, its lock does not hold; that of the address does', () => {
  const isHome = (address: string, name: string): boolean => address === 'home' && name === 'eve';
  const { limiter, fail, waitSec } = setUp(isHome);
  for (let index = 0; index < 10; index++) fail(`10.0.0.${index}`, 'eve', 1);
  assert.equal(waitSec('elsewhere', 'eve'), 60);
  assert.equal(waitSec('home', 'eve'), 0);
  limiter.begin('home', 'eve').end(false);
  fail('home', 'eve', 9);
  assert.equal(waitSec('home', 'eve'), 0);
  fail('home', 'eve', 1);
  assert.equal(waitSec('home', 'eve'), 60);
});

test('wrong passwords from home count for the name, too', () => {
  const { fail, waitSec } = setUp((address) => address === 'home');
  fail('home', 'eve', 9);
  fail('elsewhere', 'eve', 1);
  assert.equal(waitSec('elsewhere', 'eve'), 60);
});

test('failures older than a minute do not count', () => {
  const { clock, fail, waitSec } = setUp();
  for (let index = 0; index < 30; index++) {
    fail('a', 'eve', 1);
    clock.advance(6_700);
  }
  assert.equal(waitSec('a', 'eve'), 0);
  clock.advance(60_000);
  fail('a', 'eve', 9);
  clock.advance(60_000);
  fail('a', 'eve', 9);
  assert.equal(waitSec('a', 'eve'), 0);
  fail('a', 'eve', 1);
  assert.equal(waitSec('a', 'eve'), 60);
});

test('success never counts, nor does it wipe out failures', () => {
  const { limiter, fail, waitSec } = setUp();
  for (let index = 0; index < 100; index++) limiter.begin('a', 'eve').end(false);
  assert.equal(waitSec('a', 'eve'), 0);
  fail('a', 'eve', 9);
  limiter.begin('a', 'eve').end(false);
  fail('a', 'eve', 1);
  assert.equal(waitSec('a', 'eve'), 60);
});

test('logins that run at the same time get no more guesses', () => {
  const { limiter, fail, waitSec } = setUp();
  fail('a', 'eve', 8);
  const [first, second] = [limiter.begin('a', 'eve'), limiter.begin('a', 'eve')];
  assert.throws(() => limiter.begin('a', 'eve'), { code: 'too_many_attempts' });
  assert.equal(waitSec('a', 'eve'), 1, 'not blocked yet: they may succeed');
  first.end(false);
  first.end(true);
  assert.equal(waitSec('a', 'eve'), 0, 'an attempt ends once');
  second.end(true);
  fail('a', 'eve', 1);
  assert.equal(waitSec('a', 'eve'), 60);
});

test('whatever the order of events, never more than 10 failures fit in a minute', () => {
  const anyStep = fc.oneof(
    fc.record({ kind: fc.constant('begin' as const), isFailure: fc.boolean() }),
    fc.record({ kind: fc.constant('end' as const), index: fc.nat(5) }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(20_000) }),
  );
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 120 }), (steps) => {
      const clock = new FakeClock();
      const limiter = new LoginLimiter({ clock, isHome: () => false });
      const running: { end: (isFailure: boolean) => void; isFailure: boolean }[] = [];
      const failuresMs: number[] = [];
      for (const step of steps) {
        if (step.kind === 'wait') clock.advance(step.ms);
        else if (step.kind === 'begin') {
          try {
            const attempt = limiter.begin('a', 'eve');
            running.push({ end: attempt.end, isFailure: step.isFailure });
          } catch {
            // Refused: what it is for.
          }
        } else {
          const [ended] = running.splice(step.index % Math.max(running.length, 1), 1);
          ended?.end(ended.isFailure);
          if (ended?.isFailure === true) failuresMs.push(clock.monotonicMs());
        }
      }
      for (const [index, atMs] of failuresMs.entries())
        assert.ok((failuresMs[index + 10] ?? Number.POSITIVE_INFINITY) - atMs >= 60_000);
    }),
    { numRuns: 300 },
  );
});

test('memory stays bounded, and those who are blocked or at it are the last to be forgotten', () => {
  const { clock, limiter, fail, waitSec } = setUp();
  const running = limiter.begin('busy', 'busy');
  for (let index = 0; index < 15_000; index++) fail(`address-${index}`, `name-${index}`.repeat(20), 1);
  fail('a', 'eve', 10);
  for (let index = 0; index < 9_000; index++) fail(`again-${index}`, `another-${index}`, 1);
  assert.ok(limiter.size <= 20_000, String(limiter.size));
  assert.equal(waitSec('b', 'eve'), 60);
  assert.equal(waitSec('address-14999', 'x'), 0);
  fail('again-0', 'x', 9);
  assert.equal(waitSec('again-0', 'x'), 60, 'what came last is not forgotten');
  running.end(false);
  clock.advance(60_000);
  for (let index = 0; index < 100; index++) limiter.begin('quiet', 'quiet').end(false);
  assert.ok(limiter.size <= 20_000);
});

test('a success leaves nothing behind', () => {
  const { limiter } = setUp();
  for (let index = 0; index < 100; index++) limiter.begin(`a-${index}`, `n-${index}`).end(false);
  assert.equal(limiter.size, 0);
});
