import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  decodeRecord,
  encodeRecord,
  type KeptDetection,
  MAX_RECORD_BYTES,
  recordBytesAt,
} from '../../../src/archive/detections/detection-record.js';
import { PAGE_BYTES } from '../../../src/archive/detections/sidecar-pages.js';

const fraction = fc.integer({ min: 0, max: 10_000 }).map((steps) => steps / 10_000);
const text = fc.string({ unit: 'binary', maxLength: 16 });
const plain = { noNullPrototype: true };
const box = fc.tuple(fraction, fraction, fraction, fraction);
const object = fc.record({ label: text, score: fraction, box, zone: text }, plain);

/** What records can say exactly. */
const detections: fc.Arbitrary<KeptDetection> = fc.record(
  {
    wallMs: fc.integer({ min: 0, max: 4e15 }).map((us) => us / 1_000),
    source: fc.constantFrom('model' as const, 'onvif' as const),
    objects: fc.array(object, { maxLength: 8 }),
  },
  plain,
);

test('what is written is read again, to the step of a subtitle', () => {
  fc.assert(
    fc.property(detections, (detection) => {
      const record = encodeRecord(detection);
      assert.equal(recordBytesAt(record, 0), record.length);
      assert.deepEqual(decodeRecord(record), detection);
    }),
  );
});

test('however much is seen, and whatever it is called, a record has its bounds and is read again', () => {
  const wild = fc.record({
    label: fc.string({ unit: 'grapheme', maxLength: 200 }),
    score: fc.double(),
    box: fc.tuple(fc.double(), fc.double(), fc.double(), fc.double()),
    zone: fc.string({ unit: 'grapheme', maxLength: 200 }),
  });
  assert.ok(MAX_RECORD_BYTES <= PAGE_BYTES - 8, 'it fits into any page');
  fc.assert(
    fc.property(fc.array(wild, { maxLength: 100 }), (objects) => {
      const record = encodeRecord({ wallMs: 1, source: 'onvif', objects });
      assert.ok(record.length <= MAX_RECORD_BYTES);
      const found = decodeRecord(record);
      assert.equal(found?.objects.length, Math.min(objects.length, 64));
      for (const [index, { label, score, box }] of (found?.objects ?? []).entries()) {
        assert.ok(Buffer.from(objects[index]!.label).toString().startsWith(label), 'no character is cut');
        for (const value of [score, ...box]) assert.ok(value >= 0 && value <= 1);
      }
    }),
  );
});

test('a damaged record is none; any bytes are read without harm', () => {
  fc.assert(
    fc.property(detections, fc.nat(), fc.integer({ min: 1, max: 255 }), (detection, at, change) => {
      const record = encodeRecord(detection);
      record[at % record.length]! ^= change;
      assert.equal(recordBytesAt(record, 0), 0);
    }),
  );
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 300 }), (bytes) => {
      const found = decodeRecord(Buffer.from(bytes));
      for (const { label, zone } of found?.objects ?? []) assert.ok(label.length + zone.length <= 510);
    }),
  );
});
