import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cameraAt, Engine } from '../../support/engine.js';
import { FakeCamera } from '../../support/fake-camera/fake-camera.js';
import { fixtures } from '../../support/fixtures.js';

/** A camera that takes all of the second which a TEARDOWN may take, and how many sockets it had at each beginning. */
const slowCamera = async () => {
  const socketsAtStart: number[] = [];
  const camera: FakeCamera = await FakeCamera.start({
    mounts: { '/cam': { video: fixtures.h264Baseline() } },
    faults: {
      neverAnswer: ['TEARDOWN'],
      answer: ({ method }) => {
        if (method === 'OPTIONS') socketsAtStart.push(camera.openSockets);
        return null;
      },
    },
  });
  return { camera, socketsAtStart, [Symbol.asyncDispose]: () => camera.close() };
};

const changes: readonly (readonly [name: string, change: (engine: Engine, url: string) => void])[] = [
  [
    'off and on',
    (engine, url) => {
      engine.cameras.setAll([cameraAt('door', url, { disabled: true })]);
      engine.cameras.setAll([cameraAt('door', url)]);
    },
  ],
  [
    'deleted and made again',
    (engine, url) => {
      engine.cameras.remove('door');
      engine.cameras.setAll([cameraAt('door', url)]);
    },
  ],
  ['another path', (engine, url) => engine.cameras.setAll([cameraAt('door', `${url}?x=1`)])],
];

for (const [name, change] of changes) {
  for (const others of [0, 1]) {
    test(`a camera is never asked for a second session: ${name}, ${others} beside it in its thread`, async () => {
      await using slow = await slowCamera();
      const { camera, socketsAtStart } = slow;
      await using other = await FakeCamera.start({ mounts: { '/cam': { video: fixtures.h264Baseline() } } });
      await using engine = new Engine(2);
      const url = camera.url();
      if (others > 0) {
        engine.cameras.setAll([cameraAt('other', other.url())]);
        await engine.untilState('other', 'streaming');
      }
      engine.cameras.setAll([cameraAt('door', url)]);
      await engine.untilState('door', 'streaming');
      change(engine, url);
      await camera.until(({ connectionsSeen, playing }) => connectionsSeen === 2 && playing === 1);
      assert.deepEqual(socketsAtStart, [1, 1]);
      assert.equal(camera.methods.filter((method) => method === 'TEARDOWN').length, 1);
      await engine.untilState('door', 'streaming');
    });
  }
}
