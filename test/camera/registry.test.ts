import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allCameras } from '../../src/camera/owners.js';
import { FakeClock } from '../support/fake-clock.js';
import { secondOf, setUp, stored } from './registry-rig.js';

test('live figures come from the ring: rates over 5 s, facts of the stream, traffic', async (t) => {
  const { clock, registry, stream, lose } = setUp(t);
  await registry.create(stored('a'));
  assert.equal(registry.get('a', true).state, 'connecting');
  const ring = stream('a');
  for (let seconds = 0; seconds < 8; seconds++) secondOf(ring, clock);
  const camera = registry.get('a', true);
  assert.deepEqual(
    { ...camera, url: '' },
    {
      ...stored('a', { url: '' }),
      state: 'streaming',
      fps: 25,
      bitrate: 200,
      codec: 'h264',
      resolution: '1920x1080',
      width: 1920,
      height: 1080,
      uptime_sec: 8,
      traffic_used_mb: 0.208,
      last_error: '',
      audio_codec: 'aac',
      viewers: 15,
      recording: true,
      record_error: '',
      dropped_frames: 5,
      quirks_active: [],
      detect_error: '',
      ptz: false,
      owner: 'box',
      sub: null,
    },
  );
  clock.advance(5_000);
  assert.deepEqual(
    [registry.get('a', true).fps, registry.get('a', true).bitrate],
    [0, 0],
    'no frame for 5 s',
  );
  lose('a');
  clock.advance(100);
  const lost = registry.get('a', true);
  assert.deepEqual(
    [lost.state, lost.last_error, lost.uptime_sec, lost.codec],
    ['reconnecting', 'went away', 0, 'h264'],
  );
});

test('rates are right two seconds after a stream begins, and say nothing of the outage before', async (t) => {
  const { clock, registry, stream, lose } = setUp(t);
  await registry.create(stored('a'));
  const ring = stream('a');
  for (let seconds = 0; seconds < 3; seconds++) secondOf(ring, clock);
  lose('a');
  clock.advance(20_000);
  const back = stream('a');
  secondOf(back, clock);
  secondOf(back, clock);
  assert.equal(registry.get('a', true).fps, 25);
});

test('quirks in force: those that were set, and those that the session turned out to need', async (t) => {
  const { clock, registry, stream, lose, told, say, attemptOf } = setUp(t);
  await registry.create(stored('a', { quirks: { keepalive: 'options', certificate: 'any' } }));
  const active = (): readonly string[] => registry.get('a', true).quirks_active;
  const connect = told.findLast((message) => message.type === 'connect');
  assert.deepEqual(connect?.source.quirks, { keepalive: 'options', certificate: 'any' });
  assert.deepEqual(active(), ['keepalive']);
  stream('a');
  const names = ['silent_udp', 'keepalive', 'certificate'] as const;
  say({ type: 'quirks', cameraId: 'a', attempt: attemptOf('a'), names });
  assert.deepEqual(active(), ['certificate', 'keepalive', 'silent_udp']);
  say({ type: 'quirks', cameraId: 'a', attempt: attemptOf('a') - 1, names: ['teardown'] });
  assert.deepEqual(active(), ['certificate', 'keepalive', 'silent_udp'], 'an older session tells nothing');
  lose('a');
  assert.deepEqual(active(), ['keepalive']);
  clock.advance(5_000);
  assert.deepEqual(active(), ['keepalive']);
});

test('a camera over its traffic limit rests until the cap is raised or the month ends', async (t) => {
  const { clock, registry, cameras, stream, told } = setUp(t, new FakeClock(Date.UTC(2026, 10, 30, 23, 50)));
  await registry.create(stored('a', { traffic_limit: 1 }));
  secondOf(stream('a'), clock, 999_999);
  assert.equal(registry.get('a', true).state, 'streaming');
  await registry.update('a', { comment: 'still below' });
  assert.equal(registry.get('a', true).state, 'streaming');
  secondOf(stream('a'), clock, 1_000_000);
  assert.equal(registry.get('a', true).state, 'traffic_limited');
  assert.ok(told.some((message) => message.type === 'release' && message.closeRing));
  clock.advance(60_000);
  assert.equal(cameras.workerCount, 0, 'nothing runs for it');
  await registry.update('a', { traffic_limit: 100 });
  assert.equal(registry.get('a', true).state, 'connecting');
  await registry.update('a', { traffic_limit: 1 });
  assert.equal(registry.get('a', true).state, 'traffic_limited');
  await registry.update('a', { disabled: true });
  assert.equal(registry.get('a', true).state, 'disabled');
  await registry.update('a', { disabled: false });
  assert.equal(registry.get('a', true).state, 'traffic_limited');
  clock.advance(10 * 60_000);
  assert.deepEqual(
    [registry.get('a', true).state, registry.get('a', true).traffic_used_mb],
    ['connecting', 0],
    'it is December',
  );
});

test('traffic counts survive a restart, at most ten seconds late even after a crash', async (t) => {
  const first = setUp(t);
  await first.registry.create(stored('a', { traffic_limit: 2 }));
  secondOf(first.stream('a'), first.clock, 1_500_000);
  first.clock.advance(10_000);
  const afterCrash = setUp(t, new FakeClock(), first.path);
  assert.equal(afterCrash.registry.get('a', true).traffic_used_mb, 1.5);
  secondOf(afterCrash.stream('a'), afterCrash.clock, 700_000);
  afterCrash.registry.stop();
  const afterStop = setUp(t, new FakeClock(), first.path);
  assert.deepEqual(afterStop.registry.get('a', true).traffic_used_mb, 2.2);
  assert.equal(afterStop.registry.get('a', true).state, 'traffic_limited');
  assert.deepEqual(afterStop.told, [], 'it is never asked to connect');
});

test('a camera that is switched off is billed to its last byte, and its ring is let go', async (t) => {
  const { clock, registry, stream } = setUp(t);
  await registry.create(stored('a'));
  const ring = stream('a');
  secondOf(ring, clock, 1_000_000);
  ring.writer.add('receivedBytes', 200_000);
  await registry.update('a', { disabled: true });
  // What comes until its TEARDOWN is through.
  ring.writer.add('receivedBytes', 30_000);
  clock.advance(1_000);
  ring.writer.add('receivedBytes', 4_000);
  clock.advance(10_000);
  assert.equal(registry.get('a', true).traffic_used_mb, 1.234);
  ring.writer.add('receivedBytes', 1_000_000);
  clock.advance(10_000);
  assert.equal(registry.get('a', true).traffic_used_mb, 1.234, 'nobody looks at it any more');
});

test('a camera that is switched off and on within a second is billed for both', async (t) => {
  const { clock, registry, stream } = setUp(t);
  await registry.create(stored('a'));
  const ring = stream('a');
  secondOf(ring, clock, 1_000_000);
  ring.writer.add('receivedBytes', 200_000);
  await registry.update('a', { disabled: true });
  await registry.update('a', { disabled: false });
  secondOf(stream('a'), clock, 500_000);
  assert.equal(registry.get('a', true).traffic_used_mb, 1.7);
});

test('a ring made anew counts from nothing, a larger one goes on', async (t) => {
  const { clock, registry, stream } = setUp(t);
  await registry.create(stored('a'));
  secondOf(stream('a'), clock, 1_000_000);
  secondOf(stream('a'), clock, 400_000);
  assert.equal(registry.get('a', true).traffic_used_mb, 1.4);
});

test('bytes are billed once, whoever takes the ring over: after crashes, a move, and a start of the service', async (t) => {
  const first = setUp(t);
  const { clock, registry, threads, stream, die } = first;
  await registry.create(stored('a', { traffic_limit: 3 }));
  threads.startMs = 1_500;
  let ring = stream('a');
  secondOf(ring, clock, 1_000_000);
  for (let crash = 0; crash < 3; crash++) {
    die();
    clock.advance(4_000);
    ring = stream('a', ring.writer.ring);
    secondOf(ring, clock, 100_000);
    clock.advance(6 * 60_000);
  }
  const { traffic_used_mb, state, codec } = registry.get('a', true);
  assert.deepEqual([traffic_used_mb, state, codec], [1.3, 'streaming', 'h264']);
  registry.stop();
  const again = setUp(t, new FakeClock(), first.path);
  secondOf(again.stream('a'), again.clock, 200_000);
  assert.equal(again.registry.get('a', true).traffic_used_mb, 1.5);
});

test('what a camera is stays known while its thread starts anew, and so does what came in before the crash', async (t) => {
  const { clock, registry, threads, stream, die } = setUp(t);
  await registry.create(stored('a'));
  const ring = stream('a');
  secondOf(ring, clock, 1_000_000);
  threads.startMs = 60_000;
  ring.writer.add('receivedBytes', 50_000);
  die();
  clock.advance(5_000);
  const { traffic_used_mb, resolution, fps } = registry.get('a', true);
  assert.deepEqual([traffic_used_mb, resolution, fps], [1.05, '1920x1080', 0]);
  const [figures] = registry.figures();
  assert.ok(figures!.ringBytes > 0 && figures!.counters !== null, 'its memory is still taken');
});

test('an import restarts only cameras whose source is another, and ends what viewers lost', async (t) => {
  const { registry, store, attemptOf, told, events } = setUp(t);
  for (const id of ['same', 'moved', 'gone', 'locked', 'off']) await registry.create(stored(id));
  const before = new Map(['same', 'locked'].map((id) => [id, attemptOf(id)]));
  told.length = 0;
  store.cameras.replaceAll([
    stored('locked', { token_auth: true }),
    stored('moved', { url: 'rtsp://elsewhere/1' }),
    stored('new'),
    stored('off', { disabled: true }),
    stored('same', { comment: 'another' }),
  ]);
  registry.reload();
  assert.deepEqual(
    registry.list(true).map(({ id, state }) => [id, state]),
    [
      ['locked', 'connecting'],
      ['moved', 'connecting'],
      ['new', 'connecting'],
      ['off', 'disabled'],
      ['same', 'connecting'],
    ],
  );
  const touched = new Set(told.flatMap((message) => ('cameraId' in message ? [message.cameraId] : [])));
  assert.deepEqual([...touched].sort(), ['gone', 'moved', 'new', 'off']);
  assert.deepEqual(events.splice(0).sort(), ['disabled off', 'locked locked', 'removed gone']);
  for (const disabled of [true, false, true]) await registry.update('off', { disabled });
  assert.deepEqual(events, ['disabled off'], 'told of the change alone');
  for (const [id, attempt] of before) assert.ok(attempt > 0, id);
});

test('some cameras that were changed past the registry are taken over, and no others are looked at', async (t) => {
  const { registry, cameras, store, told, events } = setUp(t);
  for (const id of ['a', 'gone', 'moved', 'same'])
    await registry.create(stored(id, { sub_url: 'rtsp://sub/1' }));
  told.length = 0;
  store.cameras.replaceAll([
    stored('a', { comment: 'not told of' }),
    stored('between'),
    stored('moved', { url: 'rtsp://elsewhere/1', token_auth: true }),
    stored('same', { comment: 'another', sub_url: 'rtsp://sub/1' }),
  ]);
  registry.reloadSome(['moved', 'gone', 'same', 'between', 'never']);
  assert.deepEqual(
    registry.list(true).map(({ id, comment }) => [id, comment]),
    [
      ['a', ''],
      ['between', ''],
      ['moved', ''],
      ['same', 'another'],
    ],
  );
  const touched = new Set(told.flatMap((message) => ('cameraId' in message ? [message.cameraId] : [])));
  assert.deepEqual([...touched].sort(), ['between', 'gone', 'moved']);
  for (const key of ['gone', 'gone/sub', 'moved/sub']) assert.equal(cameras.get(key), undefined, key);
  assert.deepEqual(events, ['locked moved', 'removed gone']);
  registry.reloadSome(Array.from({ length: 20 }, (_, index) => `none-${index}`));
  assert.equal(registry.get('a', true).comment, 'not told of', 'where they are many, all are looked at');
});

test('of a camera that another box has it is said why its pictures are not to be had here', async (t) => {
  const relay = { box: 'b', host: '10.0.0.2', port: 7440 };
  const where = { relay: null as typeof relay | null, box: null as string | null };
  const owners = {
    ...allCameras('box'),
    has: () => false,
    boxOf: () => where.box,
    relayOf: () => where.relay,
    figuresOf: () => (where.box === null ? null : ['streaming']),
  };
  const { registry, say, attemptOf, cameras } = setUp(t, undefined, undefined, owners);
  await registry.create(stored('door'));
  const shown = () => {
    const { state, last_error } = registry.get('door', true);
    return { state, last_error, why: registry.whyUnseen('door') };
  };
  assert.match(shown().why ?? '', /no box has the camera/);
  where.box = 'b';
  assert.match(shown().why ?? '', /box b has the camera.*BOX_ADDRESS/);
  assert.deepEqual(shown(), { state: 'streaming', last_error: shown().why, why: shown().why });
  where.relay = relay;
  registry.reload();
  assert.deepEqual(shown(), { state: 'streaming', last_error: '', why: null });
  const unfollow = cameras.follow('door', () => {});
  const fault = { code: 'relay_unreachable', message: "b at 10.0.0.2:7440 can't be reached: ECONNREFUSED" };
  say({ type: 'ended', cameraId: 'door', attempt: attemptOf('door'), fault });
  assert.deepEqual(shown(), { state: 'streaming', last_error: fault.message, why: null });
  unfollow();
});

test('a camera that ended threads elsewhere gets one of its own when it is this box that has it', async (t) => {
  const relay = { box: 'b', host: '10.0.0.2', port: 7440 };
  const where = { isHere: false };
  const owners = {
    ...allCameras('box'),
    has: (id: string) => where.isHere || id !== 'door',
    boxOf: () => 'b',
    relayOf: () => (where.isHere ? null : relay),
    endsThreads: (id: string) => id === 'door',
  };
  const { registry, cameras } = setUp(t, undefined, undefined, owners);
  await registry.create(stored('door'));
  const unfollow = cameras.follow('door', () => {});
  assert.equal(cameras.get('door')!.settings.endsThreads, undefined, 'that box has read it');
  where.isHere = true;
  owners.changed.emit(['door']);
  assert.equal(cameras.get('door')!.settings.endsThreads, true);
  unfollow();
});

test('the revision changes with whatever a view shows, and with nothing else', async (t) => {
  const { clock, registry, stream } = setUp(t);
  await registry.create(stored('a'));
  const changes = async (act: () => unknown): Promise<boolean> => {
    const { revision } = registry;
    await act();
    return registry.revision !== revision;
  };
  assert.equal(await changes(() => registry.list(true)), false);
  assert.equal(await changes(() => registry.update('a', { comment: 'x' })), true);
  assert.equal(await changes(() => stream('a')), true);
  assert.equal(await changes(() => clock.advance(1_000)), true);
  assert.equal(await changes(() => registry.remove('a', { isPurged: false })), true);
  assert.throws(() => registry.get('a', true), { code: 'not_found' });
});

test('a camera that comes from another box brings its count along, of this month alone', async (t) => {
  let ownedHere = false;
  let told: readonly unknown[] = [];
  const owners = { ...allCameras('box'), has: () => ownedHere, boxOf: () => 'other', figuresOf: () => told };
  const elsewhere = setUp(t);
  await elsewhere.registry.create(stored('a'));
  secondOf(elsewhere.stream('a'), elsewhere.clock, 1_500_000);
  const { registry, clock, stream, path } = setUp(t, undefined, undefined, owners);
  await registry.create(stored('a', { traffic_limit: 2 }));
  told = elsewhere.registry.told('a');
  const inLastMonth = told.map((value) => (value === '2026-11' ? '2026-10' : value));
  assert.notDeepEqual(inLastMonth, told);
  clock.advance(10_000);
  told = inLastMonth.map((value) => (value === 1.5 ? 90 : value));
  clock.advance(10_000);
  ownedHere = true;
  owners.changed.emit(['a']);
  assert.equal(registry.get('a', true).traffic_used_mb, 1.5);
  const ring = stream('a');
  secondOf(ring, clock, 400_000);
  assert.equal(registry.get('a', true).traffic_used_mb, 1.9);
  secondOf(ring, clock, 200_000);
  assert.equal(registry.get('a', true).state, 'traffic_limited');
  registry.stop();
  const again = setUp(t, undefined, path);
  assert.equal(again.registry.get('a', true).traffic_used_mb, 2.1, 'it is written down as a whole');
});
