import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { GuardedSocket } from '../../src/notify/mqtt/guarded-socket.js';
import { PACKET_BURST, PACKETS_A_SEC, PacketGuard } from '../../src/notify/mqtt/packet-guard.js';
import { FakeClock } from '../support/fake-clock.js';
import { Mosquitto } from '../support/mosquitto.js';
import { until } from '../support/until.js';
import { FakeBroker, messagePacket } from './fake-broker.js';
import { cameraFacts, openMqtt } from './mqtt-rig.js';

const MAX_BYTES = 1_000;
const PINGRESP = Buffer.from([0xd0, 0]);
const pings = (count: number): Buffer => Buffer.alloc(2 * count, PINGRESP);

test('as many packets pass as a broker may keep for us, then some in a second, and those that were asked for', () => {
  const clock = new FakeClock();
  const guard = new PacketGuard(MAX_BYTES, clock);
  assert.equal(guard.fault(pings(PACKET_BURST)), null);
  clock.advance(1_000);
  assert.equal(guard.fault(pings(PACKETS_A_SEC)), null);
  guard.expect(3);
  assert.equal(guard.fault(pings(3)), null);
  assert.match(guard.fault(pings(1)) ?? '', /more packets than/);
  // However long nothing comes, and however much is asked for: no more than that at a time.
  const patient = new PacketGuard(MAX_BYTES, clock);
  patient.expect(PACKET_BURST);
  clock.advance(86_400_000);
  assert.match(patient.fault(pings(PACKET_BURST + 1)) ?? '', /more packets than/);
});

for (const [what, packet] of [
  ['answers to nothing', PINGRESP],
  ['messages of nobody', messagePacket('elsewhere', 'x')],
  ['messages to what we listen to', messagePacket('framering/available', 'offline')],
] as const)
  test(`a flood of ${what} ends the connection, and is told once`, async (t) => {
    const broker = await FakeBroker.start(t);
    const { mqtt, lines } = openMqtt(t, broker.url);
    await until('it is connected', () => mqtt.figures.isUp);
    broker.send(Buffer.concat(Array.from({ length: 2 * PACKET_BURST }, () => packet)));
    await until('it is left', () => lines.some((line) => line.includes('more packets than')));
    assert.equal(mqtt.figures.isUp, false);
  });

const socketPair = async (t: TestContext): Promise<readonly [ours: Socket, theirs: Socket]> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const theirs = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [ours] = (await once(server, 'connection')) as [Socket];
  t.after(() => {
    theirs.destroy();
    server.close();
  });
  return [ours, theirs];
};

test('much that comes at once is looked at in small parts, and others have their turn between them', async (t) => {
  const [ours, theirs] = await socketPair(t);
  const guarded = new GuardedSocket(ours, MAX_BYTES, new FakeClock());
  t.after(() => guarded.destroy());
  let turn = 0;
  let isOver = false;
  const count = (): void => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  count();
  const sent = Buffer.concat(Array.from({ length: 2_000 }, (_, nth) => messagePacket('a', `message ${nth}`)));
  const parts: { readonly bytes: Buffer; readonly turn: number }[] = [];
  guarded.on('data', (bytes: Buffer) => parts.push({ bytes, turn }));
  theirs.end(sent);
  await once(guarded, 'end');
  isOver = true;
  assert.deepEqual(Buffer.concat(parts.map(({ bytes }) => bytes)), sent);
  assert.ok(Math.max(...parts.map(({ bytes }) => bytes.length)) <= 1_024);
  assert.equal(new Set(parts.map((part) => part.turn)).size, parts.length, 'one in a turn');
});

test('of births that come in a row one is answered at once, and one when a minute is over', async (t) => {
  const broker = await FakeBroker.start(t);
  const clock = new FakeClock();
  const { mqtt, begin } = openMqtt(t, broker.url, {}, { clock });
  await until('it is connected', () => mqtt.figures.isUp);
  mqtt.look([cameraFacts({ id: 'door' })], '');
  const config = 'homeassistant/device/framering--door/config';
  const timesTold = (): number => broker.topics.filter((topic) => topic === config).length;
  await until('the device is told', () => timesTold() === 1);
  const birth = messagePacket('homeassistant/status', 'online');
  const bear = async (births: Buffer): Promise<void> => {
    const before = clock.pendingTimers;
    broker.send(births);
    await until('it was heard', () => clock.pendingTimers > before);
  };
  await bear(birth);
  clock.advance(4_000);
  await until('the device is told again', () => timesTold() === 2);
  await bear(Buffer.concat([birth, birth, birth]));
  clock.advance(50_000);
  begin({ type: 'camera_lost' });
  clock.advance(1);
  await until('an event is told', () => broker.published.at(-1)?.topic === 'framering/events');
  assert.equal(timesTold(), 2, 'within the minute');
  clock.advance(10_000);
  await until('the device is told at its end', () => timesTold() === 3);
  await mqtt.stop();
});

test('all that a broker keeps of 500 cameras passes, and so does what they are told anew', async (t) => {
  const broker = await Mosquitto.start(t);
  const cameras = Array.from({ length: 500 }, (_, nth) => cameraFacts({ id: `camera-${nth}` }));
  const labels = Array.from({ length: 32 }, (_, nth) => `label-${nth}`);
  const open = () => openMqtt(t, broker.url, { discoveryPrefix: null }, { labelsOf: () => labels });
  const tellAll = async ({ mqtt }: ReturnType<typeof openMqtt>): Promise<void> => {
    await until('it is connected', () => mqtt.figures.isUp);
    mqtt.look(cameras, '');
    await until('all is told', () => mqtt.figures.sent >= 500 * (3 + labels.length), { deadlineMs: 120_000 });
    assert.deepEqual([mqtt.figures.isUp, mqtt.figures.connects], [true, 1]);
  };
  const first = open();
  await tellAll(first);
  await first.mqtt.stop();
  await tellAll(open());
});
