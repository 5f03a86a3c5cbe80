import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Metadata } from '../../src/analytics/metadata.js';
import { readMetadata } from '../../src/analytics/read-metadata.js';
import { cpuMsOf } from '../support/took.js';
import { hostile, modern, nested, notification, pixels, several } from './documents.js';

const AT_MS = Date.UTC(2026, 10, 21, 8, 30, 0, 123);

const read = (xml: string): Metadata => {
  const outcome = readMetadata(Buffer.from(xml));
  if ('refused' in outcome) assert.fail(`refused: ${outcome.refused}`);
  return outcome;
};

const rounded = (values: readonly number[]): number[] => values.map((value) => Math.round(value * 1e6) / 1e6);

/** The only scene's only object, its box rounded. */
const objectIn = (xml: string) => {
  const { scenes } = read(xml);
  assert.equal(scenes.length, 1);
  const [object] = scenes[0]!.objects;
  assert.ok(object !== undefined);
  return { ...object, box: rounded(object.box) };
};

const BOX = [0.25, 0.5, 0.125, 0.25] as const;

test('objects of several vendors, in their own forms and coordinates', () => {
  assert.deepEqual(objectIn(modern(AT_MS, [{ id: '7', box: BOX }])), {
    ...{ label: 'person', score: 0.9, box: [...BOX], trackId: '7' },
  });
  assert.deepEqual(objectIn(pixels(AT_MS, { box: BOX })), {
    ...{ label: 'vehicle', score: 0.8, box: [...BOX], trackId: '12' },
  });
  assert.deepEqual(objectIn(nested(AT_MS, { box: BOX })), {
    ...{ label: 'face', score: 0.7, box: [...BOX], trackId: '' },
  });
});

test('several pictures in one document, and several entries for one picture', () => {
  const { scenes } = read(
    several([
      [AT_MS, [{ box: BOX, id: '1' }]],
      [AT_MS + 40, [{ box: BOX, id: '1' }]],
      [AT_MS + 40, [{ box: BOX, id: '2' }]],
      [AT_MS + 80, []],
    ]),
  );
  assert.deepEqual(
    scenes.map(({ utcMs, objects }) => [utcMs! - AT_MS, objects.map(({ trackId }) => trackId).join()]),
    [
      [0, '1'],
      [40, '1,2'],
      [80, ''],
    ],
  );
});

test('names of classes become those that rules are written with', () => {
  const labelOf = (type: string): string => objectIn(modern(AT_MS, [{ type, box: BOX }])).label;
  assert.deepEqual(
    ['Human', 'LicensePlate', 'tt:Car', 'HumanFace', 'Other', ' Dog &amp; cat '].map(labelOf),
    ['person', 'license plate', 'car', 'face', 'object', 'dog & cat'],
  );
});

test('the likeliest class counts, and an object without one is an object', () => {
  const classes = (text: string): string =>
    modern(AT_MS, [{ box: BOX }]).replace(/<tt:Class>.*<\/tt:Class>/, text);
  const { label, score } = objectIn(
    classes(
      '<tt:Class><tt:ClassCandidate><tt:Type>Vehicle</tt:Type><tt:Likelihood>0.3</tt:Likelihood></tt:ClassCandidate>' +
        '<tt:Type Likelihood="0.6">Truck</tt:Type><tt:Type Likelihood="0.9">Other</tt:Type></tt:Class>',
    ),
  );
  assert.deepEqual([label, score], ['truck', 0.6]);
  assert.deepEqual([objectIn(classes('')).label, objectIn(classes('')).score], ['object', 1]);
  assert.equal(objectIn(classes('<tt:VehicleInfo/>')).label, 'vehicle');
});

test('what lies across the edge of the picture is cut, and what lies beside it is left out', () => {
  assert.deepEqual(objectIn(modern(AT_MS, [{ box: [0.9, -0.1, 0.5, 0.3] }])).box, [0.9, 0, 0.1, 0.2]);
  for (const box of [[1.2, 0, 0.1, 0.1] as const, [0, 0, 0, 0.1] as const])
    assert.deepEqual(read(modern(AT_MS, [{ box }])).scenes[0]!.objects, []);
  const broken = modern(AT_MS, [{ box: BOX }])
    .replace(/left="[^"]*"/, 'left="wide"')
    .replace(/top="[^"]*"/, '');
  assert.deepEqual(read(broken).scenes[0]!.objects, []);
});

test('motion and rules, with their states', () => {
  const noticed = (topic: string, more: object = {}) => {
    const [notice] = read(notification(AT_MS, { topic, ...more })).notices;
    return notice === undefined ? null : [notice.kind, notice.label, notice.state];
  };
  const cell = 'tns1:RuleEngine/CellMotionDetector/Motion';
  const rule = { source: { VideoSourceConfigurationToken: '1', Rule: 'Yard' } };
  assert.deepEqual(noticed(cell, { ...rule, operation: 'Changed', data: { IsMotion: 'true' } }), [
    'motion',
    'Yard',
    'on',
  ]);
  assert.deepEqual(noticed(cell, { ...rule, operation: 'Initialized', data: { IsMotion: 'false' } }), [
    ...['motion', 'Yard', 'off'],
  ]);
  assert.deepEqual(noticed(cell, { ...rule, operation: 'Deleted', data: { IsMotion: 'true' } }), [
    'motion',
    'Yard',
    'off',
  ]);
  assert.deepEqual(
    noticed('tns1:VideoSource/MotionAlarm', { source: { Source: '0' }, data: { State: 'true' } }),
    [...['motion', 'VideoSource/MotionAlarm', 'on']],
  );
  assert.deepEqual(
    noticed('tnsaxis:CameraApplicationPlatform/VMD/Camera1ProfileANY', { data: { active: '1' } }),
    ['motion', 'CameraApplicationPlatform/VMD/Camera1ProfileANY', 'on'],
  );
  assert.deepEqual(
    noticed('tns1:RuleEngine/tns1:LineDetector/Crossed', { ...rule, data: { ObjectId: '15' } }),
    [...['rule', 'Yard', 'once']],
  );
  assert.deepEqual(
    noticed('tns1:RuleEngine/FieldDetector/ObjectsInside', { ...rule, data: { IsInside: '1' } }),
    [...['rule', 'Yard', 'on']],
  );
  assert.deepEqual(noticed('tns1:RuleEngine/TamperDetector/Tamper', { data: { IsTamper: 'true' } }), [
    ...['rule', 'RuleEngine/TamperDetector/Tamper', 'on'],
  ]);
  assert.deepEqual(
    noticed('tnsaxis:CameraApplicationPlatform/ObjectAnalytics/Device1Scenario1', {
      ...{ operation: 'Changed', data: { objectTypes: 'human', active: '1' } },
    }),
    ['rule', 'CameraApplicationPlatform/ObjectAnalytics/Device1Scenario1', 'on'],
  );
  assert.equal(noticed('tns1:RuleEngine/CountAggregation/Counter', { data: { Count: '3' } }), null);
  assert.equal(noticed('tns1:Device/Trigger/DigitalInput', { data: { LogicalState: 'true' } }), null);
});

test('two rules of one kind are told apart, and one that speaks twice is one', () => {
  const keyOf = (rule: string, value: string): string =>
    read(
      notification(AT_MS, {
        ...{
          topic: 'tns1:RuleEngine/FieldDetector/ObjectsInside',
          source: { Rule: rule },
          data: { IsInside: value },
        },
      }),
    ).notices[0]!.key;
  assert.equal(keyOf('a', 'true'), keyOf('a', 'false'));
  assert.notEqual(keyOf('a', 'true'), keyOf('b', 'true'));
});

test('hostile documents are refused, each within 100 ms', () => {
  for (const [name, xml] of Object.entries(hostile)) {
    const bytes = Buffer.from(xml);
    const tookMs = cpuMsOf(() => assert.ok('refused' in readMetadata(bytes), name));
    assert.ok(tookMs < 100, `${name} took ${tookMs} ms`);
  }
});

test('a topic as long as a document takes no longer than that, and is cut', () => {
  const told = (topic: string) => {
    const xml = notification(AT_MS, { topic, operation: 'Changed', data: { State: 'true' } });
    let found: string | undefined;
    const tookMs = cpuMsOf(() => {
      found = read(xml).notices[0]?.topic;
    });
    assert.ok(tookMs < 1_000, `took ${tookMs} ms`);
    return found;
  };
  assert.equal(told('a'.repeat(120_000)), undefined);
  assert.equal(told(`tns1:RuleEngine/v:${'a'.repeat(120_000)}`)?.length, 128);
  assert.equal(told('tns1:RuleEngine/x.y:Line/Crossed'), 'RuleEngine/Line/Crossed');
  assert.equal(told(`tns1:RuleEngine/${'\u0007'.repeat(200)}/x`), 'RuleEngine/ ');
});

test('elements that are called as parts of objects are nothing special', () => {
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    const xml = modern(AT_MS, [{ box: BOX }]).replace(
      '<tt:Shape>',
      `<${name} a="b"><tt:Shape/></${name}><tt:Shape>`,
    );
    const outcome = readMetadata(Buffer.from(xml));
    assert.ok('refused' in outcome || outcome.scenes[0]?.objects.length === 1, name);
  }
  assert.equal(({} as { a?: string }).a, undefined);
});

const names = fc.constantFrom(
  'MetadataStream',
  'VideoAnalytics',
  'Frame',
  'Object',
  'Appearance',
  'Shape',
  'BoundingBox',
  'Class',
  'Type',
  'Event',
  'NotificationMessage',
  'Topic',
  'Message',
  'Transformation',
  'Scale',
  'a',
  '__proto__',
);
const attributes = fc
  .dictionary(
    fc.constantFrom(
      'left',
      'top',
      'right',
      'bottom',
      'x',
      'y',
      'UtcTime',
      'ObjectId',
      'Likelihood',
      'Name',
      'Value',
    ),
    fc.string(),
  )
  .map((all) =>
    Object.entries(all)
      .map(([name, value]) => ` ${name}="${value.replaceAll(/["<&]/g, '')}"`)
      .join(''),
  );
const { element } = fc.letrec<{ element: string }>((tie) => ({
  element: fc
    .tuple(
      names,
      attributes,
      fc.array(fc.oneof({ depthSize: 'small' }, fc.string(), tie('element')), { maxLength: 4 }),
    )
    .map(([name, told, inside]) => `<t:${name}${told}>${inside.join('')}</t:${name}>`),
}));

const isSound = (outcome: ReturnType<typeof readMetadata>): boolean =>
  'refused' in outcome ||
  outcome.scenes.every(({ objects }) =>
    objects.every(
      ({ box: [x, y, width, height], score, label }) =>
        x >= 0 &&
        y >= 0 &&
        width > 0 &&
        height > 0 &&
        x + width < 1.000001 &&
        y + height < 1.000001 &&
        score >= 0 &&
        score <= 1 &&
        label !== '',
    ),
  );

test('whatever comes, nothing is thrown, and what is told is within the picture', () => {
  fc.assert(
    fc.property(element, (xml) =>
      isSound(readMetadata(Buffer.from(`<t:MetadataStream>${xml}</t:MetadataStream>`))),
    ),
  );
  fc.assert(fc.property(fc.uint8Array({ maxLength: 4_000 }), (bytes) => 'refused' in readMetadata(bytes)));
  const whole = Buffer.from(
    several([
      [AT_MS, [{ box: BOX }]],
      [AT_MS + 1, [{ box: BOX }]],
    ]),
  );
  const broken = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(broken, fc.nat(whole.length), (changes, cutAt) => {
      const bytes = Buffer.from(whole);
      for (const [at, byte] of changes) bytes[at] = byte;
      return isSound(readMetadata(bytes)) && isSound(readMetadata(bytes.subarray(0, cutAt)));
    }),
  );
});

test('a box that is drawn anywhere by any vendor is read where it was drawn', () => {
  const fraction = fc.double({ min: 0.01, max: 0.49, noNaN: true });
  fc.assert(
    fc.property(fraction, fraction, fraction, fraction, (x, y, width, height) => {
      const box = [x, y, width, height] as const;
      for (const xml of [modern(AT_MS, [{ box }]), pixels(AT_MS, { box }), nested(AT_MS, { box })]) {
        const found = objectIn(xml).box;
        assert.ok(
          found.every((value, index) => Math.abs(value - box[index]!) < 1e-4),
          `${found} is not ${box}`,
        );
      }
    }),
  );
});
