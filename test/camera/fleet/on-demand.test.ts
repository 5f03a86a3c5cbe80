import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CameraFeed } from '../../../src/camera/fleet/followers.js';
import { sourceKey } from '../../../src/ring/source-key.js';
import { makeRing } from '../../support/ring.js';
import { cameraSettings, setUp } from './puppets.js';

const sub = sourceKey('door', 'sub');
const onDemand = (id: string, changes = {}) => cameraSettings(id, { isOnDemand: true, ...changes });
const noop = (): void => {};

/** A camera with a sub-stream, both fed by puppets. */
const withSub = () => {
  const made = setUp();
  const { cameras, puppets, puppetOf } = made;
  cameras.replaceAll([cameraSettings('door'), onDemand(sub)]);
  const stateOf = (key: string) => cameras.get(key)?.status().state;
  /** Its thread has a ring for it, and frames flow. */
  const stream = (key: string): SharedArrayBuffer => {
    const { ring } = makeRing().writer;
    for (const other of puppets) other.say({ type: 'released', cameraId: key });
    const puppet = puppetOf(key);
    puppet.say({ type: 'ring', cameraId: key, ring });
    puppet.say({ type: 'streaming', cameraId: key, attempt: puppet.attemptOf(key) });
    return ring;
  };
  return { ...made, stateOf, stream };
};

test('what is on demand rests until somebody follows it, and 30 s after the last one has left', () => {
  const { cameras, clock, pass, puppets, stateOf, stream } = withSub();
  assert.deepEqual([stateOf('door'), stateOf(sub)], ['connecting', 'standby']);
  assert.equal(puppets.length, 1, 'no thread for it');
  const leave = [cameras.follow(sub, noop), cameras.follow(sub, () => {})];
  assert.equal(stateOf(sub), 'connecting');
  assert.deepEqual(puppets[1]!.sessions(), [sub]);
  stream(sub);
  assert.equal(stateOf(sub), 'streaming');
  leave[0]!();
  pass(60);
  leave[1]!();
  leave[1]!();
  pass(29);
  clock.advance(999);
  assert.equal(stateOf(sub), 'streaming');
  clock.advance(1);
  assert.deepEqual([stateOf(sub), cameras.get(sub)?.status().lastError], ['standby', '']);
  assert.deepEqual(puppets[1]!.told.at(-1), { type: 'release', cameraId: sub, closeRing: true });
  assert.ok(puppets[1]!.stopped && !puppets[0]!.stopped);
  assert.equal(cameras.ring(sub), null);
  assert.deepEqual(puppets[0]!.sessions(), ['door'], 'the other stream was not touched');
});

test('who comes back within 30 s finds the session that was there', () => {
  const { cameras, pass, puppets, puppetOf, stateOf, stream } = withSub();
  const first = cameras.follow(sub, noop);
  stream(sub);
  const attempt = puppetOf(sub).attemptOf(sub);
  first();
  pass(20);
  const second = cameras.follow(sub, noop);
  pass(60);
  assert.equal(stateOf(sub), 'streaming');
  assert.deepEqual([puppets.length, puppetOf(sub).attemptOf(sub)], [2, attempt]);
  second();
  pass(30);
  assert.equal(stateOf(sub), 'standby');
});

test('what is switched off or over its limit rests whoever follows it, and is wanted still when it is back', () => {
  const { cameras, stateOf } = withSub();
  cameras.follow(sub, noop);
  cameras.setAll([onDemand(sub, { disabled: true })]);
  assert.equal(stateOf(sub), 'disabled');
  cameras.setAll([onDemand(sub, { isTrafficLimited: true })]);
  assert.equal(stateOf(sub), 'traffic_limited');
  cameras.setAll([onDemand(sub)]);
  assert.equal(stateOf(sub), 'connecting');
});

test('recording wants a camera on demand for as long as it lasts', () => {
  const { cameras, puppetOf, stateOf } = withSub();
  cameras.setAll([onDemand('gate')]);
  assert.equal(stateOf('gate'), 'standby');
  cameras.setAll([onDemand('gate', { isRecorded: true })]);
  assert.equal(stateOf('gate'), 'connecting');
  assert.ok(puppetOf('gate').told.some(({ type }) => type === 'record'));
  assert.equal(cameras.isOnDemand('gate'), false, 'its frames are there, or it is away');
  cameras.setAll([onDemand('gate')]);
  assert.equal(stateOf('gate'), 'standby');
  assert.equal(cameras.isOnDemand('gate'), true);
  cameras.setAll([cameraSettings('gate')]);
  assert.equal(stateOf('gate'), 'connecting');
});

test('a camera that refuses is asked as slowly as ever while people come and go within the 30 s', () => {
  const { cameras, pass, puppets, puppetOf } = withSub();
  let leave = cameras.follow(sub, noop);
  const fault = { code: 'unauthorized', message: 'wrong user name or password' };
  for (let round = 0; round < 12; round += 1) {
    const puppet = puppetOf(sub);
    puppet.say({ type: 'ended', cameraId: sub, attempt: puppet.attemptOf(sub), fault });
    leave();
    pass(10);
    leave = cameras.follow(sub, noop);
  }
  const connects = puppets.flatMap(({ told }) => told).filter(({ type }) => type === 'connect');
  assert.ok(connects.length < 8, `${connects.length} connects in two minutes`);
});

test('another address of one stream restarts that one alone', () => {
  const { cameras, clock, puppetOf, stream } = withSub();
  cameras.follow(sub, noop);
  stream('door');
  stream(sub);
  const attempts = () => ['door', sub].map((key) => puppetOf(key).attemptOf(key));
  const [mainAttempt, subAttempt] = attempts();
  cameras.setAll([onDemand(sub, { source: { url: 'rtsp://door/3', transport: 'tcp' } })]);
  clock.advance(100);
  const [sameAttempt, nextAttempt] = attempts();
  assert.equal(sameAttempt, mainAttempt);
  assert.ok(nextAttempt! > subAttempt!);
  cameras.setAll([cameraSettings('door', { source: { url: 'rtsp://door/4', transport: 'tcp' } })]);
  clock.advance(100);
  assert.ok(attempts()[0]! > mainAttempt!);
  assert.equal(attempts()[1], nextAttempt);
});

test('without a sub-stream its key means the main stream, for whoever follows it already too', () => {
  const { cameras, clock, puppetOf, stateOf, stream } = withSub();
  const seen: (SharedArrayBuffer | undefined)[] = [];
  const unfollow = cameras.follow(sub, (feed: CameraFeed | null) => seen.push(feed?.ring));
  const [mainRing, subRing] = [stream('door'), stream(sub)];
  cameras.setAll([onDemand('door')]);
  assert.equal(stateOf('door'), 'standby', 'who follows the sub-stream does not want the main one');
  cameras.setAll([cameraSettings('door')]);
  const nextMainRing = stream('door');
  cameras.remove(sub);
  assert.deepEqual(seen, [subRing, nextMainRing]);
  assert.notEqual(mainRing, nextMainRing);
  cameras.setAll([onDemand('door')]);
  assert.equal(stateOf('door'), 'streaming', 'now it does');
  assert.equal(cameras.isOnDemand(sub), true);
  cameras.setAll([onDemand(sub)]);
  assert.deepEqual([stateOf('door'), stateOf(sub)], ['standby', 'connecting']);
  const anotherRing = stream(sub);
  assert.deepEqual(seen.slice(2), [anotherRing]);
  unfollow();
  clock.advance(30_000);
  assert.deepEqual([stateOf('door'), stateOf(sub)], ['standby', 'standby']);
  assert.equal(puppetOf('door'), undefined);
});

test('whoever follows either stream of a camera hears that it is gone, and nothing is left of the wish', () => {
  const { cameras, clock, stateOf } = withSub();
  const seen: string[] = [];
  cameras.follow('door', (feed) => seen.push(`main ${feed}`));
  cameras.follow(sub, (feed) => seen.push(`sub ${feed}`));
  cameras.remove('door');
  cameras.remove(sub);
  assert.deepEqual(seen, ['main null', 'sub null']);
  cameras.follow(sub, (feed) => seen.push(`late ${feed}`));
  assert.equal(seen.at(-1), 'late null');
  cameras.replaceAll([onDemand('door'), onDemand(sub)]);
  clock.advance(1);
  assert.deepEqual([stateOf('door'), stateOf(sub)], ['standby', 'standby']);
});

test('a session that the last viewer left behind is over before the next one begins', () => {
  const { cameras, pass, puppets, stateOf, stream } = withSub();
  cameras.follow(sub, noop)();
  stream(sub);
  pass(30);
  cameras.follow(sub, noop);
  assert.equal(stateOf(sub), 'connecting');
  const connects = () => puppets.flatMap((puppet) => puppet.sessions()).filter((key) => key === sub).length;
  assert.equal(connects(), 0, 'the thread that it left has not told of its end');
  puppets[1]!.say({ type: 'released', cameraId: sub });
  assert.equal(connects(), 1);
});
