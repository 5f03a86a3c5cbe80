import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FileProgress } from '../../src/archive/files/file-progress.js';
import { RootState } from '../../src/archive/root-state.js';
import { RecordingDesk } from '../../src/archive/write/recording-desk.js';
import { createLogger } from '../../src/base/log.js';
import { FakeClock } from '../support/fake-clock.js';

const makeDesk = () => {
  const recovered: string[] = [];
  const clock = new FakeClock();
  const desk: RecordingDesk = new RecordingDesk(
    { archiveDir: '/nowhere', fileSeconds: 60, root: new RootState().memory },
    {
      ...{ clock, log: createLogger(() => {}) },
      recover: (cameraId, fileName) => {
        assert.equal(desk.isLive(cameraId, fileName), false, 'what is live is never repaired');
        recovered.push(`${cameraId}/${fileName}`);
      },
      onRefused: () => {},
    },
  );
  desk.openWorker('worker-1');
  desk.openWorker('worker-2');
  return { clock, desk, recovered };
};

test('all that a dead worker had open is recovered, be it the end of a file or of a camera that left', () => {
  const { desk, recovered } = makeDesk();
  for (const name of ['1', '2', '3']) desk.onFile('worker-1', 'door', name, 'made');
  desk.onFile('worker-2', 'door', '4', 'made');
  desk.onFile('worker-1', 'door', '1', 'closed');
  desk.onNews('door', { fileName: '3', fault: null });
  desk.closeWorker('worker-1');
  desk.onWorkerLost('door');
  assert.deepEqual(recovered, ['door/2', 'door/3']);
  assert.equal(desk.isRecording('door'), false);
  assert.ok(desk.isLive('door', '4'));
  desk.closeWorker('worker-2');
  desk.closeWorker('worker-2');
  assert.deepEqual(recovered, ['door/2', 'door/3', 'door/4']);
});

test('a file that could not be closed is recovered, though no news of the next one came yet', () => {
  const { desk, recovered } = makeDesk();
  desk.onFile('worker-1', 'door', '1', 'made');
  desk.onNews('door', { fileName: '1', fault: null });
  desk.onFile('worker-1', 'door', '1', 'left');
  assert.deepEqual(recovered, ['door/1']);
});

test('a name that is used again before its file is told to be closed stays live', () => {
  const { desk } = makeDesk();
  desk.onFile('worker-1', 'door', '1', 'made');
  desk.onFile('worker-1', 'door', '1', 'made');
  desk.onFile('worker-1', 'door', '1', 'closed');
  assert.ok(desk.isLive('door', '1'));
  desk.onFile('worker-1', 'door', '1', 'closed');
  assert.equal(desk.isLive('door', '1'), false);
});

test('how far a file is can be asked for as long as its recorder has it', () => {
  const { desk } = makeDesk();
  const [before, after] = [new FileProgress(), new FileProgress()];
  before.set(4_000, 1_000_000.125);
  desk.onFile('worker-1', 'door', '1', 'made', before.memory);
  assert.equal(desk.progressOf('door', '1')?.wholeBytes, 4_000);
  assert.equal(desk.progressOf('door', '1')?.endMs, 1_000_000.125);
  // The camera moved, and began another file within the same second.
  desk.onFile('worker-2', 'door', '1', 'made', after.memory);
  after.set(900, 1_000_500);
  desk.onFile('worker-1', 'door', '1', 'closed');
  assert.equal(desk.progressOf('door', '1')?.wholeBytes, 900);
  assert.equal(desk.progressOf('gate', '1'), null);
  desk.closeWorker('worker-2');
  assert.equal(desk.progressOf('door', '1'), null, 'whoever wrote it is dead');
});

test('what is recorded stays on the disk while one file follows the other', () => {
  const { desk } = makeDesk();
  const first = new FileProgress();
  desk.onFile('worker-1', 'door', '1', 'made', first.memory);
  desk.onNews('door', { fileName: '1', fault: null });
  assert.equal(desk.writtenMs('door'), null, 'not a picture is there yet');
  first.set(4_000, 1_000_000);
  assert.notEqual(desk.writtenMs('door'), null);
  // The old one is closed before the new one is begun, or after it; each begins without a picture.
  desk.onFile('worker-1', 'door', '1', 'closed');
  assert.notEqual(desk.writtenMs('door'), null);
  const second = new FileProgress();
  desk.onFile('worker-1', 'door', '2', 'made', second.memory);
  desk.onNews('door', { fileName: '2', fault: null });
  assert.notEqual(desk.writtenMs('door'), null);
  second.set(900, 1_000_500);
  desk.onFile('worker-1', 'door', '3', 'made', new FileProgress().memory);
  desk.onNews('door', { fileName: '3', fault: null });
  desk.onFile('worker-1', 'door', '2', 'closed');
  assert.notEqual(desk.writtenMs('door'), null);
});

for (const [what, end] of [
  ['the camera is away', (desk) => desk.onNews('door', { fileName: null, fault: null })],
  ['the disk refuses', (desk) => desk.onNews('door', { fileName: null, fault: 'ENOSPC' })],
  ['its writer dies', (desk) => desk.onWorkerLost('door')],
] as [string, (desk: RecordingDesk) => void][])
  test(`what is on the disk begins anew when ${what}`, () => {
    const { desk } = makeDesk();
    const progress = new FileProgress();
    progress.set(4_000, 1_000_000);
    desk.onFile('worker-1', 'door', '1', 'made', progress.memory);
    desk.onNews('door', { fileName: '1', fault: null });
    desk.onFile('worker-1', 'door', '1', 'closed');
    assert.notEqual(desk.writtenMs('door'), null);
    end(desk);
    assert.equal(desk.writtenMs('door'), null);
    desk.onFile('worker-2', 'door', '2', 'made', new FileProgress().memory);
    desk.onNews('door', { fileName: '2', fault: null });
    assert.equal(desk.writtenMs('door'), null);
  });

test('where the disk took no more of a file, what follows is on it when it is', () => {
  const { desk } = makeDesk();
  for (const [name, state] of [
    ['1', 'closed'],
    ['2', 'left'],
  ] as const) {
    const progress = new FileProgress();
    desk.onFile('worker-1', 'door', name, 'made', progress.memory);
    desk.onNews('door', { fileName: name, fault: null });
    progress.set(4_000, 1_000_000);
    desk.onFile('worker-1', 'door', name, state);
    assert.equal(desk.writtenMs('door') !== null, state === 'closed');
  }
  const after = new FileProgress();
  desk.onFile('worker-1', 'door', '3', 'made', after.memory);
  desk.onNews('door', { fileName: '3', fault: null });
  assert.equal(desk.writtenMs('door'), null);
  after.set(900, 1_000_500);
  assert.notEqual(desk.writtenMs('door'), null);
});

test('lost frames never grow fewer while the camera is known', () => {
  const { desk } = makeDesk();
  desk.onLost('door', 3);
  desk.onNews('door', { fileName: '1', fault: null });
  desk.onLost('door', 4);
  desk.onNews('door', { fileName: null, fault: 'ENOSPC' });
  assert.equal(desk.whyNot('door'), 'disk');
  desk.closeWorker('worker-1');
  desk.onWorkerLost('door');
  assert.equal(desk.lostFrames('door'), 7);
  desk.forget('door');
  assert.equal(desk.lostFrames('door'), 0);
});

test('why the disk refused is told until it took all for a minute, of the camera that it is about', () => {
  const { clock, desk } = makeDesk();
  const fault = 'the disk is full';
  desk.onNews('door', { fileName: '1', fault: null });
  assert.deepEqual([desk.errorOf('door'), desk.recentFault], ['', null]);
  for (let round = 0; round < 5; round += 1) {
    desk.onNews('door', { fileName: null, fault });
    clock.advance(round === 0 ? 600_000 : 1_000);
    assert.equal(desk.errorOf('door'), fault, 'as long as it refuses');
    desk.onNews('door', { fileName: `${round}`, fault: null });
    assert.equal(desk.fault, null);
    clock.advance(59_000);
    assert.deepEqual([desk.errorOf('door'), desk.errorOf('yard'), desk.recentFault], [fault, '', fault]);
  }
  clock.advance(1_000);
  assert.deepEqual([desk.errorOf('door'), desk.recentFault], ['', null]);
  desk.onNews('door', { fileName: null, fault });
  desk.forget('door');
  assert.deepEqual([desk.errorOf('door'), desk.recentFault], ['', null]);
});

test('a disk that hangs, and so tells nothing, takes nothing from then on', () => {
  const { clock, desk } = makeDesk();
  const progress = new FileProgress();
  desk.onFile('worker-1', 'door', '1', 'made', progress.memory);
  desk.onNews('door', { fileName: '1', fault: null });
  progress.set(4_000, 1_000_000);
  const writtenMs = clock.monotonicMs();
  assert.equal(desk.writtenMs('door'), writtenMs);
  clock.advance(3_000);
  assert.equal(desk.writtenMs('door'), writtenMs);
  progress.set(5_000, 1_001_000);
  assert.equal(desk.writtenMs('door'), writtenMs + 3_000);
  clock.advance(1_000);
  // The next file is begun, and nothing is in it yet.
  desk.onFile('worker-1', 'door', '2', 'made', new FileProgress().memory);
  desk.onNews('door', { fileName: '2', fault: null });
  desk.onFile('worker-1', 'door', '1', 'closed');
  clock.advance(60_000);
  assert.equal(desk.writtenMs('door'), writtenMs + 3_000);
});
