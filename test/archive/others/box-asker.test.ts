import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { sidecarObject } from '../../../src/archive/offsite/object-name.js';
import { BoxAsker } from '../../../src/archive/others/box-asker.js';
import { boxObject, parseBoxObject } from '../../../src/archive/others/box-object.js';
import type { BoxAddress, FromAsker } from '../../../src/archive/others/messages.js';
import { AppError } from '../../../src/base/errors.js';
import { FakeClock } from '../../support/fake-clock.js';
import { until } from '../../support/until.js';

const CONTENT = randomBytes(1 << 20);
const FILE = '2026-11-21_08-30-00_to_09-30-00.mp4';
const stamp = { ino: 2 ** 60, sizeBytes: CONTENT.length, mtimeMs: 1_795_249_800_250.125, ctimeMs: 5 };
const address: BoxAddress = { box: 'box-1', host: '127.0.0.1', port: 7440 };

const setUp = () => {
  const clock = new FakeClock();
  const asked: Record<string, unknown>[] = [];
  const told: FromAsker[] = [];
  const state: { fault: Error | null } = { fault: null };
  const asker = new BoxAsker(
    {
      ask: async (to, question, { maxBytes }) => {
        assert.deepEqual(to, address);
        asked.push(question);
        if (state.fault !== null) throw state.fault;
        const { startByte = 0, endByte = 0 } = question as { startByte?: number; endByte?: number };
        assert.ok(endByte - startByte <= maxBytes);
        return { content: { is: 'there' }, bytes: CONTENT.subarray(startByte, endByte) };
      },
    },
    { clock, send: (message) => told.push(message) },
  );
  const read = (startByte: number, endByte: number, object = boxObject('door', FILE, stamp), box = 'box-1') =>
    asker.read({ object: `${box}/${object}`, objectBytes: CONTENT.length, startByte, endByte });
  return { asker, asked, clock, read, state, told };
};

test('a job reads what a box has, small pieces in blocks; of one that is away it is told so at once', async () => {
  const { asker, asked, read } = setUp();
  assert.equal((await read(0, 10)).outcome, 'away');
  asker.handle({ type: 'boxes', boxes: [address] });
  assert.ok((await read(5, 15)).bytes?.equals(CONTENT.subarray(5, 15)));
  assert.ok((await read(100, 200)).bytes?.equals(CONTENT.subarray(100, 200)));
  const { what, cameraId, fileName, isSidecar, endByte, ...rest } = asked[0]!;
  assert.deepEqual([what, cameraId, fileName, isSidecar, endByte], ['read', 'door', FILE, false, 65_536]);
  assert.deepEqual(rest['stamp'], stamp, 'to the last bit');
  assert.equal(asked.length, 1);
  assert.equal((await read(0, 10, undefined, 'box-2')).outcome, 'away');
  asker.handle({ type: 'boxes', boxes: [] });
  assert.equal(
    (await read(5, 15)).outcome,
    'away',
    'also what is in mind: another start of it may have other files',
  );
});

test('what a box says of one recording says nothing of others; its silence does, for a while', async () => {
  const { asker, asked, clock, read, state, told } = setUp();
  asker.handle({ type: 'boxes', boxes: [address] });
  for (const [code, outcome] of [
    ['not_found', 'gone'],
    ['recording_changed', 'changed'],
    ['archive_busy', 'away'],
    ['relay_slow', 'away'],
  ] as const) {
    state.fault = new AppError(code, 'no');
    assert.equal((await read(0, 10)).outcome, outcome, code);
  }
  assert.deepEqual(told, [
    { type: 'stale', box: 'box-1', cameraId: 'door' },
    { type: 'stale', box: 'box-1', cameraId: 'door' },
  ]);
  assert.equal(asked.length, 4);
  state.fault = new AppError('relay_unreachable', 'no');
  assert.equal((await read(0, 10)).outcome, 'away');
  state.fault = null;
  assert.equal((await read(0, 10)).outcome, 'away');
  assert.equal(asked.length, 5, 'nobody waits for it');
  clock.advance(5_000);
  assert.equal((await read(0, 10)).outcome, 'read');
});

test('the main thread is answered, too, or told why not', async () => {
  const { asker, state, told } = setUp();
  const ask = (id: number) =>
    asker.handle({
      type: 'ask',
      id,
      box: 'box-1',
      question: {},
      limits: { withinMs: 1, inAllMs: 1, maxBytes: 0 },
    });
  ask(1);
  asker.handle({ type: 'boxes', boxes: [address] });
  ask(2);
  state.fault = new AppError('archive_busy', 'later');
  ask(3);
  await until('all are answered', () => told.length === 3);
  const answers = told.flatMap((one) =>
    one.type === 'answer' ? [[one.id, one.fault?.code, one.content]] : [],
  );
  assert.deepEqual(answers.sort(), [
    [1, 'relay_unreachable', {}],
    [2, undefined, { is: 'there' }],
    [3, 'archive_busy', {}],
  ]);
});

test('an object names a file and what is known of it, or what was seen in it, and nothing else', () => {
  const object = boxObject('door', FILE, stamp);
  assert.deepEqual(parseBoxObject(object), { cameraId: 'door', fileName: FILE, stamp, isSidecar: false });
  assert.equal(parseBoxObject(sidecarObject(object))?.isSidecar, true);
  for (const bad of [
    '',
    'a/b',
    object.replace('door', '..'),
    object.replace(FILE, 'x.mp4'),
    `${object}/more`,
  ])
    assert.equal(parseBoxObject(bad), null, bad);
});
