import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { closedName, parseRecordingName } from '../../../src/archive/files/file-name.js';
import { objectName, parseObjectName, sidecarObject } from '../../../src/archive/offsite/object-name.js';

test('an object is called after its camera, day, recording and box', () => {
  const startMs = Date.UTC(2026, 10, 21, 23, 30);
  const recording = { startMs, endMs: startMs + 3_600_000 };
  const name = objectName({ cameraId: 'door', recording, epoch: 0, box: 'box-1.site' });
  assert.equal(name, 'door/2026-11-21/2026-11-21_23-30-00_to_00-30-00_0_box-1.site.mp4');
  assert.equal(
    sidecarObject(name),
    'door/2026-11-21/2026-11-21_23-30-00_to_00-30-00_0_box-1.site.detections',
  );
});

test('every name comes back as it was', () => {
  const word = (first: string, more: string, longest: number) =>
    fc
      .tuple(fc.constantFrom(...first), fc.string({ unit: fc.constantFrom(...more), maxLength: longest }))
      .map(([head, rest]) => head + rest);
  const cameraId = word('aZ9', 'abcXYZ019_.-', 63);
  const box = word('aZ9', 'abcXYZ019', 62);
  const startMs = fc
    .integer({ min: Date.UTC(1970, 0, 1) / 1000, max: Date.UTC(2200, 0, 1) / 1000 })
    .map((sec) => sec * 1000);
  const lengthMs = fc.integer({ min: 1, max: 86_400 }).map((sec) => sec * 1000);
  const epoch = fc.integer({ min: 0, max: 999_999_999 });
  fc.assert(
    fc.property(cameraId, box, startMs, lengthMs, epoch, (id, boxName, start, length, number) => {
      const recording = parseRecordingName(closedName(start, start + length))!;
      const name = { cameraId: id, recording, epoch: number, box: boxName };
      assert.deepEqual(parseObjectName(objectName(name)), name);
    }),
  );
});

test('what was named by others is none of ours', () => {
  const good = 'door/2026-11-21/2026-11-21_08-30-00_to_09-30-00_0_box.mp4';
  assert.notEqual(parseObjectName(good), null);
  for (const name of [
    good.replace('2026-11-21/', '2026-11-22/'),
    good.replace('_0_', '_00_'),
    good.replace('_0_', '_-1_'),
    good.replace('_0_', '_'),
    good.replace('box', 'b_x'),
    good.replace('box', '../x'),
    good.replace('door', '..'),
    good.replace('door', ''),
    good.replace('door', 'a/b'),
    good.replace('.mp4', '.mp4.broken'),
    good.replace('08-30', '28-30'),
    `x${good}`.replace('xdoor', '-door'),
    '',
  ])
    assert.equal(parseObjectName(name), null, name);
});
