import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { levelOf, nodeOf, Topics } from '../../src/notify/mqtt/topics.js';

/** As cameras, models and people may call something: what topics are parted by, control characters, long ones. */
const names = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc
    .array(fc.constantFrom('+', '#', '/', '\0', '$', '%', '~', '-', '_', 'a', 'Z', '2', 'd'), {
      maxLength: 200,
    })
    .map((parts) => parts.join('')),
);

test('whatever something is called, it is one level of a topic', () => {
  fc.assert(
    fc.property(names, (name) => {
      const level = levelOf(name);
      assert.match(level, /^[A-Za-z0-9_.%~-]{1,128}$/);
      assert.match(nodeOf(name), /^[A-Za-z0-9_-]{1,130}$/, 'as Home Assistant wants ids');
    }),
  );
  assert.equal(levelOf('front-door_2.b'), 'front-door_2.b');
  assert.equal(levelOf('a+b/#\0é'), 'a%2bb%2f%23%00%c3%a9');
});

test('two names are never the same level', () => {
  fc.assert(
    fc.property(names, names, (one, other) => {
      fc.pre(one !== other);
      assert.notEqual(levelOf(one), levelOf(other));
      assert.notEqual(nodeOf(one), nodeOf(other));
    }),
  );
  const long = 'x'.repeat(400);
  assert.notEqual(levelOf(`${long}a`), levelOf(`${long}b`));
});

test('topics begin with the prefix, and Home Assistant knows a thing of one service and camera by no id of another', () => {
  const ids = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,20}$/);
  fc.assert(
    fc.property(ids, names, (id, label) => {
      const topics = new Topics('site/a', 'homeassistant');
      assert.equal(topics.camera(id), `site/a/cameras/${id}`);
      const objects = topics.objects(id, label);
      assert.equal(objects.split('/').length, 6);
      assert.equal(topics.cameraLevel(objects), id);
      assert.match(topics.discovery(id)!, /^homeassistant\/device\/[A-Za-z0-9_-]+\/config$/);
    }),
  );
  fc.assert(
    fc.property(ids, ids, ids, ids, (prefix, id, otherPrefix, otherId) => {
      fc.pre(prefix !== otherPrefix || id !== otherId);
      const one = new Topics(prefix, null).deviceId(id);
      const other = new Topics(otherPrefix, null).deviceId(otherId);
      assert.notEqual(one, other);
    }),
  );
  assert.notEqual(new Topics('a', null).deviceId('b_c'), new Topics('a_b', null).deviceId('c'));
  for (const foreign of ['site/a/available', 'site/a/cameras/door', 'site/ab/cameras/door/state', 'x'])
    assert.equal(new Topics('site/a', null).cameraLevel(foreign), null);
});
