import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.js';
import { createLogger } from '../../../src/base/log.js';
import type { CameraFeed } from '../../../src/live/feeds.js';
import type { OpenUdpDoor } from '../../../src/live/whep/door/udp-door.js';
import type { ToWhepWorker } from '../../../src/live/whep/messages.js';
import type { Remote } from '../../../src/live/whep/path/ice-lite.js';
import { WhepService } from '../../../src/live/whep/service.js';
import type { WhepWorkerEvents } from '../../../src/live/whep/worker-thread.js';
import { FakeClock } from '../../support/fake-clock.js';
import { KEY, makeRing, nalOf, streamInfo, writeFrame } from '../../support/ring.js';
import { until } from '../../support/until.js';
import { bindingRequest } from '../../support/whep-client.js';

type Offered = Extract<ToWhepWorker, { type: 'offer' }>;
type Hired = { readonly told: ToWhepWorker[]; readonly events: WhepWorkerEvents; isStopped: boolean };

const openFakeDoor: OpenUdpDoor = async ({ first }) => ({ port: first, close: () => {} });

/** A service whose workers are lists of what they were told. */
const makeService = (workerCount = 2, openDoor: OpenUdpDoor = openFakeDoor, own = ['127.0.0.1']) => {
  const clock = new FakeClock();
  const workers: Hired[] = [];
  const listeners = new Map<string, (feed: CameraFeed | null) => void>();
  const machine = { hasThreads: true };
  /** The feeds of cameras on demand, once they are there. */
  const woken = new Map<string, CameraFeed>();
  const feed: CameraFeed = { ring: new SharedArrayBuffer(8), bell: new SharedArrayBuffer(8) };
  const whep = new WhepService(
    { workerCount, udpPorts: { first: 1, last: 2 }, addresses: () => [...own] },
    {
      clock,
      log: createLogger(() => {}),
      onChange: () => {},
      openDoor,
      threads: { add: () => () => {} },
      feeds: {
        follow: (cameraId, listener) => {
          listeners.set(cameraId, listener);
          const shown = cameraId.startsWith('sim') ? woken.get(cameraId) : feed;
          if (cameraId === 'dark') listener(null);
          else if (shown !== undefined) listener(shown);
          return () => void listeners.delete(cameraId);
        },
        isOnDemand: (source) => source.startsWith('sim'),
      },
      spawn: (_name, _options, events) => {
        if (!machine.hasThreads) throw new Error('no thread');
        const hired: Hired = { told: [], events, isStopped: false };
        workers.push(hired);
        return {
          send: (message) => void hired.told.push(message),
          stop: async () => {
            hired.isStopped = true;
          },
        };
      },
    },
  );
  const offered: Offered[] = [];
  /** Answers everything that was offered. */
  const answerAll = (): void => {
    for (const { told, events } of workers) {
      for (const message of told.splice(0)) {
        if (message.type !== 'offer') continue;
        offered.push(message);
        events.onMessage({ type: 'answer', sessionId: message.sessionId, sdp: 'v=0' });
      }
    }
  };
  const ended: string[] = [];
  const watch = async (cameraId: string, address = '192.0.2.1') => {
    const answered = whep.offer(cameraId, 'v=0', address, (reason) => ended.push(reason));
    const [session] = await Promise.all([answered, turn().then(answerAll)]);
    return session;
  };
  const connect = (sessionId: string): void => {
    for (const { events } of workers) events.onMessage({ type: 'connected', sessionId });
  };
  return { clock, workers, listeners, whep, watch, connect, ended, offered, machine, answerAll, woken };
};

/** An offer waits for the port, even where that is open already. */
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

const codeOf = async (attempt: Promise<unknown>): Promise<string> => {
  try {
    await attempt;
    return '';
  } catch (thrown) {
    return thrown instanceof AppError ? thrown.code : String(thrown);
  }
};

test('a worker that nobody needs for a while ends, but for the last one', async () => {
  const { clock, workers, whep, watch } = makeService();
  const sessions: string[] = [];
  for (let i = 0; i < 13; i += 1) sessions.push((await watch('door')).sessionId);
  assert.equal(workers.length, 2);
  whep.end('door', sessions.pop()!, 'left');
  clock.advance(9_000);
  sessions.push((await watch('door')).sessionId);
  clock.advance(9_000);
  assert.ok(
    workers.every(({ isStopped }) => !isStopped),
    'it was needed again',
  );
  for (const session of sessions) whep.end('door', session, 'left');
  clock.advance(10_001);
  assert.deepEqual(
    workers.map(({ isStopped }) => isStopped),
    [true, false],
  );
  await watch('door');
  assert.equal(workers.length, 2);
  await whep.stop();
});

test('viewers share a worker until it has twelve, then another one takes over', async () => {
  const { workers, whep, watch, connect } = makeService();
  for (let i = 0; i < 12; i += 1) connect((await watch('door')).sessionId);
  assert.equal(workers.length, 1);
  for (let i = 0; i < 12; i += 1) connect((await watch(i % 2 === 0 ? 'door' : 'yard')).sessionId);
  assert.equal(workers.length, 2);
  for (let i = 0; i < 4; i += 1) connect((await watch('door')).sessionId);
  // Who has an answer doesn't watch yet.
  await watch('door');
  assert.deepEqual([workers.length, whep.viewers('door'), whep.viewers('yard')], [2, 22, 6]);
  await whep.stop();
  assert.ok(workers.every(({ isStopped }) => isStopped));
});

test('a camera is followed while somebody watches it, and forgotten after that', async () => {
  const { workers, listeners, whep, watch, ended } = makeService();
  const first = await watch('door');
  const second = await watch('door');
  assert.ok(listeners.has('door'));
  assert.equal(whep.end('yard', first.sessionId, 'left'), false);
  assert.equal(whep.end('door', first.sessionId, 'left'), true);
  assert.ok(listeners.has('door'));
  workers[0]!.events.onMessage({ type: 'dropped', cameraId: 'door', frames: 7 });
  workers[0]!.events.onMessage({ type: 'ended', sessionId: second.sessionId, reason: 'silent' });
  assert.deepEqual(ended, ['left', 'silent']);
  assert.deepEqual([listeners.has('door'), whep.viewers('door'), whep.droppedFrames('door')], [false, 0, 7]);
  assert.deepEqual(workers[0]!.told.at(-1), { type: 'forget', cameraId: 'door' });
});

test('no picture, no answer in time, a worker that dies, a camera that goes: each is told', async () => {
  const { clock, workers, listeners, whep, watch, ended } = makeService();
  assert.equal(await codeOf(whep.offer('dark', 'v=0', '192.0.2.1', () => {})), 'no_picture');
  const late = codeOf(whep.offer('door', 'v=0', '192.0.2.1', () => {}));
  await turn();
  clock.advance(8_000);
  assert.equal(await late, 'whep_unavailable');
  const refused = codeOf(whep.offer('door', 'v=0', '192.0.2.1', () => {}));
  await turn();
  const offer = workers[0]!.told.findLast((message) => message.type === 'offer');
  const { sessionId } = offer as { sessionId: string };
  workers[0]!.events.onMessage({ type: 'refused', sessionId, code: 'b_frames', message: 'B' });
  assert.equal(await refused, 'b_frames');
  await watch('door');
  const pending = codeOf(whep.offer('door', 'v=0', '192.0.2.1', () => {}));
  await turn();
  workers[0]!.events.onLost('exit code 1');
  assert.equal(await pending, 'whep_unavailable');
  assert.deepEqual([ended, whep.viewers('door')], [['the worker died'], 0]);
  await watch('door');
  assert.equal(workers.length, 2);
  listeners.get('door')!(null);
  assert.deepEqual(ended, ['the worker died', 'the camera is gone']);
  await whep.stop();
  assert.equal(await codeOf(whep.offer('door', 'v=0', '192.0.2.1', () => {})), 'whep_unavailable');
});

test('announced are the addresses that the machine has when somebody asks', async () => {
  const own = ['192.0.2.1'];
  const { watch, offered } = makeService(1, openFakeDoor, own);
  await watch('door');
  own[0] = '192.0.2.99';
  await watch('door');
  assert.deepEqual(
    offered.map(({ addresses }) => addresses),
    [['192.0.2.1'], ['192.0.2.99']],
  );
});

test('an address whose sessions are never connected is held off, and nobody else is', async () => {
  const { whep, watch, connect, ended } = makeService(1);
  const sessions: string[] = [];
  for (let i = 0; i < 50; i += 1) sessions.push((await watch('door')).sessionId);
  assert.equal(await codeOf(watch('door')), 'too_many_waiting');
  await watch('door', '192.0.2.2');
  connect(sessions[0]!);
  await watch('door');
  assert.equal(await codeOf(watch('door')), 'too_many_waiting');
  whep.end('door', sessions[1]!, 'left');
  await watch('door');
  // All of an IPv6 network may be one machine.
  for (let i = 0; i < 50; i += 1) await watch('door', `2001:db8:0:7::${i}`);
  assert.equal(await codeOf(watch('door', '2001:db8:0:7:ffff::1')), 'too_many_waiting');
  await watch('door', '2001:db8:0:8::1');
  assert.deepEqual(ended, ['left']);
  await whep.stop();
});

test('a machine that has no thread to spare turns nobody away for longer than that lasts', async () => {
  const { whep, watch, machine } = makeService(1);
  machine.hasThreads = false;
  for (let i = 0; i < 60; i += 1) assert.equal(await codeOf(watch('door')), 'Error: no thread');
  machine.hasThreads = true;
  await watch('door');
  await whep.stop();
});

test('when sessions of many addresses wait to be connected, the oldest goes', async () => {
  const { whep, watch, connect, ended } = makeService(1);
  const first = await watch('door', '198.51.100.1');
  const second = await watch('door', '198.51.100.2');
  connect(first.sessionId);
  for (let i = 0; i < 500; i += 1) await watch('door', `192.0.2.${i % 20}`);
  assert.deepEqual(ended, ['others waited for a connection, too']);
  assert.equal(whep.end('door', second.sessionId, 'left'), false);
  assert.equal(whep.end('door', first.sessionId, 'left'), true);
  await whep.stop();
});

test('the first check of an address goes to the worker that has the session', async () => {
  let onDatagram: (datagram: Buffer, from: Remote) => void = () => {};
  const { workers, whep, watch, offered } = makeService(2, async (_range, handle) => {
    onDatagram = handle;
    return { port: 50_000, close: () => {} };
  });
  for (let i = 0; i < 13; i += 1) await watch('door');
  const from = { address: '192.0.2.1', port: 4_000 };
  const check = (ufrag: string): Buffer => bindingRequest(`${ufrag}:viewer`, 'a password that is not ours');
  for (const [index, worker] of [
    [0, 0],
    [12, 1],
  ] as const) {
    const { iceUfrag, sessionId } = offered[index]!;
    const datagram = check(iceUfrag);
    onDatagram(datagram, from);
    const told = { type: 'check', sessionId, datagram: new Uint8Array(datagram), from };
    assert.deepEqual(workers[worker]!.told.splice(0), [told]);
  }
  const { iceUfrag, sessionId } = offered[0]!;
  whep.end('door', sessionId, 'left');
  workers[0]!.told.length = 0;
  for (const stranger of [
    check('nobody'),
    check(iceUfrag),
    check(offered[1]!.iceUfrag).subarray(1),
    Buffer.alloc(0),
  ])
    onDatagram(stranger, from);
  // A socket that were tied to no port would throw in the worker's face, and end all its viewers.
  onDatagram(check(offered[1]!.iceUfrag), { ...from, port: 0 });
  assert.deepEqual(
    workers.flatMap(({ told }) => told),
    [],
  );
  // A flood of checks for many sessions costs no more than half a check a millisecond.
  for (let i = 0; i < 2_000; i += 1) onDatagram(check(offered[1 + (i % 12)]!.iceUfrag), from);
  const checks = workers.flatMap(({ told }) => told.map(({ type }) => type));
  assert.deepEqual([new Set(checks), checks.length <= 498], [new Set(['check']), true]);
  await whep.stop();
});

test('who floods the port with checks of its own session keeps nobody else out', async () => {
  let onDatagram: (datagram: Buffer, from: Remote) => void = () => {};
  const { clock, workers, whep, watch, offered } = makeService(1, async (_range, handle) => {
    onDatagram = handle;
    return { port: 50_000, close: () => {} };
  });
  await watch('door');
  await watch('door');
  const [hostile, other] = offered.map(({ iceUfrag }) =>
    bindingRequest(`${iceUfrag}:viewer`, 'some password'),
  );
  const from = { address: '192.0.2.1', port: 4_000 };
  const flood = (): void => {
    for (let port = 1_024; port < 11_024; port += 1) onDatagram(hostile!, { ...from, port });
  };
  const heard = (): number => workers[0]!.told.splice(0).filter(({ type }) => type === 'check').length;
  flood();
  assert.ok(heard() <= 50);
  // A browser with eight addresses asks from each a few times, until a socket is tied to it.
  for (let i = 0; i < 40; i += 1) onDatagram(other!, { ...from, port: 1 + (i % 8) });
  assert.equal(heard(), 40);
  // Nor is the one that flooded shut out for good.
  clock.advance(1_000);
  onDatagram(hostile!, from);
  assert.equal(heard(), 1);
  await whep.stop();
});

test('where all ports are taken, that is found once in five seconds, not by each who asks', async () => {
  let tries = 0;
  let isTaken = true;
  const { clock, whep, watch } = makeService(1, async () => {
    tries += 1;
    return isTaken ? null : { port: 50_000, close: () => {} };
  });
  for (let i = 0; i < 20; i += 1) assert.equal(await codeOf(watch('door')), 'no_free_port');
  assert.equal(tries, 1);
  isTaken = false;
  clock.advance(5_001);
  await watch('door');
  assert.equal(tries, 2);
  await whep.stop();
});

test('an offer to a camera on demand wakes it, and is answered when it can be described, sound and all', async () => {
  const { clock, listeners, whep, workers, answerAll, woken } = makeService(1);
  const offer = () => whep.offer('sim', 'v=0', '192.0.2.1', () => {});
  const offers = [offer(), offer()];
  await turn();
  const show = listeners.get('sim')!;
  const { writer } = makeRing();
  const bell = new SharedArrayBuffer(128);
  const heard = (): number =>
    workers.flatMap(({ told }) => told).filter(({ type }) => type === 'offer').length;
  clock.advance(3_000);
  woken.set('sim', { ring: writer.ring, bell });
  show({ ring: writer.ring, bell });
  writer.setStreamInfo(streamInfo(1), true);
  clock.advance(1_000);
  assert.equal(heard(), 0, 'there is no picture');
  writeFrame(writer, nalOf(0, 600), { dts: 0, flags: KEY });
  clock.advance(100);
  await turn();
  assert.equal(heard(), 0, 'there may be sound');
  writer.setStreamInfo(streamInfo(1));
  clock.advance(100);
  // The feed is followed anew by the worker that answers.
  const answered = Promise.all(offers);
  await until('both are offered', () => heard() === 2);
  answerAll();
  assert.equal((await answered).length, 2);
  await whep.stop();
});

test('who gets no picture of a camera on demand in 10 s is told to come back; so is who waits when the service stops', async () => {
  const { clock, listeners, whep, workers } = makeService(1);
  const first = codeOf(whep.offer('sim', 'v=0', '192.0.2.1', () => {}));
  await turn();
  assert.equal(listeners.has('sim'), true);
  clock.advance(10_000);
  assert.equal(await first, 'no_picture');
  assert.equal(listeners.has('sim'), false, 'nobody wants it any more');
  assert.equal(workers.flatMap(({ told }) => told).filter(({ type }) => type === 'offer').length, 0);
  const second = codeOf(whep.offer('sim', 'v=0', '192.0.2.1', () => {}));
  await turn();
  await whep.stop();
  assert.equal(await second, 'whep_unavailable');
  assert.equal(clock.pendingTimers, 0);
});
