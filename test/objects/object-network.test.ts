import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseDescription, undescribed } from '../../src/objects/model-description.js';
import { ObjectNetwork } from '../../src/objects/object-network.js';

const form = (...shape: (number | string)[]) => ({ isTensor: true, type: 'float32', shape }) as const;

const endToEnd = () =>
  new ObjectNetwork({ inputs: [form(1, 3, 32, 64)], outputs: [form(1, 'objects', 6)] }, undescribed);

test('a picture becomes planes in the order that the network was taught with, from whichever layout', () => {
  const network = endToEnd();
  assert.equal(network.color, 'rgb');
  const pixels = (bytes: number) =>
    Uint8Array.from({ length: 64 * 32 * bytes }, (_, at) => [51, 102, 204, 255][at % bytes]!);
  const planes = (): number[] => [0, 1, 2].map((plane) => Math.round(network.planes[plane * 64 * 32]! * 5));
  network.fill(pixels(3), 3, false);
  assert.deepEqual(planes(), [1, 2, 4]);
  network.fill(pixels(4), 4, true);
  assert.deepEqual(planes(), [4, 2, 1]);
  assert.ok(network.planes.every((value) => value > 0 && value < 1));
});

test('whatever a network of any shape answers, each object has a name, a score and a place in the picture', () => {
  const dims = fc.array(fc.nat(12), { minLength: 1, maxLength: 4 });
  const values = fc.float32Array({ maxLength: 400 });
  const kinds = fc.constantFrom('yolox', 'yolov8', 'end2end', undefined);
  fc.assert(
    fc.property(dims, values, kinds, (shape, data, output) => {
      const described = parseDescription(JSON.stringify({ output, min_score: 0.01 }));
      const inputs = [form(1, 3, 32, 32)];
      const network = new ObjectNetwork({ inputs, outputs: [form('any')] }, described);
      try {
        const seen = network.read({ type: 'float32', data, dims: shape }, { width: 640, height: 360 });
        for (const { label, score, box } of seen) {
          assert.ok(label !== '' && score >= 0 && score <= 1, `${label} ${score}`);
          assert.ok(box[0] + box[2] <= 1.000001 && box[1] + box[3] <= 1.000001, `${box}`);
          assert.ok(
            box.every((share) => share >= 0 && share <= 1),
            `${box}`,
          );
        }
      } catch (fault) {
        assert.match(String(fault), /its output \[.*\] is none that we know/);
      }
    }),
  );
});

test('a description says what is wrong with it; what it leaves out, or has no value, is found out', () => {
  assert.deepEqual(parseDescription('{"labels":null,"output":null}'), undescribed);
  for (const [text, why] of [
    ['[]', /must be an object/],
    ['{', /can't be used/],
    ['{"labels":[""]}', /"labels" must be/],
    ['{"width":9000}', /"width" must be/],
    [JSON.stringify({ comment: 'x'.repeat(1_000_001) }), /too large/],
  ] as const)
    assert.throws(() => parseDescription(text), why);
});
