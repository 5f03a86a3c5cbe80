/**
 * Cameras in a process of their own, so many as the argument says. Prints its port as JSON once it listens, and for each
 * line of its input how many frames each of them has sent; ends with that input.
 */
import { createInterface } from 'node:readline';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { movingPicture } from './moving-picture.js';

const FORGET_EVERY_MS = 5_000;

const count = Number(process.argv[2]);
const video = movingPicture();
const mounts = Object.fromEntries(Array.from({ length: count }, (_, nth) => [`/cam${nth}`, { video }]));
const camera = await FakeCamera.start({ mounts });
const forgotten = camera.mounts.map(() => 0);

setInterval(() => {
  // It keeps them for tests that compare; here they are counted. One stays, since a camera that has sent begins anew with a keyframe.
  for (const [nth, { stream }] of camera.mounts.entries())
    forgotten[nth] = (forgotten[nth] ?? 0) + stream.sent.splice(0, stream.sent.length - 1).length;
}, FORGET_EVERY_MS);

const input = createInterface({ input: process.stdin });
input.on('line', () => {
  const sent = camera.mounts.map(({ stream }, nth) => (forgotten[nth] ?? 0) + stream.sent.length);
  process.stdout.write(`${JSON.stringify(sent)}\n`);
});
input.on('close', () => process.exit(0));
process.stdout.write(`${JSON.stringify(camera.port)}\n`);
