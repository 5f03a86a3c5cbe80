import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TakenKeyframe } from '../../src/detect/newest-keyframe.js';
import { Passages } from '../../src/detect/passages.js';
import type { Box } from '../../src/objects/seen-object.js';
import { FakeClock } from '../support/fake-clock.js';

type Seen = {
  readonly label?: string;
  readonly score?: number;
  readonly at: readonly [x: number, y: number];
  readonly trackId?: string;
};

const setUp = () => {
  const clock = new FakeClock();
  const startMs = clock.wallMs();
  const log: string[] = [];
  const sec = (ms: number): number => (ms - startMs) / 1_000;
  let lastId = 0;
  const passages = new Passages({
    clock,
    log: {
      begin: ({ cameraId, label, score, fromMs, zone }) => {
        log.push(`${++lastId} begins ${cameraId} ${label} ${score} ${sec(fromMs)} ${zone}`.trim());
        return lastId;
      },
      end: (id, score, toMs) => void log.push(`${id} ends ${score} ${sec(toMs)}`),
      picture: (id, { wallMs }, [x]) => void log.push(`${id} picture of ${sec(wallMs)} at ${x}`),
    },
  });
  /** A second later this is seen; null: and there is no keyframe. */
  const see = (cameraId: string, ...told: (Seen | null)[]): void => {
    const objects = told.filter((one) => one !== null);
    clock.advance(1_000);
    passages.tick();
    const wallMs = clock.wallMs();
    const job = {
      codec: 'h264',
      width: 640,
      height: 360,
      reorders: false,
      annexB: Buffer.alloc(1_000),
    } as const;
    const keyframe: TakenKeyframe = { job, wallMs };
    const counted = objects.map(({ label = 'person', score = 0.5, at: [x, y], trackId = '' }) => {
      const box: Box = [x, y, 0.1, 0.2];
      return { label, score, box, trackId, zone: x > 0.5 ? 'right' : '' };
    });
    passages.onSeen(
      cameraId,
      { wallMs, source: 'model', objects: counted },
      told.includes(null) ? null : keyframe,
    );
  };
  return { clock, passages, log, see };
};

test('an object is one event for as long as it is seen, with the picture that shows it best', () => {
  const { log, passages, see } = setUp();
  see('a', { at: [0.1, 0.1] });
  assert.deepEqual(log, [], 'once may be nothing');
  see('a', { at: [0.18, 0.1], score: 0.7 });
  assert.deepEqual(log.splice(0), ['1 begins a person 0.7 1', '1 picture of 2 at 0.18']);
  see('a', { at: [0.3, 0.12], score: 0.6 });
  see('a');
  see('a', { at: [0.42, 0.12], score: 0.9 });
  for (let second = 0; second < 10; second++) see('a');
  assert.deepEqual(log, []);
  see('a');
  assert.deepEqual(log, ['1 ends 0.9 5', '1 picture of 5 at 0.42']);
  assert.equal(passages.count, 0);
});

test('objects are told apart by label, place and camera, and leaves in the wind are none', () => {
  const { log, see } = setUp();
  for (let step = 0; step < 4; step++) {
    const x = 0.1 + step * 0.1;
    see('a', { at: [x, 0.1] }, { at: [0.8 - step * 0.1, 0.7] }, { at: [x, 0.1], label: 'dog' });
    see('b', { at: [x, 0.1] }, ...(step === 2 ? [{ at: [0.9, 0.7] as const, label: 'bird' }] : []));
  }
  assert.deepEqual(
    log.filter((line) => line.includes('begins')).map((line) => line.slice(2)),
    ['begins a person 0.5 1', 'begins a person 0.5 1 right', 'begins a dog 0.5 1', 'begins b person 0.5 2'],
  );
});

test('a camera that is away, or a service that ends, leaves nothing open; a clock that is set begins anew', () => {
  const { clock, log, passages, see } = setUp();
  see('a', { at: [0.1, 0.1] });
  see('a', { at: [0.1, 0.1] });
  clock.advance(9_999);
  passages.tick();
  assert.ok(!log.includes('1 ends 0.5 2'));
  clock.advance(1);
  passages.tick();
  assert.ok(log.includes('1 ends 0.5 2'));
  see('a', { at: [0.1, 0.1] });
  see('a', { at: [0.1, 0.1] });
  clock.setWall(clock.wallMs() - 3_600_000);
  see('a', { at: [0.1, 0.1] });
  assert.ok(log.includes('2 ends 0.5 14'));
  see('a', { at: [0.1, 0.1] });
  passages.stop();
  assert.equal(log.filter((line) => line.startsWith('3 ')).length, 3);
  assert.equal(passages.count, 0);
  // Cameras go on until they are stopped, too: what begins then is the next service's.
  see('a', { at: [0.1, 0.1] });
  see('a', { at: [0.1, 0.1] });
  assert.equal(log.filter((line) => line.startsWith('4 ')).length, 0);
});

test('where keyframes come only now and then the first of them is shown at once', () => {
  const { log, see } = setUp();
  const at = [0.1, 0.1] as const;
  see('a', null, { at });
  see('a', null, { at });
  assert.deepEqual(log.splice(0), ['1 begins a person 0.5 1']);
  see('a', { at });
  assert.deepEqual(log.splice(0), ['1 picture of 3 at 0.1']);
  see('a', { at, score: 0.9 });
  assert.deepEqual(log.splice(0), [], 'a better one is shown in the end');
});

test('a camera that calls what stands there otherwise each time makes one event of it', () => {
  const { log, see } = setUp();
  for (let times = 0; times < 5; times += 1) see('a', { at: [0.1, 0.1], trackId: String(times) });
  assert.deepEqual(
    log.filter((line) => line.includes('begins')),
    ['1 begins a person 0.5 1'],
  );
});

test('an object is what its camera calls it, however it jumps, and two that cross stay two', () => {
  const { clock, passages, log, see } = setUp();
  see('a', { at: [0.1, 0.1], trackId: '1' }, { at: [0.4, 0.1], trackId: '2' });
  see('a', { at: [0.8, 0.8], trackId: '1' }, { at: [0.1, 0.1], trackId: '2' });
  see('a', { at: [0.4, 0.1], trackId: '1' }, { at: [0.8, 0.8], trackId: '2' });
  see('a', { at: [0.4, 0.1] }, { at: [0.8, 0.8] });
  assert.deepEqual(
    log.filter((line) => line.includes('begins')),
    ['1 begins a person 0.5 1 right', '2 begins a person 0.5 1'],
  );
  clock.advance(20_000);
  passages.tick();
  assert.deepEqual(
    log.filter((line) => line.includes('ends')),
    ['1 ends 0.5 4', '2 ends 0.5 4'],
  );
});
