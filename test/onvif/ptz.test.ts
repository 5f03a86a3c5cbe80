import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { systemClock } from '../../src/base/clock.js';
import { createLogger } from '../../src/base/log.js';
import { DEAD_MAN_MS, PtzDrive } from '../../src/onvif/ptz/drive.js';
import { PtzCamera } from '../../src/onvif/ptz/ptz-camera.js';
import { PtzCameras } from '../../src/onvif/ptz/ptz-cameras.js';
import { FakeClock } from '../support/fake-clock.js';
import { FakeDevice, type FakeDeviceOptions } from '../support/onvif/fake-device.js';
import { until } from '../support/until.js';

const LEFT = { pan: -0.5, tilt: 0, zoom: 0 };
const UP = { pan: 0, tilt: 1, zoom: 0 };

/** A drive whose camera notes what it is told, and may refuse. */
const rig = (refuses: { move?: number; stop?: number } = {}) => {
  const clock = new FakeClock();
  const told: string[] = [];
  const runaways: unknown[] = [];
  const left = { move: refuses.move ?? 0, stop: refuses.stop ?? 0 };
  const say = async (kind: 'move' | 'stop', text: string): Promise<void> => {
    told.push(text);
    await turn();
    if (left[kind]-- > 0) throw new Error(`no ${kind}`);
  };
  const drive = new PtzDrive({
    clock,
    move: ({ pan, tilt, zoom }) => say('move', `${pan},${tilt},${zoom}`),
    stop: () => say('stop', 'stop'),
    onRunaway: (fault) => runaways.push(fault),
  });
  const settle = async (): Promise<void> => {
    for (let turns = 0; turns < 20; turns += 1) await turn();
  };
  return { clock, told, drive, runaways, settle };
};

test('a camera moves for as long as somebody says so, and stops soon after', async () => {
  const { clock, told, drive, settle } = rig();
  for (let times = 0; times < 10; times += 1) {
    await drive.move(LEFT);
    clock.advance(300);
  }
  // It is told again now and then, for the limit of its own.
  assert.deepEqual(told, ['-0.5,0,0', '-0.5,0,0', '-0.5,0,0']);
  assert.ok(drive.isMoving);
  clock.advance(DEAD_MAN_MS - 300 - 1);
  await settle();
  assert.ok(!told.includes('stop'));
  clock.advance(1);
  await settle();
  assert.deepEqual(told.slice(3), ['stop']);
  assert.ok(!drive.isMoving);
  assert.equal(clock.pendingTimers, 0);
});

test('what is wished while a command is on its way follows it, the newest alone', async () => {
  const { told, drive } = rig();
  await Promise.all([drive.move(LEFT), drive.move(UP), drive.move(LEFT), drive.move(UP), drive.stop()]);
  assert.deepEqual(told, ['-0.5,0,0', 'stop']);
  await drive.stop();
  assert.equal(told.length, 2, 'what stands is not stopped');
});

test('a camera that refuses to move is stopped all the same, and who asked is told', async () => {
  const { told, drive, clock } = rig({ move: 1 });
  await assert.rejects(drive.move(LEFT), /no move/);
  assert.deepEqual([told, clock.pendingTimers, drive.isMoving], [['-0.5,0,0', 'stop'], 0, false]);
});

test('a stop that gets lost is sent again, and at last told of', async () => {
  const { told, drive, clock, settle, runaways } = rig({ stop: 3 });
  await drive.move(LEFT);
  clock.advance(DEAD_MAN_MS);
  for (let times = 0; times < 6; times += 1) {
    await settle();
    clock.advance(2_000);
  }
  assert.deepEqual([told.filter((text) => text === 'stop').length, runaways.length], [4, 0]);
  const worse = rig({ stop: 99 });
  await worse.drive.move(LEFT);
  worse.clock.advance(DEAD_MAN_MS);
  for (let times = 0; times < 8; times += 1) {
    await worse.settle();
    worse.clock.advance(2_000);
  }
  assert.equal(worse.runaways.length, 1);
});

test('who lets go in the very moment in which a command ends is heard', async () => {
  for (let turns = 0; turns < 8; turns += 1) {
    let end = (): void => {};
    const told: string[] = [];
    const drive = new PtzDrive({
      clock: new FakeClock(),
      move: () =>
        new Promise((resolve) => {
          told.push('move');
          end = resolve;
        }),
      stop: async () => void told.push('stop'),
      onRunaway: () => assert.fail('it runs away'),
    });
    const moved = drive.move(LEFT);
    end();
    for (let passed = 0; passed < turns; passed += 1) await Promise.resolve();
    await drive.stop();
    await moved;
    assert.deepEqual([told, drive.isMoving], [['move', 'stop'], false], `${turns} turns later`);
  }
});

const withCamera = async (
  options: Partial<FakeDeviceOptions>,
  use: (camera: PtzCamera, device: FakeDevice) => Promise<void>,
  profile = '',
): Promise<void> => {
  const stream = { codec: 'H264', width: 640, height: 480, uri: 'rtsp://x/1' };
  const device = await FakeDevice.start({
    ...{ prefix: 's', auth: 'digest', media: ['media'], faultStatus: 500, hasPtz: true },
    streams: [
      { ...stream, token: 'fixed' },
      { ...stream, token: 'dome', hasPtz: true },
    ],
    ...options,
  });
  const credentials = { user: 'admin', password: 'secret' };
  const address = new URL(`http://${device.address}/onvif/device_service`);
  const camera = new PtzCamera(
    { address, credentials, certificate: 'any', profile },
    { clock: systemClock, onRunaway: () => assert.fail('it runs away') },
  );
  try {
    await use(camera, device);
  } finally {
    await camera.stop().catch(() => {});
    await device.stop();
  }
};

test('a camera is moved by the profile that can be, named with what moves alone, and with a limit of its own', () =>
  withCamera({}, async (camera, device) => {
    assert.equal(await camera.isOffered(), true);
    await camera.move({ pan: 0, tilt: 0, zoom: 0.25 });
    await camera.stop();
    const [move, stop] = device.asked.filter(({ operation }) => /Move|Stop/.test(operation));
    assert.match(
      move?.body ?? '',
      /<ProfileToken>dome<.*<Velocity><tt:Zoom x="0.25"\/><\/Velocity><Timeout>PT2S</,
    );
    assert.equal(stop?.operation, 'Stop');
  }));

test('a camera that takes no limit is moved without one', () =>
  withCamera(
    {
      instead: (operation, response) => {
        if (operation !== 'ContinuousMove') return false;
        const isLimited = limited.at(-1)?.body.includes('<Timeout>') ?? false;
        if (!isLimited) return false;
        response.writeHead(400).end(FAULT);
        return true;
      },
    },
    async (camera, device) => {
      limited = device.asked;
      await camera.move(LEFT);
      await camera.move(UP);
      const moves = device.asked.filter(({ operation }) => operation === 'ContinuousMove');
      assert.deepEqual(
        moves.map(({ body }) => body.includes('<Timeout>')),
        [true, false, false],
      );
    },
  ));

test('a camera that was set up anew is asked for its profiles again, and told its limit as before', () => {
  let refusals = 0;
  return withCamera(
    {
      instead: (operation, response) => {
        if (operation !== 'ContinuousMove' || refusals++ > 0) return false;
        response.writeHead(400).end(NO_PROFILE);
        return true;
      },
    },
    async (camera, device) => {
      await assert.rejects(camera.move(LEFT));
      await camera.move(LEFT);
      const from = device.asked.findIndex(({ operation }) => operation === 'ContinuousMove');
      const asked = device.asked.slice(from);
      const operations = asked.map(({ operation }) => operation);
      assert.ok(operations.includes('GetProfiles'), operations.join(' '));
      const moves = asked.filter(({ operation }) => operation === 'ContinuousMove');
      assert.deepEqual(
        moves.map(({ body }) => body.includes('<Timeout>')),
        [true, true],
      );
    },
  );
});

let limited: FakeDevice['asked'] = [];
const FAULT =
  '<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body><e:Fault><e:Code><e:Value>e:Sender</e:Value><e:Subcode>' +
  '<e:Value>ter:InvalidArgVal</e:Value></e:Subcode></e:Code></e:Fault></e:Body></e:Envelope>';
const NO_PROFILE = FAULT.replace(
  '</e:Value></e:Subcode>',
  '</e:Value><e:Subcode><e:Value>ter:NoProfile</e:Value></e:Subcode></e:Subcode>',
);

test('presets are listed, gone to, set and forgotten, whatever stands in their names', () =>
  withCamera({}, async (camera, device) => {
    assert.deepEqual(await camera.presets(), [{ token: '1', name: 'Gate' }]);
    const made = await camera.setPreset('Yard & "<b>"');
    assert.deepEqual(made, { token: '2', name: 'Yard & "<b>"' });
    assert.deepEqual([...device.presets.keys()], ['1', '2']);
    await camera.goTo('1');
    assert.match(device.asked.at(-1)?.body ?? '', /GotoPreset.*<PresetToken>1</);
    await camera.removePreset('2');
    assert.deepEqual([...device.presets.keys()], ['1']);
    const before = device.operations.length;
    const lists = await Promise.all(Array.from({ length: 20 }, () => camera.presets()));
    assert.deepEqual([lists.length, device.operations.length - before], [20, 1], 'one question for all');
  }));

test('a camera without PTZ, or whose profile has none, is not offered to be moved', async () => {
  await withCamera({ hasPtz: false }, async (camera) => assert.equal(await camera.isOffered(), false));
  await withCamera({}, async (camera) => assert.equal(await camera.isOffered(), false), 'fixed');
});

test('what could not be moved when it was asked is asked again; whoever stops waits for no dead camera', {
  timeout: 60_000,
}, async (t) => {
  const clock = new FakeClock();
  const stream = { token: 'dome', codec: 'H264', width: 640, height: 480, uri: 'rtsp://x/1', hasPtz: false };
  let isDead = false;
  const device = await FakeDevice.start({
    ...{ prefix: 's', auth: 'none', media: ['media'], faultStatus: 500, hasPtz: true, streams: [stream] },
    instead: () => isDead,
  });
  t.after(() => device.stop());
  let changes = 0;
  const cameras = new PtzCameras({
    ...{ clock, log: createLogger(() => {}), onChange: () => (changes += 1) },
    cameras: () => [
      {
        ...{ cameraId: 'gate', address: device.address, profile: '' },
        ...{ credentials: null, certificate: 'any' },
      },
    ],
  });
  cameras.look();
  await until('it was asked', () => device.operations.includes('GetProfiles'));
  stream.hasPtz = true;
  await until('it is asked again, some time', () => {
    // Time passes while no question is on its way.
    if (clock.pendingTimers === 0) clock.advance(600_000);
    cameras.look();
    return cameras.isOffered('gate');
  });
  assert.equal(changes, 1);
  await cameras.get('gate').move(LEFT);
  isDead = true;
  const stopping = cameras.stop();
  assert.throws(() => cameras.get('gate'), /can not be moved/);
  clock.advance(3_000);
  await stopping;
});

test(
  'a camera that switches to another protocol instead of an answer is not waited for',
  { timeout: 60_000 },
  () =>
    withCamera(
      {
        instead: (operation, response) => {
          if (operation !== 'ContinuousMove') return false;
          response.writeHead(101, { Connection: 'Upgrade', Upgrade: 'x' }).end();
          return true;
        },
      },
      async (camera, device) => {
        await assert.rejects(camera.move(LEFT), /without an answer/);
        assert.equal(device.asked.at(-1)?.operation, 'Stop');
      },
    ),
);

test('once the service has stopped, no timer of the cameras that can be moved runs on', async () => {
  const clock = new FakeClock();
  const cameras = new PtzCameras({
    clock,
    log: createLogger(() => {}),
    cameras: () => [],
    onChange: () => {},
  });
  await cameras.stop();
  assert.equal(clock.pendingTimers, 0);
});
