import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { PICTURE_HEIGHT_PIXELS, PICTURE_WIDTH_PIXELS } from './video-player.js';

const PICTURE_BYTES = PICTURE_WIDTH_PIXELS * PICTURE_HEIGHT_PIXELS;

/** A file's pictures as FFmpeg decodes them, in display order, as small as `VideoPlayer.picture`'s. */
export const decodePictures = (path: string): Buffer[] => {
  const scale = `scale=${PICTURE_WIDTH_PIXELS}:${PICTURE_HEIGHT_PIXELS}:flags=area,format=gray`;
  const output = ['-fps_mode', 'passthrough', '-f', 'rawvideo', '-'];
  const { stdout, stderr, status } = spawnSync(
    'ffmpeg',
    ['-nostdin', '-v', 'error', '-i', path, '-vf', scale, ...output],
    { maxBuffer: 64 << 20 },
  );
  assert.equal(status, 0, String(stderr));
  return Array.from({ length: stdout.length / PICTURE_BYTES }, (_, index) =>
    stdout.subarray(index * PICTURE_BYTES, (index + 1) * PICTURE_BYTES),
  );
};

const distanceOf = (a: Buffer, b: Buffer): number => {
  let sum = 0;
  for (let i = 0; i < PICTURE_BYTES; i += 1) sum += Math.abs(a[i]! - b[i]!);
  return sum / PICTURE_BYTES;
};

/**
 * Most that a browser's luminance may differ from FFmpeg's. Of a stream that doesn't name its matrix Firefox, and
 * Chromium with MSE, take BT.709 where FFmpeg takes BT.601.
 */
const MOST_DISTANCE = 16;

type Shown = { readonly index: number; readonly distance: number };

/** The picture most similar to what the player shows, and how far from it in luminance. */
const nearest = async (
  player: { picture(): Promise<Buffer> },
  pictures: readonly Buffer[],
): Promise<Shown> => {
  const shown = await player.picture();
  const distances = pictures.map((picture) => distanceOf(shown, picture));
  const distance = Math.min(...distances);
  return { index: distances.indexOf(distance), distance };
};

/** Which of the pictures the player shows; null: none of them, as before the first one is on the screen. */
export const shownNow = async (
  player: { picture(): Promise<Buffer> },
  pictures: readonly Buffer[],
): Promise<Shown | null> => {
  const shown = await nearest(player, pictures);
  return shown.distance < MOST_DISTANCE ? shown : null;
};

/** Which of the pictures the player shows, which must be one of them. */
export const findShown = async (
  player: { picture(): Promise<Buffer> },
  pictures: readonly Buffer[],
): Promise<Shown> => {
  const shown = await nearest(player, pictures);
  const { distance } = shown;
  assert.ok(distance < MOST_DISTANCE, `none of the pictures is shown: the nearest differs by ${distance}`);
  return shown;
};

const POLL_MS = 50;
const DEADLINE_MS = 60_000;

/**
 * The player shows `pictures[index]`, or one that is at most so many beside it, or does so soon: after a seek a busy browser may lag
 * behind its events. Which one.
 */
export const assertShows = async (
  player: { picture(): Promise<Buffer> },
  pictures: readonly Buffer[],
  index: number,
  mostBeside = 0,
): Promise<number> => {
  const deadlineMs = performance.now() + DEADLINE_MS;
  let shown = await nearest(player, pictures);
  const isIt = (): boolean => Math.abs(shown.index - index) <= mostBeside;
  while (!(isIt() && shown.distance < MOST_DISTANCE) && performance.now() < deadlineMs) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    shown = await nearest(player, pictures);
  }
  assert.ok(isIt(), `${shown.index} is shown instead of ${index} (distance ${shown.distance})`);
  assert.ok(
    shown.distance < MOST_DISTANCE,
    `none of the pictures is shown: the nearest differs by ${shown.distance}`,
  );
  return shown.index;
};
