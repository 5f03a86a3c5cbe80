import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PassagePictures } from '../../src/detect/passage-pictures.js';

const keyframe = (bytes: number) => {
  const annexB = Buffer.alloc(bytes);
  return { job: { codec: 'h264', width: 640, height: 360, reorders: false, annexB }, wallMs: 0 } as const;
};
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Draws when the test says so. */
const setUp = () => {
  const drawing: ((jpeg: Uint8Array | null) => void)[] = [];
  const kept: number[] = [];
  const pictures = new PassagePictures({
    draw: () => new Promise((done) => drawing.push(done)),
    keep: async (id) => void kept.push(id),
  });
  const finish = async (jpeg: Uint8Array | null = Buffer.from('jpeg')): Promise<void> => {
    await settled();
    drawing.shift()?.(jpeg);
    await settled();
  };
  return { drawing, kept, pictures, finish };
};

test('pictures are drawn one after another, and nothing is kept of what gives none', async () => {
  const { drawing, kept, pictures, finish } = setUp();
  for (const id of [1, 2, 3]) pictures.add(id, keyframe(1_000), [0, 0, 1, 1]);
  await settled();
  assert.equal(drawing.length, 1);
  await finish();
  await finish(null);
  await finish();
  assert.deepEqual(kept, [1, 3]);
});

for (const { what, bytes, most } of [
  { what: 'many', bytes: 1_000, most: 32 },
  { what: 'large ones', bytes: 8_000_000, most: 4 },
])
  test(`no more wait than there is room for, ${what}, and others do when those are drawn`, async () => {
    const { kept, pictures, finish } = setUp();
    for (let id = 1; id <= 40; id++) pictures.add(id, keyframe(bytes), [0, 0, 1, 1]);
    for (let count = 0; count < 40; count++) await finish();
    assert.deepEqual(
      kept,
      Array.from({ length: most }, (_, index) => index + 1),
    );
    pictures.add(50, keyframe(bytes), [0, 0, 1, 1]);
    await finish();
    assert.equal(kept.at(-1), 50);
  });
