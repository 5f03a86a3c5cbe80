import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../../src/base/log.js';
import { ThreadStats } from '../../src/base/thread-stats.js';
import type { CameraSettings } from '../../src/camera/camera.js';
import { type CameraFeed, Cameras } from '../../src/camera/cameras.js';
import type { FromCameraWorker, ToCameraWorker } from '../../src/camera/messages.js';
import type { CameraWorkerEvents, SpawnCameraWorker } from '../../src/camera/worker-thread.js';
import { FakeClock } from '../support/fake-clock.js';
import { NoOffice } from '../support/no-office.js';
import { makeRing } from '../support/ring.js';

/** Stands where a thread would: notes what it is told, says what the test wants. */
class Puppet {
  readonly name: string;
  readonly told: ToCameraWorker[] = [];
  readonly bell = new SharedArrayBuffer(8);
  readonly stats: ThreadStats;
  stopped = false;
  /** Why it was killed, if it was. */
  killedFor: string | null = null;
  isDead = false;
  readonly #events: CameraWorkerEvents;

  constructor(name: string, events: CameraWorkerEvents, clock: FakeClock) {
    this.name = name;
    this.#events = events;
    this.stats = new ThreadStats(clock);
    this.say({ type: 'thread', stats: this.stats.shared });
    this.say({ type: 'ready', bell: this.bell });
  }

  get isRunning(): boolean {
    return !this.stopped && !this.isDead;
  }

  beat(): void {
    this.stats.sample();
  }

  say(message: FromCameraWorker): void {
    this.#events.onMessage(message);
  }

  die(): void {
    this.isDead = true;
    this.#events.onLost('killed by the test');
  }

  /** The sessions that it was told to open, and that nobody has ended since. */
  sessions(): string[] {
    const open = new Set<string>();
    for (const message of this.told) {
      if (message.type === 'connect') open.add(message.cameraId);
      if (message.type === 'disconnect' || message.type === 'release') open.delete(message.cameraId);
    }
    return [...open];
  }

  camerasOpen(): string[] {
    const open = new Set<string>();
    for (const message of this.told) {
      if (message.type === 'open') open.add(message.cameraId);
      if (message.type === 'release') open.delete(message.cameraId);
    }
    return [...open].sort();
  }

  attemptOf(cameraId: string): number {
    const connects = this.told.filter(
      (message) => message.type === 'connect' && message.cameraId === cameraId,
    );
    const last = connects.at(-1);
    return last?.type === 'connect' ? last.attempt : 0;
  }
}

const cameraSettings = (id: string, changes: Partial<CameraSettings> = {}): CameraSettings => ({
  id,
  source: { url: `rtsp://${id}/1`, transport: 'tcp' },
  host: id,
  disabled: false,
  isRecorded: false,
  ...changes,
});

const many = (count: number): CameraSettings[] =>
  Array.from({ length: count }, (_, index) => cameraSettings(`camera-${index}`));

const setUp = () => {
  const clock = new FakeClock();
  const office = new NoOffice();
  const puppets: Puppet[] = [];
  const records: { level: string; message: string; fields: Readonly<Record<string, unknown>> }[] = [];
  const spawn: SpawnCameraWorker = (name, events) => {
    const puppet = new Puppet(name, events, clock);
    puppets.push(puppet);
    return {
      send: (message) => {
        puppet.told.push(message);
        if (message.type !== 'disconnect') return;
        const { cameraId } = message;
        const attempt = puppet.attemptOf(cameraId);
        const fault = { code: 'aborted', message: 'the session was ended by us' };
        clock.after(50, () => puppet.say({ type: 'ended', cameraId, attempt, fault }));
      },
      kill: (reason) => {
        puppet.killedFor = reason;
      },
      stop: () => {
        puppet.stopped = true;
        return Promise.resolve();
      },
    };
  };
  const cameras = new Cameras(
    { camerasPerWorker: 'auto', coreCount: 2 },
    {
      clock,
      log: createLogger((level, message, fields) => records.push({ level, message, fields })),
      spawn,
      recordings: office,
    },
  );
  const puppetOf = (cameraId: string): Puppet =>
    puppets.findLast((puppet) => puppet.camerasOpen().includes(cameraId))!;
  const running = (): Puppet[] => puppets.filter((puppet) => puppet.isRunning);
  /** Lets time pass in which threads beat, and `eachSecond` is called. */
  const pass = (seconds: number, eachSecond: () => void = () => {}): void => {
    for (let second = 0; second < seconds; second += 1) {
      for (const puppet of running()) puppet.beat();
      clock.advance(1_000);
      eachSecond();
    }
  };
  return { cameras, clock, office, puppets, puppetOf, running, pass, records };
};

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
  cameras.set(cameraSettings('ninth'));
  assert.equal(puppetOf('camera-7'), before, 'a streaming camera stays where it is');
  before.say({
    type: 'ended',
    cameraId: 'camera-7',
    attempt: 1,
    fault: { code: 'stalled', message: 'no frame for 10 s' },
  });
  clock.advance(300);
  const after = puppetOf('camera-7');
  assert.ok(after !== before && puppets.indexOf(after) < 2);
  assert.ok(before.stopped, 'the worker it left is empty and ends');
  const open = after.told.find((message) => message.type === 'open' && message.cameraId === 'camera-7');
  assert.equal(open?.type === 'open' && open.ring, ring);
});

test('a camera whose session has not ended yet never gets a second writer in another worker', () => {
  const { cameras, clock, puppetOf } = setUp();
  cameras.replaceAll(many(8));
  const before = puppetOf('camera-7');
  cameras.set(cameraSettings('ninth'));
  cameras.set(cameraSettings('camera-7', { source: { url: 'rtsp://camera-7/2', transport: 'tcp' } }));
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
  cameras.set(cameraSettings('door'));
  const seen: (CameraFeed | null)[] = [];
  const unfollow = cameras.follow('door', (feed) => seen.push(feed));
  assert.deepEqual(seen, []);
  const rings = [makeRing().writer.ring, makeRing().writer.ring];
  for (const ring of rings) puppetOf('door').say({ type: 'ring', cameraId: 'door', ring });
  const { bell } = puppetOf('door');
  assert.deepEqual(seen, [
    { ring: rings[0], bell },
    { ring: rings[1], bell },
  ]);
  const late: (CameraFeed | null)[] = [];
  cameras.follow('door', (feed) => late.push(feed));
  assert.deepEqual(late, [{ ring: rings[1], bell }]);
  unfollow();
  cameras.remove('door');
  assert.equal(seen.length, 2);
  assert.equal(late.at(-1), null);
});

test('a camera that is switched off has its ring closed; its followers hear of the new one, and of nothing between', () => {
  const { cameras, puppets, puppetOf } = setUp();
  cameras.set(cameraSettings('door'));
  const seen: (CameraFeed | null)[] = [];
  cameras.follow('door', (feed) => seen.push(feed));
  const rings = [makeRing().writer.ring, makeRing().writer.ring];
  puppetOf('door').say({ type: 'ring', cameraId: 'door', ring: rings[0]! });
  cameras.set(cameraSettings('door', { disabled: true }));
  const released = puppets[0]!.told.at(-1);
  assert.deepEqual(released, { type: 'release', cameraId: 'door', closeRing: true });
  assert.equal(cameras.ring('door'), null);
  cameras.set(cameraSettings('door'));
  puppetOf('door').say({ type: 'ring', cameraId: 'door', ring: rings[1]! });
  assert.deepEqual(
    seen.map((feed) => feed?.ring),
    rings,
  );
});

test('frames that a recorder lost count though the camera has left its worker', () => {
  const { cameras, puppets, office } = setUp();
  cameras.set(cameraSettings('door', { isRecorded: true }));
  const [puppet] = puppets;
  puppet!.say({ type: 'unrecorded', cameraId: 'door', frames: 3 });
  cameras.set(cameraSettings('door', { isRecorded: true, disabled: true }));
  puppet!.say({ type: 'unrecorded', cameraId: 'door', frames: 4 });
  puppet!.say({ type: 'recording_file', cameraId: 'door', fileName: 'a', state: 'left', progress: null });
  cameras.remove('door');
  puppet!.say({ type: 'unrecorded', cameraId: 'door', frames: 5 });
  assert.deepEqual(office.lost, [3, 4]);
  assert.deepEqual(office.files, [['camera-worker-1', 'door', 'a', 'left', null]]);
});

test('a removed camera leaves nothing behind', () => {
  const { cameras, clock, puppets } = setUp();
  cameras.set(cameraSettings('door'));
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
    cameras.set(cameraSettings('door', { disabled: true }));
    cameras.set(cameraSettings('door'));
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
  cameras.set(cameraSettings('door', { disabled: true }));
  for (const puppet of puppets) puppet.say({ type: 'released', cameraId: 'door' });
  clock.advance(5_000);
  assert.equal(connects(), 1);
  const moved = flicked(1);
  const source = { url: 'rtsp://door/2', transport: 'tcp' } as const;
  moved.cameras.set(cameraSettings('door', { source }));
  moved.puppets[0]!.say({ type: 'released', cameraId: 'door' });
  const told = moved.puppets.at(-1)!.told.filter((message) => message.type === 'connect');
  assert.deepEqual(
    told.map((message) => message.source),
    [source],
  );
});

test('a disabled camera has no worker and no ring', () => {
  const { cameras, puppets } = setUp();
  cameras.set(cameraSettings('door', { disabled: true }));
  assert.equal(puppets.length, 0);
  cameras.set(cameraSettings('door'));
  assert.equal(puppets.length, 1);
  cameras.set(cameraSettings('door', { disabled: true }));
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

test('those of a second crash that were not in the first one are no suspects', () => {
  const { cameras, puppets, puppetOf, pass } = setUp();
  cameras.replaceAll(many(20));
  pass(2);
  puppets[0]!.die();
  pass(3);
  cameras.set(cameraSettings('new'));
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
  cameras.set(cameraSettings('door'));
  for (let death = 0; death < 2; death += 1) {
    puppetOf('door').die();
    pass(3);
  }
  assert.equal(cameras.get('door')!.status().state, 'error');
  cameras.set(cameraSettings('door', { source: { url: 'rtsp://door/2', transport: 'tcp' } }));
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
  cameras.set(cameraSettings('door'));
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
  cameras.set(cameraSettings('door'));
  pass(5);
  for (let nap = 0; nap < 9; nap += 1) clock.sleep(3_600_000);
  pass(5);
  assert.equal(puppets[0]!.killedFor, null);
});
