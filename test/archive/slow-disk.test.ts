import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manyCameras } from './many-cameras.js';

for (const [directWriteMs, cameras] of [
  [20, 150],
  [30, 100],
  [40, 75],
] as const) {
  test(`a disk of ${directWriteMs} ms a write under ${cameras} cameras: no frame is lost`, async (t) => {
    const { state, play, finish, lines, lost } = manyCameras(t, cameras);
    await play(5);
    assert.ok(state.directWrites > cameras, 'a disk that keeps up is written to directly');
    state.directWriteMs = directWriteMs;
    await play(15);
    assert.equal(lost(), 0);
    assert.equal(lines.filter(({ message }) => message.includes('slow')).length, 1, 'and it is told once');
    await finish();
  });
}

test('a slow disk is tried again without losing a frame, and written to directly once it is fast', async (t) => {
  const { state, play, rest, finish, lost } = manyCameras(t, 75);
  state.directWriteMs = 40;
  await play(4);
  const beforeTrial = state.directWrites;
  await play(2);
  assert.equal(state.directWrites, beforeTrial, 'by the cache alone');
  rest(60);
  await play(4);
  const afterTrial = state.directWrites;
  assert.ok(afterTrial > beforeTrial && afterTrial < beforeTrial + 75, 'it was tried, and given up');
  state.directWriteMs = 0;
  rest(120);
  await play(4);
  assert.ok(state.directWrites > afterTrial + 3 * 75);
  assert.equal(lost(), 0);
  await finish();
});
