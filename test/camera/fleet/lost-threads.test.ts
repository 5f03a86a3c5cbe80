import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cameraSettings, many, setUp } from './puppets.js';

test('a camera that ends its thread again and again is found among 128 and held off; the others stream on, and together', () => {
  const { cameras, running, pass, records } = setUp();
  const killer = 'camera-77';
  cameras.replaceAll(many(128));
  let mostThreads = 0;
  let deaths = 0;
  const kill = (): void => {
    mostThreads = Math.max(mostThreads, running().length);
    for (const puppet of running()) {
      if (!puppet.sessions().includes(killer)) continue;
      deaths += 1;
      puppet.die();
    }
  };
  pass(40, kill);
  const { state, lastError } = cameras.get(killer)!.status();
  assert.equal(state, 'error');
  assert.match(
    lastError,
    /^this camera ended the thread that it had for itself; it is tried again in \d+ s$/,
  );
  assert.ok(deaths <= 9, `${deaths} deaths`);
  const foundOut = many(128).filter(({ id }) => cameras.suspicionOf(id) === 'found_out');
  assert.deepEqual(
    foundOut.map(({ id }) => id),
    [killer],
  );
  assert.ok(mostThreads <= 9, `${mostThreads} threads`);
  const connected = (): number => running().reduce((sum, puppet) => sum + puppet.sessions().length, 0);
  assert.equal(connected(), 127, 'nobody else is kept from its thread');
  pass(20 * 60, kill);
  assert.equal(connected(), 127);
  assert.ok(deaths < 9 + 6, `${deaths} deaths`);
  assert.ok(running().length <= 2, 'the others have gone back to one thread');
  assert.ok(
    records.some(({ message, fields }) => message === 'camera is held off' && fields['camera_id'] === killer),
  );
});

test('a camera that ended threads elsewhere shares none here, and is found out with its first', () => {
  const { cameras, puppetOf, pass } = setUp();
  cameras.replaceAll(many(20));
  cameras.setAll([
    cameraSettings('camera-7', { source: { url: 'rtsp://camera-7/2', transport: 'tcp' }, endsThreads: true }),
  ]);
  cameras.setAll([cameraSettings('new', { endsThreads: true })]);
  pass(3);
  for (const id of ['camera-7', 'new']) {
    assert.deepEqual(puppetOf(id).camerasOpen(), [id]);
  }
  puppetOf('new').die();
  pass(3);
  assert.equal(cameras.get('new')!.status().state, 'error');
  assert.match(cameras.get('new')!.status().lastError, /ended the thread/);
  pass(61 * 60);
  cameras.setAll([
    cameraSettings('camera-7', { source: { url: 'rtsp://camera-7/2', transport: 'tcp' }, endsThreads: true }),
  ]);
  pass(10);
  assert.ok(puppetOf('camera-7').camerasOpen().length > 1);
});

test('a camera of which it is told later that it ends threads stays as it is, and connects apart from then on', () => {
  const { cameras, puppetOf, pass } = setUp();
  cameras.replaceAll(many(20));
  pass(3);
  cameras.setAll([cameraSettings('camera-7', { endsThreads: true })]);
  pass(3);
  const puppet = puppetOf('camera-7');
  assert.ok(puppet.sessions().includes('camera-0'), 'it is not interrupted');
  const fault = { code: 'closed_by_camera', message: 'it went' };
  puppet.say({ type: 'ended', cameraId: 'camera-7', attempt: puppet.attemptOf('camera-7'), fault });
  pass(5);
  assert.deepEqual(puppetOf('camera-7').camerasOpen(), ['camera-7']);
});

test('a camera that ends threads is one after it rested, too, and shows that it rests', () => {
  const { cameras, puppetOf, pass } = setUp();
  cameras.replaceAll(many(20));
  const relayed = { url: '', transport: 'tcp', from: { box: 'b', host: '10.0.0.2', port: 7440 } } as const;
  cameras.setAll([cameraSettings('new', { isOnDemand: true, source: relayed })]);
  cameras.setAll([cameraSettings('new', { isOnDemand: true, endsThreads: true })]);
  assert.equal(cameras.get('new')!.status().state, 'standby');
  for (let time = 0; time < 2; time += 1) {
    const unfollow = cameras.follow('new', () => {});
    pass(2);
    assert.deepEqual(puppetOf('new').camerasOpen(), ['new']);
    unfollow();
    pass(60);
    assert.equal(cameras.get('new')!.status().state, 'standby');
  }
  pass(60 * 60);
  cameras.follow('new', () => {});
  pass(2);
  assert.ok(puppetOf('new').camerasOpen().length > 1, 'an hour later it is as any other');
});

test('cameras that are found out again while that is told of them take no place of those that are sought', () => {
  const { cameras, running, pass } = setUp();
  const killers = many(9).map(({ id }) => id);
  cameras.replaceAll(many(20).map(({ id }) => cameraSettings(id, { endsThreads: killers.includes(id) })));
  pass(62 * 60);
  const areFound = (): boolean => killers.every((id) => cameras.suspicionOf(id) === 'found_out');
  let isOver = false;
  pass(5 * 60, () => {
    isOver ||= areFound();
    for (const puppet of isOver ? [] : running())
      if (puppet.sessions().some((id) => killers.includes(id))) puppet.die();
  });
  assert.ok(isOver);
  assert.equal(running().filter((puppet) => killers.includes(puppet.sessions()[0] ?? '')).length, 9);
});

test('those of a second crash that were not in the first one are no suspects', () => {
  const { cameras, puppets, puppetOf, pass } = setUp();
  cameras.replaceAll(many(20));
  pass(2);
  puppets[0]!.die();
  pass(3);
  cameras.setAll([cameraSettings('new')]);
  pass(3);
  puppetOf('new').die();
  pass(3);
  assert.deepEqual(puppetOf('new').camerasOpen(), ['new']);
  assert.equal(puppetOf('camera-0').camerasOpen().length, 10);
});

test('cameras that were away when their thread died are no suspects', () => {
  const { cameras, puppetOf, pass } = setUp();
  cameras.replaceAll(many(20));
  const fault = { code: 'unauthorized', message: 'wrong password' };
  for (let death = 0; death < 2; death += 1) {
    pass(3);
    const puppet = puppetOf('camera-1');
    puppet.say({ type: 'ended', cameraId: 'camera-0', attempt: puppet.attemptOf('camera-0'), fault });
    puppet.die();
  }
  pass(60);
  const first = puppetOf('camera-0').camerasOpen();
  assert.deepEqual(first, ['camera-0'], 'alone, since all others are suspects');
  assert.equal(cameras.get('camera-0')!.status().state, 'error');
  assert.equal(cameras.get('camera-0')!.status().lastError, 'wrong password');
});

test('a camera that was held off is tried at once when its address is changed', () => {
  const { cameras, puppetOf, pass } = setUp();
  cameras.setAll([cameraSettings('door')]);
  for (let death = 0; death < 2; death += 1) {
    puppetOf('door').die();
    pass(3);
  }
  assert.equal(cameras.get('door')!.status().state, 'error');
  cameras.setAll([cameraSettings('door', { source: { url: 'rtsp://door/2', transport: 'tcp' } })]);
  assert.equal(cameras.get('door')!.status().state, 'connecting');
  assert.deepEqual(puppetOf('door').sessions(), ['door']);
});

test('a thread that does not beat for 10 s is ended, and its cameras go on in a fresh one', () => {
  const { cameras, clock, puppets, puppetOf, records } = setUp();
  cameras.replaceAll(many(2));
  const [hung, other] = [puppets[0]!, puppets[1]!];
  for (let second = 0; second < 11; second += 1) {
    other.beat();
    clock.advance(1_000);
  }
  assert.equal(hung.killedFor, 'it hung');
  assert.equal(other.killedFor, null);
  hung.die();
  assert.deepEqual(cameras.threadLosses, { died: 0, hung: 1 });
  assert.equal(cameras.get('camera-0')!.status().state, 'reconnecting');
  clock.advance(500);
  assert.notEqual(puppetOf('camera-0'), hung);
  assert.ok(records.some(({ level, message }) => level === 'error' && message === 'camera worker hangs'));
});

test('a camera whose thread hangs twice is held off', () => {
  const { cameras, clock, puppetOf } = setUp();
  cameras.setAll([cameraSettings('door')]);
  for (let death = 0; death < 2; death += 1) {
    const puppet = puppetOf('door');
    clock.advance(12_000);
    assert.notEqual(puppet.killedFor, null);
    puppet.die();
    clock.advance(3_000);
  }
  assert.equal(cameras.get('door')!.status().state, 'error');
});

test('a machine that slept, or a main thread that was held up, ends no thread', () => {
  const { cameras, clock, puppets, pass } = setUp();
  cameras.setAll([cameraSettings('door')]);
  pass(5);
  for (let nap = 0; nap < 9; nap += 1) clock.sleep(3_600_000);
  pass(5);
  assert.equal(puppets[0]!.killedFor, null);
});

test('a machine without room for threads makes no camera a suspect: all stream as soon as there is room', () => {
  const { cameras, machine, running, pass } = setUp();
  machine.hasRoom = false;
  cameras.replaceAll(many(4));
  pass(120);
  assert.equal(running().length, 0);
  for (const id of cameras.ids)
    assert.match(cameras.get(id)!.status().lastError, /^the ingest worker stopped unexpectedly$/);
  machine.hasRoom = true;
  pass(20);
  assert.equal(
    running().reduce((sum, puppet) => sum + puppet.sessions().length, 0),
    4,
  );
});
