import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../../support/fake-clock.js';
import { until } from '../../support/until.js';
import type { WhepClient } from '../../support/whep-client.js';
import { framesOf, parsed } from './collect.js';
import { type TestCamera, WhepHarness } from './harness.js';

const FRAME_MS = 200;
const FRAME_TICKS = FRAME_MS * 90;
const FRAMES_PER_GOP = 10;

/** A camera of 5 frames a second with a keyframe every 2 s, and a viewer of it that says each second what it got, as RTP receivers do. */
class Scene implements Disposable {
  readonly clock: FakeClock;
  readonly whep: WhepHarness;
  readonly camera: TestCamera;
  client!: WhepClient;
  /** Said in the next reports, in 1/256. */
  fractionLost = 0;
  reports = true;

  private constructor(clock: FakeClock, whep: WhepHarness) {
    this.clock = clock;
    this.whep = whep;
    this.camera = whep.addCamera();
  }

  static async open(): Promise<Scene> {
    const clock = new FakeClock();
    const scene = new Scene(clock, await WhepHarness.start(clock));
    for (let i = 0; i < FRAMES_PER_GOP / 2; i += 1) scene.#write();
    scene.client = (await scene.whep.watch()).client;
    await until('the first pictures have come', () => scene.frames().length === FRAMES_PER_GOP / 2);
    return scene;
  }

  get ssrc(): number {
    return this.client.answer.ssrcs[0]!;
  }

  /** The numbers of the frames that came, in that order; their times rise strictly. */
  frames(): number[] {
    const frames = framesOf(this.client.rtp, this.ssrc);
    const steps = frames.slice(1).map(({ timestamp }, i) => (timestamp - frames[i]!.timestamp) | 0);
    assert.ok(steps.every((step) => step > 0));
    return frames.map(({ nals }) => this.camera.slices.findIndex((slice) => slice.equals(nals.at(-1)!)));
  }

  /** The next frames, one after the other, each of which the viewer gets before the next one. */
  async play(frames: number): Promise<void> {
    for (let i = 0; i < frames; i += 1) {
      this.clock.advance(FRAME_MS);
      this.#write();
      await this.client.settle();
      if (this.camera.slices.length % 5 === 0 && this.reports) this.#report();
    }
  }

  #write(): void {
    const number = this.camera.slices.length;
    this.camera.write(number % FRAMES_PER_GOP === 0, 1_500, number * FRAME_TICKS);
  }

  async ask(): Promise<void> {
    this.client.pli(this.ssrc);
    await this.client.settle();
  }

  #report(): void {
    const last = parsed(this.client.rtp.at(-1)!).sequence;
    this.client.report({ ssrc: this.ssrc, extendedHighest: last, fractionLost: this.fractionLost });
  }

  [Symbol.dispose](): void {
    this.whep[Symbol.dispose]();
  }
}

const upTo = (end: number, start = 0): number[] => Array.from({ length: end - start }, (_, i) => start + i);

test('who asks for keyframes every 2 s though nothing is amiss gets no frame twice', async () => {
  using scene = await Scene.open();
  // The way players do that ask by the clock alone: at once, too, and in the middle of groups of pictures.
  await scene.ask();
  for (let turn = 0; turn < 8; turn += 1) {
    await scene.play(10);
    await scene.ask();
  }
  await scene.play(3);
  assert.deepEqual(scene.frames(), upTo(88));
});

test('who asks before it has told of any packet gets its first picture again', async () => {
  using scene = await Scene.open();
  scene.reports = false;
  await scene.play(8);
  await scene.ask();
  await scene.play(2);
  assert.deepEqual(scene.frames(), [...upTo(13), ...upTo(15, 10)]);
});

test('a viewer that never tells what came is not thrown back for ever', async () => {
  using scene = await Scene.open();
  scene.reports = false;
  await scene.play(51);
  for (let turn = 0; turn < 3; turn += 1) {
    await scene.ask();
    await scene.play(10);
  }
  assert.deepEqual(scene.frames(), upTo(86));
});

for (const [sign, show] of [
  ['a report of loss', (scene: Scene) => (scene.fractionLost = 26)],
  [
    'a packet that was lost',
    ({ client, ssrc }: Scene) => client.nack(ssrc, parsed(client.rtp.at(-1)!).sequence),
  ],
  ['a lost packet that can not be had', ({ client, ssrc }: Scene) => client.nack(ssrc, 40_000)],
] as const) {
  test(`after ${sign} a request for a keyframe is answered from the newest one`, async () => {
    using scene = await Scene.open();
    await scene.play(17);
    const count = scene.client.rtp.length;
    show(scene);
    await scene.client.settle();
    // A packet that came again belongs to no frame.
    scene.client.rtp.splice(count);
    await scene.play(4);
    await scene.ask();
    await scene.play(2);
    const seen = [...upTo(26), ...upTo(28, 20)];
    assert.deepEqual(scene.frames(), seen);
    // Once: asked again, and when the signs are old, the next keyframe is the answer.
    scene.fractionLost = 0;
    await scene.play(5);
    await scene.ask();
    await scene.play(20);
    await scene.ask();
    await scene.play(1);
    assert.deepEqual(scene.frames(), [...seen, ...upTo(54, 28)]);
  });
}
