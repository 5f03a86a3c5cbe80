import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import fc from 'fast-check';
import { figuresPayload, statePayload } from '../../src/notify/mqtt/camera-facts.js';
import { HomeAssistant } from '../../src/notify/mqtt/home-assistant.js';
import { Topics } from '../../src/notify/mqtt/topics.js';
import { cameraFacts } from './mqtt-rig.js';

type Fields = Readonly<Record<string, unknown>>;
type Payload = {
  readonly device: Fields;
  readonly origin: Fields;
  readonly availability: readonly Fields[];
  readonly components: Readonly<Record<string, Fields>>;
};

// What Home Assistant's schemas take (homeassistant/components/mqtt: schemas, binary_sensor, sensor, image); it drops other
// fields without a word, so a field that is misspelled does nothing.
const OF_ALL = [
  'platform',
  'name',
  'unique_id',
  'entity_category',
  'availability',
  'availability_mode',
  'json_attributes_topic',
];
const taken: Readonly<Record<string, readonly string[]>> = {
  binary_sensor: [...OF_ALL, 'state_topic', 'value_template', 'device_class'],
  sensor: [...OF_ALL, 'state_topic', 'value_template', 'device_class', 'state_class', 'unit_of_measurement'],
  image: [...OF_ALL, 'image_topic', 'content_type'],
};
const needed: Readonly<Record<string, readonly string[]>> = {
  binary_sensor: ['state_topic'],
  sensor: ['state_topic'],
  image: ['image_topic'],
};
const classes: Readonly<Record<string, readonly string[]>> = {
  binary_sensor: ['connectivity', 'running', 'motion', 'occupancy', 'problem'],
  sensor: ['data_rate'],
};
/** Its units of a `data_rate`. */
const rates = [
  'bit/s',
  'kbit/s',
  'Mbit/s',
  'Gbit/s',
  'B/s',
  'kB/s',
  'MB/s',
  'GB/s',
  'KiB/s',
  'MiB/s',
  'GiB/s',
];
const TOPIC = /^[^+#\0]{1,65535}$/;

const check = (payload: Payload): void => {
  assert.deepEqual(Object.keys(payload).sort(), ['availability', 'components', 'device', 'origin', 'qos']);
  const { device, origin, availability, components } = payload;
  const deviceFields = ['identifiers', 'manufacturer', 'name', 'sw_version', 'via_device'];
  for (const field of Object.keys(device)) assert.ok(deviceFields.includes(field), field);
  assert.equal((device['identifiers'] as string[]).length, 1);
  assert.deepEqual(Object.keys(origin), ['name', 'sw_version']);
  assert.deepEqual(availability, [{ topic: 'framering/available' }]);
  const ids = new Set<unknown>();
  for (const [key, component] of Object.entries(components)) {
    const platform = String(component['platform']);
    for (const field of Object.keys(component))
      assert.ok(taken[platform]?.includes(field), `${key}: ${field}`);
    for (const field of ['unique_id', 'name', ...needed[platform]!])
      assert.equal(typeof component[field], 'string', `${key} has no ${field}`);
    assert.equal(String(component['name']).trim(), component['name']);
    assert.match(String(component['name']), /^[^\p{Cc}\p{Cs}]{1,140}$/u);
    for (const [field, value] of Object.entries(component))
      if (field.endsWith('_topic')) assert.match(String(value), TOPIC);
    const { device_class, entity_category, unit_of_measurement } = component;
    if (device_class !== undefined) assert.ok(classes[platform]?.includes(String(device_class)), key);
    if (device_class === 'data_rate') assert.ok(rates.includes(String(unit_of_measurement)));
    if (entity_category !== undefined) assert.equal(entity_category, 'diagnostic');
    ids.add(component['unique_id']);
  }
  assert.equal(ids.size, Object.keys(components).length);
};

const topics = new Topics('framering', 'homeassistant');
const homeAssistant = new HomeAssistant(topics, '1.2.3');

test('devices have what Home Assistant wants, and nothing that it would drop, whatever was seen', () => {
  check(JSON.parse(homeAssistant.service()));
  const labels = fc.uniqueArray(fc.string({ unit: 'binary', minLength: 1, maxLength: 300 }), {
    maxLength: 32,
  });
  fc.assert(
    fc.property(labels, (seen) => {
      const payload = JSON.parse(homeAssistant.camera('door', seen)) as Payload;
      check(payload);
      assert.equal(Object.keys(payload.components).length, 7 + 2 * seen.length);
      assert.equal(payload.device['via_device'], JSON.parse(homeAssistant.service()).device.identifiers[0]);
    }),
  );
});

test('no two cameras and labels have one id between them', () => {
  const idsOf = (camera: string, labels: readonly string[]): unknown[] =>
    Object.values((JSON.parse(homeAssistant.camera(camera, labels)) as Payload).components).map(
      (component) => component['unique_id'],
    );
  const ids = [...idsOf('x', ['y_fps', 'y-fps']), ...idsOf('x_object_y', []), ...idsOf('x.object-y', [])];
  assert.equal(new Set(ids).size, ids.length);
});

/** Home Assistant's templates are Jinja's; it makes numbers of texts by `int`, and knows JSON as `value_json`. */
const render = (cases: readonly { template: string; value: string }[]): string[] => {
  const program = `
import json, sys, jinja2
for case in json.load(sys.stdin):
    try: parsed = json.loads(case["value"])
    except ValueError: parsed = None
    print(jinja2.Environment().from_string(case["template"]).render(value=case["value"], value_json=parsed))`;
  const { stdout, stderr } = spawnSync('/usr/bin/python3', ['-c', program], {
    input: JSON.stringify(cases),
    encoding: 'utf8',
  });
  assert.equal(stderr, '');
  return stdout.trim().split('\n');
};

test('its templates make of our payloads what sensors want', () => {
  const { components } = JSON.parse(homeAssistant.camera('door', ['person'])) as Payload;
  const template = (key: string): string => String(components[key]?.['value_template']);
  const well = cameraFacts({ id: 'door' });
  const ill = cameraFacts({ id: 'door', state: 'offline', recording: false });
  const availability = components['motion']?.['availability'] as { value_template?: string }[];
  const seen = String(availability[1]?.value_template);
  const restful = components['connected']?.['availability'] as { value_template?: string }[];
  const connectable = String(restful[1]?.value_template);
  const stateOf = (state: string): string => statePayload(cameraFacts({ id: 'door', state }));
  const { storage } = (JSON.parse(homeAssistant.service()) as Payload).components;
  const cases: [template: string, value: string, wanted: string][] = [
    [template('connected'), statePayload(well), 'ON'],
    [template('connected'), statePayload(ill), 'OFF'],
    [connectable, stateOf('standby'), 'offline'],
    [connectable, stateOf('disabled'), 'offline'],
    [connectable, stateOf('reconnecting'), 'online'],
    [connectable, stateOf('streaming'), 'online'],
    [template('recording'), statePayload(well), 'ON'],
    [template('recording'), statePayload(ill), 'OFF'],
    [seen, statePayload(well), 'online'],
    [seen, statePayload(ill), 'offline'],
    [template('fps'), figuresPayload(well), '25'],
    [template('bitrate'), figuresPayload(well), '2000'],
    [template('viewers'), figuresPayload(well), '1'],
    [template('object_person'), '0', 'OFF'],
    [template('object_person'), '2', 'ON'],
    [String(storage?.['value_template']), '{"fault":""}', 'OFF'],
    [String(storage?.['value_template']), '{"fault":"full"}', 'ON'],
  ];
  const rendered = render(cases.map(([one, value]) => ({ template: one, value })));
  assert.deepEqual(
    rendered,
    cases.map(([, , wanted]) => wanted),
  );
});
