import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { MAX_IN_FLIGHT } from '../../src/notify/mqtt/publisher.js';
import { selfSignedCertificate } from '../support/fake-camera/certificate.js';
import { BROKER_PASSWORD, freePort, type Heard, Mosquitto } from '../support/mosquitto.js';
import { until } from '../support/until.js';
import { FakeBroker } from './fake-broker.js';
import { cameraFacts, idOf, openMqtt } from './mqtt-rig.js';

const eventsOf = (heard: readonly Heard[]): { type: string; id: string }[] =>
  heard
    .filter(({ topic }) => topic === 'framering/events')
    .map(({ payload }) => JSON.parse(payload))
    .map(({ type, event }) => ({ type, id: event.id }));

const newIds = (heard: readonly Heard[]): string[] =>
  eventsOf(heard)
    .filter(({ type }) => type === 'new')
    .map(({ id }) => id);

/** Something that takes connections, and is no broker. */
const impostor = async (t: TestContext, onSocket: (socket: Socket) => void): Promise<string> => {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    onSocket(socket);
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `mqtt://framering:canary-of-mqtt@127.0.0.1:${port}`;
};

/** The broker sends the listener's once more, too. */
const LISTENER_IN_FLIGHT = 20;
const CONNACK = Buffer.from([0x20, 2, 0, 0]);

test('who comes late finds how each camera is, what goes on there, and devices for Home Assistant', async (t) => {
  const broker = await Mosquitto.start(t);
  const { mqtt, begin, end } = openMqtt(t, broker.url);
  mqtt.look([cameraFacts({ id: 'door' }), cameraFacts({ id: 'yard', state: 'offline' })], '');
  const person = begin();
  begin({ type: 'motion', label: '' });
  const found = await until('all is told', async () => {
    const retained = await broker.retained();
    return retained.get('framering/cameras/door/motion') === 'ON' && retained;
  });
  assert.equal(found.get('framering/available'), 'online');
  const { id: _, ...door } = JSON.parse(found.get('framering/cameras/door/state')!);
  const well = { last_error: '', codec: 'h264', resolution: '640x480', recording: true, record_error: '' };
  assert.deepEqual(door, { state: 'streaming', ...well });
  assert.equal(JSON.parse(found.get('framering/cameras/yard/state')!).state, 'offline');
  assert.deepEqual(JSON.parse(found.get('framering/cameras/door/figures')!), {
    ...{ fps: 25, bitrate: 2000, viewers: 1 },
  });
  assert.equal(found.get('framering/cameras/door/motion'), 'ON');
  assert.equal(found.get('framering/cameras/yard/motion'), 'OFF');
  assert.equal(found.get('framering/cameras/door/objects/person'), '1');
  assert.ok(found.has('homeassistant/device/framering--door/config'));
  assert.equal(found.has('framering/events'), false, 'what happened is over');
  end(person);
  await until(
    'nobody is there',
    async () => (await broker.retained()).get('framering/cameras/door/objects/person') === '0',
  );
});

test('each event in order: new, update and end; a detection once a second; a picture; nothing else of those kept', async (t) => {
  const broker = await Mosquitto.start(t);
  const heard = await broker.listen(['framering/#']);
  const { mqtt, begin, end } = openMqtt(t, broker.url);
  await until('it is connected', () => mqtt.figures.isUp);
  mqtt.look([cameraFacts({ id: 'door' })], '');
  const event = begin();
  mqtt.onEvent({ ...event, score: 0.95 }, { score: 0.95 });
  mqtt.onEvent({ ...event, isProtected: true }, { isProtected: true });
  end(event);
  const seen = { label: 'person', score: 0.9, box: [0, 0, 0.5, 0.5], zone: 'gate' } as const;
  const see = (objects: readonly (typeof seen)[]): void =>
    mqtt.onSeen('door', { wallMs: 1_700_000_000_000, source: 'model', objects });
  for (let count = 0; count < 5; count++) see([seen]);
  // Nothing more may come for hours: that nothing is left is told though the second isn't over.
  for (let count = 0; count < 3; count++) see([]);
  mqtt.onPicture(event.id, Buffer.from([0xff, 0xd8, 0xff, 0xd9]));
  await until('all is heard', () => heard.some(({ topic }) => topic.endsWith('/picture')));
  const id = idOf(event);
  assert.deepEqual(eventsOf(heard), [
    { type: 'new', id },
    { type: 'update', id },
    { type: 'end', id },
  ]);
  const told = JSON.parse(heard.find(({ topic }) => topic === 'framering/events')!.payload).event;
  assert.deepEqual(
    { ...told, from: '' },
    {
      ...{ id, camera_id: 'door', type: 'detection', label: 'person', score: 0.9, from: '', to: null },
      detail: '',
    },
  );
  const detections = heard.filter(({ topic }) => topic === 'framering/cameras/door/detections');
  assert.deepEqual(
    detections.map(({ payload }) => JSON.parse(payload)),
    [[seen], []].map((objects) => ({
      ...{ camera_id: 'door', time: '2023-11-14T22:13:20.000Z', source: 'model', objects },
    })),
  );
  assert.equal((await broker.retained()).has('framering/cameras/door/detections'), false);
});

test('an event is kept before anybody hears of it: what begins and ends, all of a turn at once', async (t) => {
  const broker = await FakeBroker.start(t);
  const begun = new Set<string>();
  let kept = new Set<string>();
  let times = 0;
  const keepEvents = (): void => {
    times += 1;
    kept = new Set(begun);
  };
  const { mqtt, begin, end } = openMqtt(t, broker.url, {}, { keepEvents });
  await until('it is connected', () => mqtt.figures.isUp);
  const beginOne = () => {
    const event = begin();
    begun.add(idOf(event));
    return event;
  };
  const events = Array.from({ length: 100 }, beginOne);
  const toldIds = (): string[] =>
    broker.published
      .filter(({ topic }) => topic === 'framering/events')
      .map(({ payload }) => JSON.parse(payload.toString()).event.id);
  await until('the first is told', () => toldIds().length > 0);
  assert.equal(times, 1);
  assert.deepEqual(
    toldIds().filter((id) => !kept.has(id)),
    [],
  );
  await until('all are told', () => toldIds().length === 100);
  mqtt.onEvent({ ...events[0]!, score: 0.95 }, { score: 0.95 });
  await until('the change is told', () => toldIds().length === 101);
  assert.equal(times, 1, 'what is only another is known by its id');
  end(events[0]!);
  await until('the end is told', () => toldIds().length === 102);
  assert.equal(times, 2);
});

test('a broker that is stopped and started: no event lost, none out of order, few twice', async (t) => {
  const broker = await Mosquitto.start(t);
  const heard = await broker.listen(['framering/events']);
  const { mqtt, begin } = openMqtt(t, broker.url);
  mqtt.look([cameraFacts({ id: 'door' })], '');
  await until('it is connected', () => mqtt.figures.isUp);
  const told: string[] = [];
  const tellSome = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at++) {
      told.push(idOf(begin()));
      if (at % 20 === 19) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  for (let restart = 0; restart < 3; restart++) {
    const connects = mqtt.figures.connects;
    await tellSome(100);
    const stopped = broker.stop();
    await tellSome(200);
    await stopped;
    await tellSome(100);
    await broker.start();
    await until('it is connected again', () => mqtt.figures.connects > connects);
  }
  await until('all is sent', () => mqtt.figures.waiting === 0);
  await until('all is heard', () => new Set(newIds(heard)).size === told.length, {
    describe: () => `${newIds(heard).length} of ${told.length}`,
  });
  const ids = newIds(heard);
  assert.deepEqual([...new Set(ids)], told, 'in order');
  assert.ok(
    ids.length - told.length <= 3 * (MAX_IN_FLIGHT + LISTENER_IN_FLIGHT),
    `${ids.length - told.length} came twice`,
  );
  assert.equal(mqtt.figures.dropped, 0);
});

test('without a broker the oldest events are given up, and counted', async (t) => {
  const { mqtt, begin } = openMqtt(t, `mqtt://127.0.0.1:${await freePort()}`);
  for (let count = 0; count < 10_050; count++) begin();
  assert.equal(mqtt.figures.waiting, 10_000);
  assert.equal(mqtt.figures.dropped, 50);
  for (let count = 0; count < 100; count++) begin({ detail: 'x'.repeat(100_000) });
  assert.ok(mqtt.figures.waiting < 100, 'bytes are bounded, too');
});

test('a wrong password: said once, without it, and asked ever more rarely', async (t) => {
  const broker = await Mosquitto.start(t);
  const { mqtt, lines } = openMqtt(t, broker.url.replace(/:[^:@]*@/, ':canary-of-mqtt@'));
  await until('it is said', () => lines.length > 0);
  const [line] = lines;
  assert.match(line!, /"the MQTT broker is away".*Not authorized.*"again_in_sec":1/);
  assert.equal(mqtt.figures.isUp, false);
  const { connected_since, last_error } = mqtt.view;
  assert.equal(connected_since, null);
  assert.match(last_error, /Not authorized/);
  assert.doesNotMatch(lines.join() + JSON.stringify(mqtt.view), /canary/);
});

test('a broker that refuses: asked ever more rarely, and said once', async (t) => {
  const askedMs: number[] = [];
  const refused = Buffer.from([0x20, 2, 0, 5]);
  const url = await impostor(t, (socket) => {
    askedMs.push(performance.now());
    socket.once('data', () => socket.end(refused));
  });
  const { lines } = openMqtt(t, url);
  await until('it was asked often', () => askedMs.length === 4);
  const [first = 0, second = 0, third = 0, fourth = 0] = askedMs;
  // Timers are never early, but by a rounding.
  assert.ok(second - first > 995 && third - second > 1_995 && fourth - third > 3_995, `${askedMs}`);
  assert.equal(lines.length, 1);
});

test('a broker that never answers: the service ends in bounded time', async (t) => {
  let asked = 0;
  const { mqtt, begin } = openMqtt(t, await impostor(t, () => asked++));
  begin();
  await until('it was asked', () => asked === 1);
  const startMs = performance.now();
  await mqtt.stop();
  assert.ok(performance.now() - startMs < 5_000);
});

test('a broker that takes nothing any more: the service ends in bounded time', async (t) => {
  const { mqtt, begin } = openMqtt(
    t,
    await impostor(t, (socket) => socket.once('data', () => socket.write(CONNACK))),
  );
  await until('it is connected', () => mqtt.figures.isUp);
  for (let count = 0; count < 100; count++) begin();
  const startMs = performance.now();
  await mqtt.stop();
  assert.ok(performance.now() - startMs < 10_000);
});

test('a broker that sends a packet without end: it is left before anything of it is held', async (t) => {
  const written: number[] = [];
  const url = await impostor(t, (socket) => {
    const at = written.push(0) - 1;
    socket.once('data', () => {
      socket.write(CONNACK);
      // A message of 256 MB, the most that there can be.
      socket.write(Buffer.from([0x30, 0xff, 0xff, 0xff, 0x7f]));
      const more = (): void => {
        if (socket.destroyed) return;
        written[at]! += 65_536;
        if (socket.write(Buffer.alloc(65_536))) setImmediate(more);
        else socket.once('drain', more);
      };
      more();
    });
  });
  const { mqtt, lines } = openMqtt(t, url);
  await until('it is left', () => lines.some((line) => line.includes('a packet of more than')));
  assert.equal(mqtt.figures.isUp, false);
  await until('it comes again', () => written.length > 1);
  assert.doesNotMatch(lines.join(), /canary/);
});

test('TLS: by a certificate that is trusted, and by no other', async (t) => {
  const broker = await Mosquitto.start(t, { isTls: true });
  const ca = readFileSync(broker.certificatePath);
  const trusting = openMqtt(t, broker.url, { ca });
  await until('it is connected', () => trusting.mqtt.figures.isUp);
  const wary = openMqtt(t, broker.url);
  await until('it is refused', () => wary.lines.some((line) => line.includes('self-signed certificate')));
  assert.equal(wary.mqtt.figures.connects, 0);
  assert.ok(![...trusting.lines, ...wary.lines].join().includes(BROKER_PASSWORD));
});

test('who can not show that it is the broker hears nothing, not even a name', async (t) => {
  const heard: Buffer[] = [];
  let asked = 0;
  const server = createTlsServer(selfSignedCertificate(), (socket) =>
    socket.on('data', (bytes) => heard.push(bytes)),
  );
  server.on('connection', () => asked++).on('tlsClientError', () => {});
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { lines } = openMqtt(t, `mqtts://framering:canary-of-mqtt@127.0.0.1:${port}`);
  await until('it asked a second time', () => asked === 2);
  await until('it is refused', () => lines.some((line) => line.includes('self-signed certificate')));
  assert.equal(Buffer.concat(heard).length, 0);
});

test('a will that comes late is put right; an end that is meant is not', async (t) => {
  const broker = await Mosquitto.start(t);
  const { mqtt } = openMqtt(t, broker.url);
  const heard = await broker.listen(['framering/available']);
  const last = (): string | undefined => heard.at(-1)?.payload;
  await until('it is there', () => last() === 'online');
  broker.publish('framering/available', 'offline', ['-r']);
  await until('that was heard', () => heard.some(({ payload }) => payload === 'offline'));
  await until('it is there after all', () => last() === 'online');
  assert.equal((await broker.retained('framering/available')).get('framering/available'), 'online');
  await mqtt.stop();
  await until('it took its leave', () => last() === 'offline');
  assert.equal((await broker.retained('framering/available')).get('framering/available'), 'offline');
});

test('Home Assistant begins again, and hears of all once more', async (t) => {
  const broker = await Mosquitto.start(t);
  const { mqtt } = openMqtt(t, broker.url);
  mqtt.look([cameraFacts({ id: 'door' })], '');
  await until('it is told', async () =>
    (await broker.retained()).has('homeassistant/device/framering--door/config'),
  );
  const heard = await broker.listen(['homeassistant/#', 'framering/#']);
  await until('what is kept is heard', () => heard.length >= 7);
  heard.length = 0;
  broker.publish('homeassistant/status', 'online');
  const again = (topic: string) => () => heard.some((one) => one.topic === topic && !one.retain);
  await until('the device comes again', again('homeassistant/device/framering--door/config'));
  await until('its state comes again', again('framering/cameras/door/state'));
});

test('a camera that went is cleared: while it runs, and when it went while nobody was there', async (t) => {
  const broker = await Mosquitto.start(t);
  const first = openMqtt(t, broker.url);
  first.mqtt.look(
    [cameraFacts({ id: 'door' }), cameraFacts({ id: 'yard' }), cameraFacts({ id: 'roof' })],
    '',
  );
  await until('it is connected', () => first.mqtt.figures.isUp);
  for (const cameraId of ['door', 'yard', 'roof']) {
    first.mqtt.onPicture(first.begin({ cameraId }).id, Buffer.from('a picture'));
  }
  const topicsOf = async (camera: string): Promise<string[]> =>
    [...(await broker.retained()).keys()].filter((topic) => new RegExp(`[/-]${camera}(/|$)`).test(topic));
  const isAllTold = async (camera: string): Promise<boolean> => (await topicsOf(camera)).length === 6;
  for (const camera of ['door', 'yard', 'roof'])
    await until(`all of ${camera} is told`, () => isAllTold(camera));
  first.mqtt.look([cameraFacts({ id: 'door' }), cameraFacts({ id: 'yard' })], '');
  await until('the roof is gone', async () => (await topicsOf('roof')).length === 0);
  await first.mqtt.stop();
  const second = openMqtt(t, broker.url, {}, { labelsOf: () => ['person'] });
  second.mqtt.look([cameraFacts({ id: 'door' })], '');
  await until('the yard is gone', async () => (await topicsOf('yard')).length === 0);
  assert.equal(await isAllTold('door'), true, 'the door stays');
});
