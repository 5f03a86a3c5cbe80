import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.js';
import { createLogger } from '../../../src/base/log.js';
import type { CameraFeed } from '../../../src/live/feeds.js';
import type { ToWhepWorker } from '../../../src/live/whep/messages.js';
import { WhepService } from '../../../src/live/whep/service.js';
import type { WhepWorkerEvents } from '../../../src/live/whep/worker-thread.js';
import { FakeClock } from '../../support/fake-clock.js';

type Hired = { readonly told: ToWhepWorker[]; readonly events: WhepWorkerEvents; isStopped: boolean };

/** A service whose workers are lists of what they were told. */
const makeService = (workerCount = 2) => {
  const clock = new FakeClock();
  const workers: Hired[] = [];
  const listeners = new Map<string, (feed: CameraFeed | null) => void>();
  const feed: CameraFeed = { ring: new SharedArrayBuffer(8), bell: new SharedArrayBuffer(8) };
  const whep = new WhepService(
    { workerCount, udpPorts: { first: 1, last: 2 }, addresses: () => ['127.0.0.1'] },
    {
      clock,
      log: createLogger(() => {}),
      onChange: () => {},
      threads: { add: () => () => {} },
      feeds: {
        follow: (cameraId, listener) => {
          listeners.set(cameraId, listener);
          listener(cameraId === 'dark' ? null : feed);
          return () => void listeners.delete(cameraId);
        },
      },
      spawn: (_name, _options, events) => {
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
  /** Answers everything that was offered. */
  const answerAll = (): void => {
    for (const { told, events } of workers) {
      for (const message of told.splice(0)) {
        if (message.type !== 'offer') continue;
        events.onMessage({ type: 'answer', sessionId: message.sessionId, sdp: 'v=0' });
      }
    }
  };
  const ended: string[] = [];
  const watch = async (cameraId: string) => {
    const offered = whep.offer(cameraId, 'v=0', (reason) => ended.push(reason));
    answerAll();
    return await offered;
  };
  return { clock, workers, listeners, whep, watch, ended };
};

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
  const { workers, whep, watch } = makeService();
  for (let i = 0; i < 12; i += 1) await watch('door');
  assert.equal(workers.length, 1);
  for (let i = 0; i < 12; i += 1) await watch(i % 2 === 0 ? 'door' : 'yard');
  assert.equal(workers.length, 2);
  for (let i = 0; i < 4; i += 1) await watch('door');
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
  assert.equal(await codeOf(whep.offer('dark', 'v=0', () => {})), 'no_picture');
  const late = codeOf(whep.offer('door', 'v=0', () => {}));
  clock.advance(8_000);
  assert.equal(await late, 'whep_unavailable');
  const refused = codeOf(whep.offer('door', 'v=0', () => {}));
  const offer = workers[0]!.told.findLast((message) => message.type === 'offer');
  const { sessionId } = offer as { sessionId: string };
  workers[0]!.events.onMessage({ type: 'refused', sessionId, code: 'b_frames', message: 'B' });
  assert.equal(await refused, 'b_frames');
  await watch('door');
  const pending = codeOf(whep.offer('door', 'v=0', () => {}));
  workers[0]!.events.onLost('exit code 1');
  assert.equal(await pending, 'whep_unavailable');
  assert.deepEqual([ended, whep.viewers('door')], [['the worker died'], 0]);
  await watch('door');
  assert.equal(workers.length, 2);
  listeners.get('door')!(null);
  assert.deepEqual(ended, ['the worker died', 'the camera is gone']);
  await whep.stop();
  assert.equal(await codeOf(whep.offer('door', 'v=0', () => {})), 'whep_unavailable');
});
