import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cameraIdOf, sourceFields, sourceKey, streamNames, streamOf } from '../../src/ring/source-key.js';

test('a source says which camera and which of its streams it is, and no two are called the same', () => {
  const anyId = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/);
  const anySource = fc.tuple(anyId, fc.constantFrom(...streamNames));
  fc.assert(
    fc.property(anySource, anySource, ([id, stream], [otherId, otherStream]) => {
      const key = sourceKey(id, stream);
      assert.deepEqual([cameraIdOf(key), streamOf(key)], [id, stream]);
      const isSame = id === otherId && stream === otherStream;
      assert.equal(key === sourceKey(otherId, otherStream), isSame);
    }),
  );
});

test('log records name the camera, and the stream where it is not the main one', () => {
  assert.deepEqual(sourceFields(sourceKey('door', 'main')), { camera_id: 'door' });
  assert.deepEqual(sourceFields(sourceKey('door', 'sub')), { camera_id: 'door', stream: 'sub' });
});
