import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DetectedCamera, Detecting } from '../../src/detect/detecting.js';
import { Detections } from '../../src/detect/detections.js';
import type { DetectEngine } from '../../src/detect/engine-process.js';
import type { DetectJob, DetectOutcome } from '../../src/detect/messages.js';
import { whatCounts, type Zone } from '../../src/detect/what-counts.js';
import type { SeenObject } from '../../src/objects/seen-object.js';
import { logLines } from '../archive/log-lines.js';
import { TestCamera } from '../live/test-camera.js';
import { FakeClock } from '../support/fake-clock.js';
import { streamInfo } from '../support/ring.js';

const FRAME_BYTES = 600;

/** An engine that answers when the test says so. */
class HeldEngine implements DetectEngine {
  readonly decoderRestarts = 0;
  readonly asked: { readonly frame: number; readonly answer: (outcome: DetectOutcome) => void }[] = [];

  detect({ annexB }: DetectJob): Promise<DetectOutcome> {
    const frame = Buffer.from(annexB).readInt32LE(annexB.length - FRAME_BYTES);
    return new Promise((answer) => this.asked.push({ frame, answer }));
  }

  async stop(): Promise<void> {}
}

const person: SeenObject = { label: 'person', score: 0.9, box: [0.4, 0.4, 0.2, 0.2] };
const saw = (...objects: SeenObject[]): DetectOutcome => ({ objects, decodeMs: 10, inferMs: 20 });
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const setUp = (ids: readonly string[], modelPath: (() => Promise<string>) | null = async () => 'a.onnx') => {
  const clock = new FakeClock();
  const { log, lines } = logLines();
  const cameras = new Map(ids.map((id) => [id, new TestCamera()]));
  // Pictures are of the time at which they are written: `writeFrame` dates them a second after they arrive.
  for (const camera of cameras.values()) camera.arrivalMs = () => clock.wallMs() - 1_000;
  const engine = new HeldEngine();
  const detections = new Detections();
  const follow: ConstructorParameters<typeof Detecting>[0]['feeds']['follow'] = (key, listener) => {
    assert.match(key, /\/sub$/, 'the smaller stream, if there is one');
    return cameras.get(key.slice(0, -4))!.follow(listener);
  };
  const detecting = new Detecting({ clock, log, feeds: { follow }, engine, detections, modelPath });
  const all = (): DetectedCamera[] => ids.map((cameraId) => ({ cameraId, rules: {} }));
  detecting.set(all());
  /** All send a keyframe, and a tenth of a second goes by. */
  const tick = async (milliseconds = 100): Promise<void> => {
    for (const camera of cameras.values()) camera.write(true, FRAME_BYTES);
    clock.advance(milliseconds);
    await settled();
  };
  return { clock, lines, cameras, engine, detections, detecting, all, tick };
};

test('one picture a second of each camera, the newest; cameras wait for their turn, pictures never do', async () => {
  const { engine, detecting, detections, tick } = setUp(['a', 'b', 'c']);
  await tick();
  assert.deepEqual(
    engine.asked.map(({ frame }) => frame),
    [0, 0],
    'two at a time',
  );
  for (let tenths = 1; tenths < 31; tenths++) await tick();
  assert.equal(engine.asked.length, 2);
  assert.deepEqual([detecting.figures.waiting, detecting.figures.dropped > 0], [3, true]);
  const { dropped } = detecting.figures;
  engine.asked[0]!.answer(saw(person));
  await settled();
  await settled();
  assert.equal(engine.asked.at(-1)?.frame, 30, 'its newest, though it has waited for long');
  assert.equal(detections.between('a', 0, Number.POSITIVE_INFINITY).length, 1);
  const { looked, inferSec, byLabel } = detecting.figures;
  assert.deepEqual([looked, inferSec, byLabel.get('person')], [1, 0.02, 1]);
  assert.equal(detecting.figures.dropped, dropped);
  const { taken, known } = detecting.figures.ages;
  const count = (counts: readonly number[]): number => counts.reduce((sum, one) => sum + one, 0);
  assert.deepEqual([count(taken.counts), count(known.counts)], [3, 1]);
  assert.ok(taken.sum < 0.5, 'one that waited for long takes a picture that is no older than others');
  assert.ok(known.sum > 3, 'what is known late is known of an old picture');
  detecting.stop();
});

test('whoever is to be looked at no more is let go of, and what comes of it then is nobody’s', async () => {
  const { engine, detecting, detections, cameras, tick } = setUp(['a', 'b']);
  await tick();
  assert.deepEqual([cameras.get('a')?.followers, cameras.get('b')?.followers], [1, 1]);
  detecting.set([{ cameraId: 'b', rules: { labels: ['car'] } }]);
  assert.equal(cameras.get('a')?.followers, 0);
  for (const { answer } of engine.asked) answer(saw(person));
  await settled();
  assert.equal(detections.between('a', 0, 1e15).length, 0);
  assert.deepEqual(detections.between('b', 0, 1e15)[0]?.objects, [], 'by the rules of now');
  detecting.set([]);
  await tick(5_000);
  assert.equal(engine.asked.length, 2);
});

test('what is wrong is said of the cameras that it is about, once in the log, and tried again', async () => {
  const { engine, detecting, detections, lines, tick } = setUp(['a', 'b']);
  await tick();
  engine.asked[0]!.answer({ fault: 'undecodable', detail: 'broken' });
  engine.asked[1]!.answer(saw());
  await settled();
  assert.match(detections.errorOf('a'), /can't be decoded/);
  assert.deepEqual([detections.errorOf('b'), detections.errorOf('elsewhere')], ['', '']);
  for (let tenths = 0; tenths < 50; tenths++) await tick();
  assert.equal(engine.asked.length, 3, 'only the good one, which has no answer yet');
  engine.asked[2]!.answer({ fault: 'ffmpeg_missing', detail: 'ENOENT' });
  await settled();
  assert.match(detections.errorOf('b'), /FFMPEG_PATH/);
  for (let tenths = 0; tenths < 290; tenths++) await tick();
  assert.equal(engine.asked.length, 3);
  for (let tenths = 0; tenths < 20; tenths++) await tick();
  assert.equal(engine.asked.length, 5);
  engine.asked[3]!.answer(saw());
  engine.asked[4]!.answer(saw());
  await settled();
  assert.deepEqual([detections.errorOf('a'), detections.errorOf('b')], ['', '']);
  assert.equal(lines.length, 2);
  detecting.stop();
});

test('without a model nobody is connected for nothing, and it is said', async () => {
  const { cameras, detecting, detections, engine, tick } = setUp(['a'], null);
  await tick();
  assert.deepEqual([cameras.get('a')?.followers, engine.asked.length], [0, 0]);
  assert.match(detections.errorOf('a'), /DETECT_MODEL/);
  detecting.stop();
  const missing = setUp(['a'], () => Promise.reject(new Error('there is no such model file')));
  await missing.tick();
  await settled();
  assert.match(missing.detections.errorOf('a'), /no such model file/);
  missing.detecting.stop();
});

test('a camera whose pictures can not be looked at says why, and is looked at when they can', async () => {
  const { cameras, engine, detecting, detections, tick } = setUp(['a']);
  const { writer } = cameras.get('a')!;
  const info = streamInfo(1);
  writer.setStreamInfo({ ...info, video: { ...info.video, width: 0, height: 0 } });
  await tick();
  assert.equal(engine.asked.length, 0);
  assert.match(detections.errorOf('a'), /size of its pictures isn't known/);
  writer.setStreamInfo(info);
  await tick(1_000);
  engine.asked[0]!.answer(saw(person));
  await settled();
  assert.equal(detections.errorOf('a'), '');
  cameras.get('a')!.write(true, 9_000_000);
  await tick(0);
  detecting.stop();
});

test('what counts: labels, scores, sizes, and where something stands', () => {
  const at = (x: number, y: number, label = 'person', score = 0.9): SeenObject => ({
    ...{ label, score, box: [x - 0.1, y - 0.2, 0.2, 0.2] },
  });
  const square = (name: string, kind: Zone['kind'], from: number, to: number): Zone => ({
    ...{ name, kind },
    points: [
      [from, from],
      [to, from],
      [to, to],
      [from, to],
    ],
  });
  const seen = [at(0.25, 0.25), at(0.75, 0.75), at(0.25, 0.75, 'car'), at(0.75, 0.25, 'car', 0.3)];
  const count = (rules: Parameters<typeof whatCounts>[1]): string =>
    whatCounts(seen, rules)
      .map(({ box, zone }) => `${seen.findIndex((object) => object.box === box)}${zone}`)
      .join(' ');
  assert.equal(count({}), '0 1 2 3');
  assert.equal(count({ labels: ['car'], min_score: 0.5 }), '2');
  assert.equal(count({ labels: [] }), '0 1 2 3');
  assert.equal(count({ min_size: 0.05 }), '');
  assert.equal(count({ zones: [square('gate', 'include', 0.5, 1)] }), '1gate');
  assert.equal(count({ zones: [square('street', 'exclude', 0, 0.5)] }), '1 2 3');
  const both = [square('all', 'include', 0, 1), square('street', 'exclude', 0.5, 1)];
  assert.equal(count({ zones: both }), '0all 2all 3all');
  const arrow: Zone = {
    name: 'v',
    kind: 'include',
    points: [
      [0, 0],
      [0.5, 0.9],
      [1, 0],
      [1, 1],
      [0, 1],
    ],
  };
  assert.equal(count({ zones: [arrow] }), '1v 2v', 'a corner may point inwards');
});
