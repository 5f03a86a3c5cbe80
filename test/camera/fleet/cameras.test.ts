import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CameraFeed } from '../../../src/camera/fleet/followers.js';
import { RingReader } from '../../../src/ring/reader.js';
import { makeRing } from '../../support/ring.js';
import { cameraSettings, many, setUp } from './puppets.js';

test('few cameras get a worker each', () => {
  const { cameras, puppets } = setUp();
  cameras.replaceAll(many(3));
  assert.deepEqual(
    puppets.map((puppet) => puppet.camerasOpen()),
    [['camera-0'], ['camera-1'], ['camera-2']],
  );
});

test('many cameras share as many workers as there are cores, evenly', () => {
  const { cameras, puppets, clock } = setUp();
  cameras.replaceAll(many(400));
  clock.advance(5_000);
  assert.deepEqual(
    puppets.map((puppet) => puppet.camerasOpen().length),
    [200, 200],
  );
});

test('a camera moves to the packed workers when it reconnects, and takes its ring along', () => {
  const { cameras, clock, puppets, puppetOf } = setUp();
  cameras.replaceAll(many(8));
  const ring = makeRing().writer.ring;
  const before = puppetOf('camera-7');
  before.say({ type: 'ring', cameraId: 'camera-7', ring });
  before.say({ type: 'streaming', cameraId: 'camera-7', attempt: 1 });
  cameras.setAll([cameraSettings('ninth')]);
  assert.equal(puppetOf('camera-7'), before, 'a streaming camera stays where it is');
  before.say({
    type: 'ended',
    cameraId: 'camera-7',
    attempt: 1,
    fault: { code: 'stalled', message: 'no frame for 10 s' },
  });
  clock.advance(300);
  before.say({ type: 'released', cameraId: 'camera-7' });
  const after = puppetOf('camera-7');
  assert.ok(after !== before && puppets.indexOf(after) < 2);
  assert.ok(before.stopped, 'the worker it left is empty and ends');
  const open = after.told.find((message) => message.type === 'open' && message.cameraId === 'camera-7');
  assert.equal(open?.type === 'open' && open.ring, ring);
});

/** A recorded camera that has left its thread for another one, which is not told of it before the first one let go. */
const moving = () => {
  const made = setUp();
  const { cameras, clock, puppets, puppetOf } = made;
  cameras.replaceAll(many(8));
  cameras.setAll([cameraSettings('camera-7', { isRecorded: true })]);
  const before = puppetOf('camera-7');
  const { ring } = makeRing().writer;
  before.say({ type: 'ring', cameraId: 'camera-7', ring });
  cameras.setAll([cameraSettings('ninth')]);
  const fault = { code: 'stalled', message: 'no frame for 10 s' };
  before.say({ type: 'ended', cameraId: 'camera-7', attempt: 1, fault });
  clock.advance(300);
  assert.deepEqual(before.told.at(-1), { type: 'release', cameraId: 'camera-7', closeRing: false });
  const toldElsewhere = () =>
    puppets
      .filter((puppet) => puppet !== before)
      .flatMap(({ told }) =>
        told.filter((message) => 'cameraId' in message && message.cameraId === 'camera-7'),
      )
      .map(({ type }) => type);
  return { ...made, before, ring, toldElsewhere };
};

test('a camera that moves is opened and recorded in its new thread when the one before has let go of its ring', () => {
  const { before, toldElsewhere } = moving();
  assert.deepEqual(toldElsewhere(), []);
  before.say({ type: 'released', cameraId: 'camera-7' });
  assert.deepEqual(toldElsewhere(), ['open', 'record', 'connect']);
});

test('a thread that never lets go of a ring holds its camera up for 2 s', () => {
  const { clock, toldElsewhere } = moving();
  clock.advance(1_699);
  assert.deepEqual(toldElsewhere(), []);
  clock.advance(1_000);
  assert.deepEqual(toldElsewhere(), ['open', 'record', 'connect']);
});

test('settings that change while a camera moves count in its new thread', () => {
  const { cameras, before, toldElsewhere } = moving();
  cameras.setAll([cameraSettings('camera-7', { isRecorded: false })]);
  assert.deepEqual(toldElsewhere(), []);
  before.say({ type: 'released', cameraId: 'camera-7' });
  assert.deepEqual(toldElsewhere(), ['open', 'connect']);
});

test('a camera that is switched off while it moves leaves a closed ring, and no thread hears of it again', () => {
  const { cameras, before, ring, clock, toldElsewhere } = moving();
  const reader = new RingReader(ring, { start: 'next' });
  assert.equal(reader.ended, false);
  cameras.setAll([cameraSettings('camera-7', { isRecorded: true, disabled: true })]);
  assert.equal(reader.ended, true);
  before.say({ type: 'released', cameraId: 'camera-7' });
  clock.advance(5_000);
  assert.deepEqual(toldElsewhere(), []);
});

test('a camera that is switched off after its thread died leaves a closed ring', () => {
  const { cameras, puppetOf } = setUp();
  cameras.setAll([cameraSettings('door')]);
  const { ring } = makeRing().writer;
  puppetOf('door').say({ type: 'ring', cameraId: 'door', ring });
  puppetOf('door').die();
  const reader = new RingReader(ring, { start: 'next' });
  assert.equal(reader.ended, false);
  cameras.setAll([cameraSettings('door', { disabled: true })]);
  assert.equal(reader.ended, true);
});

test('a camera whose session has not ended yet never gets a second writer in another worker', () => {
  const { cameras, clock, puppetOf } = setUp();
  cameras.replaceAll(many(8));
  const before = puppetOf('camera-7');
  cameras.setAll([cameraSettings('ninth')]);
  cameras.setAll([cameraSettings('camera-7', { source: { url: 'rtsp://camera-7/2', transport: 'tcp' } })]);
  clock.advance(10);
  assert.equal(puppetOf('camera-7'), before);
  assert.equal(before.told.at(-1)?.type, 'connect');
});

test('when a worker dies its cameras go on in a fresh one, with their rings, and no other camera is touched', () => {
  const { cameras, clock, puppets, puppetOf } = setUp();
  cameras.replaceAll(many(140));
  clock.advance(2_000);
  const [dead, other] = [puppets[0]!, puppets[1]!];
  const lost = dead.camerasOpen();
  const ring = makeRing().writer.ring;
  dead.say({ type: 'ring', cameraId: lost[0]!, ring });
  const toldBefore = other.told.length;
  dead.die();
  assert.equal(cameras.get(lost[0]!)!.status().state, 'reconnecting');
  clock.advance(2_000);
  const fresh = puppetOf(lost[0]!);
  assert.equal(fresh, puppets[2]);
  assert.deepEqual(fresh.camerasOpen(), lost);
  assert.equal(other.told.length, toldBefore);
  const open = fresh.told.find((message) => message.type === 'open' && message.cameraId === lost[0]);
  assert.equal(open?.type === 'open' && open.ring, ring);
});

test('whoever follows a camera hears of its ring, of a new one, and of its end', () => {
  const { cameras, puppetOf } = setUp();
  cameras.setAll([cameraSettings('door')]);
  const seen: (CameraFeed | null)[] = [];
  const unfollow = cameras.follow('door', (feed) => seen.push(feed));
  assert.deepEqual(seen, []);
  const rings = [makeRing().writer.ring, makeRing().writer.ring];
  for (const ring of rings) puppetOf('door').say({ type: 'ring', cameraId: 'door', ring });
  const { bell } = puppetOf('door');
  assert.deepEqual(seen, [
    { ring: rings[0], bell, path: [] },
    { ring: rings[1], bell, path: [] },
  ]);
  const late: (CameraFeed | null)[] = [];
  cameras.follow('door', (feed) => late.push(feed));
  assert.deepEqual(late, [{ ring: rings[1], bell, path: [] }]);
  unfollow();
  cameras.remove('door');
  assert.equal(seen.length, 2);
  assert.equal(late.at(-1), null);
});

test('a reader that fails over news of a ring keeps no other reader from it, nor the thread from being heard', () => {
  const { cameras, puppetOf, records } = setUp();
  cameras.replaceAll([cameraSettings('door')]);
  const seen: string[] = [];
  const fail = (): never => {
    throw new Error('it is full');
  };
  cameras.follow('door', fail);
  cameras.follow('door', (feed) => seen.push(feed === null ? 'gone' : 'ring'));
  const puppet = puppetOf('door');
  puppet.say({ type: 'ring', cameraId: 'door', ring: makeRing().writer.ring });
  cameras.remove('door');
  assert.deepEqual(seen, ['ring', 'gone']);
  assert.deepEqual(
    records.filter(({ level }) => level === 'error').map(({ fields }) => fields),
    [
      { camera_id: 'door', reason: 'it is full' },
      { camera_id: 'door', reason: 'it is full' },
    ],
  );
});

test('a camera that is switched off has its ring closed; its followers hear of the new one, and of nothing between', () => {
  const { cameras, puppets, puppetOf } = setUp();
  cameras.setAll([cameraSettings('door')]);
  const seen: (CameraFeed | null)[] = [];
  cameras.follow('door', (feed) => seen.push(feed));
  const rings = [makeRing().writer.ring, makeRing().writer.ring];
  puppetOf('door').say({ type: 'ring', cameraId: 'door', ring: rings[0]! });
  cameras.setAll([cameraSettings('door', { disabled: true })]);
  const released = puppets[0]!.told.at(-1);
  assert.deepEqual(released, { type: 'release', cameraId: 'door', closeRing: true });
  assert.equal(cameras.ring('door'), null);
  cameras.setAll([cameraSettings('door')]);
  puppetOf('door').say({ type: 'ring', cameraId: 'door', ring: rings[1]! });
  assert.deepEqual(
    seen.map((feed) => feed?.ring),
    rings,
  );
});

test('frames that a recorder lost count though the camera has left its worker', () => {
  const { cameras, puppets, office } = setUp();
  cameras.setAll([cameraSettings('door', { isRecorded: true })]);
  const [puppet] = puppets;
  puppet!.say({ type: 'unrecorded', cameraId: 'door', frames: 3 });
  cameras.setAll([cameraSettings('door', { isRecorded: true, disabled: true })]);
  puppet!.say({ type: 'unrecorded', cameraId: 'door', frames: 4 });
  puppet!.say({ type: 'recording_file', cameraId: 'door', fileName: 'a', state: 'left', progress: null });
  cameras.remove('door');
  puppet!.say({ type: 'unrecorded', cameraId: 'door', frames: 5 });
  assert.deepEqual(office.lost, [3, 4]);
  assert.deepEqual(office.files, [['camera-worker-1', 'door', 'a', 'left', null]]);
});

test('a removed camera leaves nothing behind', () => {
  const { cameras, clock, puppets } = setUp();
  cameras.setAll([cameraSettings('door')]);
  cameras.remove('door');
  assert.deepEqual(
    puppets[0]!.told.map((message) => message.type),
    ['open', 'connect', 'disconnect', 'release'],
  );
  assert.ok(puppets[0]!.stopped);
  assert.equal(cameras.ring('door'), null);
  assert.equal(cameras.get('door'), undefined);
  clock.advance(60_000);
  assert.equal(puppets.length, 1);
});

test('replacing the whole set touches only what changed', () => {
  const { cameras, puppets, puppetOf } = setUp();
  cameras.replaceAll([cameraSettings('same'), cameraSettings('moved'), cameraSettings('gone')]);
  const same = puppetOf('same');
  const toldBefore = same.told.length;
  const source = { url: 'rtsp://moved/2', transport: 'tcp' } as const;
  cameras.replaceAll([cameraSettings('same'), cameraSettings('moved', { source }), cameraSettings('new')]);
  assert.equal(same.told.length, toldBefore);
  assert.equal(puppetOf('moved').attemptOf('moved') > 1, true);
  assert.deepEqual([...cameras.ids].sort(), ['moved', 'new', 'same']);
  assert.equal(puppets.filter((puppet) => !puppet.stopped).length, 3);
});

/** One camera beside another in a thread, switched off and on again `times`. */
const flicked = (times: number) => {
  const made = setUp();
  const { cameras } = made;
  cameras.replaceAll([cameraSettings('door')]);
  for (let i = 0; i < times; i++) {
    cameras.setAll([cameraSettings('door', { disabled: true })]);
    cameras.setAll([cameraSettings('door')]);
  }
  const connects = () =>
    made.puppets.flatMap(({ told }) => told.filter(({ type }) => type === 'connect')).length;
  return { ...made, connects };
};

test('a camera that comes back waits until its last session is through, wherever it was', () => {
  for (const times of [1, 2, 3]) {
    const { puppets, connects } = flicked(times);
    assert.equal(connects(), 1);
    // The threads that it only passed through have nothing to end.
    for (const puppet of puppets.slice(1, times)) puppet.say({ type: 'released', cameraId: 'door' });
    assert.equal(connects(), 1);
    puppets[0]!.say({ type: 'released', cameraId: 'door' });
    assert.equal(connects(), 2);
    assert.equal(puppets.at(-1)!.sessions().length, 1);
  }
});

test('a thread that never tells of the end holds a camera up for 2 s', () => {
  const { clock, connects } = flicked(1);
  clock.advance(1_999);
  assert.equal(connects(), 1);
  clock.advance(1);
  assert.equal(connects(), 2);
});

test('a camera that is switched off while it waits is not connected', () => {
  const { cameras, puppets, clock, connects } = flicked(1);
  cameras.setAll([cameraSettings('door', { disabled: true })]);
  for (const puppet of puppets) puppet.say({ type: 'released', cameraId: 'door' });
  clock.advance(5_000);
  assert.equal(connects(), 1);
  const moved = flicked(1);
  const source = { url: 'rtsp://door/2', transport: 'tcp' } as const;
  moved.cameras.setAll([cameraSettings('door', { source })]);
  moved.puppets[0]!.say({ type: 'released', cameraId: 'door' });
  const told = moved.puppets.at(-1)!.told.filter((message) => message.type === 'connect');
  assert.deepEqual(
    told.map((message) => message.source),
    [source],
  );
});

test('a disabled camera has no worker and no ring', () => {
  const { cameras, puppets } = setUp();
  cameras.setAll([cameraSettings('door', { disabled: true })]);
  assert.equal(puppets.length, 0);
  cameras.setAll([cameraSettings('door')]);
  assert.equal(puppets.length, 1);
  cameras.setAll([cameraSettings('door', { disabled: true })]);
  assert.ok(puppets[0]!.stopped);
  assert.equal(cameras.get('door')!.status().state, 'disabled');
});

test('stopping ends every worker and every retry', async () => {
  const { cameras, clock, puppets } = setUp();
  cameras.replaceAll(many(5));
  puppets[0]!.say({
    type: 'ended',
    cameraId: 'camera-0',
    attempt: 1,
    fault: { code: 'timeout', message: 'no answer' },
  });
  await cameras.stop();
  assert.ok(puppets.every((puppet) => puppet.stopped));
  const told = puppets.map((puppet) => puppet.told.length);
  clock.advance(60_000);
  assert.deepEqual(
    puppets.map((puppet) => puppet.told.length),
    told,
  );
  assert.equal(cameras.workerCount, 0);
});

test('watched cameras come to live together, and others apart from them, as they reconnect', () => {
  const { cameras, puppets, puppetOf, pass } = setUp();
  cameras.replaceAll(many(200));
  pass(5);
  const fault = { code: 'stalled', message: 'no frame for 10 s' };
  const reconnect = (cameraId: string): void => {
    const puppet = puppetOf(cameraId);
    puppet.say({ type: 'ended', cameraId, attempt: puppet.attemptOf(cameraId), fault });
    pass(3);
  };
  const watch = (cameraId: string): void => {
    const { ring } = makeRing().writer;
    puppetOf(cameraId).say({ type: 'ring', cameraId, ring });
    new RingReader(ring, { start: 'next' }).subscribe();
  };
  const [first, second] = [puppets[0]!, puppets[1]!];
  const [inFirst, other] = first.camerasOpen();
  const [inSecond] = second.camerasOpen();
  for (const id of [inFirst!, inSecond!]) watch(id);
  pass(1);
  reconnect(inSecond!);
  assert.equal(puppetOf(inSecond!), first);
  reconnect(other!);
  assert.equal(puppetOf(other!), second);
  reconnect(inFirst!);
  assert.equal(puppetOf(inFirst!), first);
});
