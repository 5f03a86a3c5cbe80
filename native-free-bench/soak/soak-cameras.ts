/** Cameras that fail, in a process of their own. */
import { FakeCamera } from '../../test/support/fake-camera/fake-camera.js';
import { Pump } from '../../test/support/fake-camera/pump.js';
import { fixtures } from '../../test/support/fixtures.js';
import { type GeneratorOptions, generateVideo } from '../../test/support/frame-generator.js';
import { answer } from '../child.js';
import { FailingCamera, type Failure } from './failing-camera.js';

export type SoakCamerasQuestion =
  | { readonly type: 'start'; readonly cameras: number; readonly video: GeneratorOptions }
  | { readonly type: 'fail'; readonly camera: number; readonly failure: Failure; readonly seconds: number };

export type SoakCamerasAnswer = { readonly urls: readonly string[] };

let cameras: readonly FailingCamera[] = [];
let urls: readonly string[] = [];

answer(async (question: SoakCamerasQuestion): Promise<SoakCamerasAnswer> => {
  if (question.type === 'fail') {
    cameras[question.camera]?.fail(question.failure, question.seconds);
    return { urls };
  }
  const { parameterSets } = fixtures.h264OtherPps();
  const pumps = [generateVideo(question.video), generateVideo({ ...question.video, parameterSets })].map(
    (stream) => new Pump(stream, { pattern: 'burst', stampSendTime: true }),
  );
  cameras = Array.from({ length: question.cameras }, () => new FailingCamera(pumps));
  const server = await FakeCamera.start({
    mounts: Object.fromEntries(cameras.map((camera, index) => [`/cam${index}`, camera])),
  });
  urls = server.mounts.map(({ url }) => url);
  return { urls };
});
