import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { keyName, keyOfName } from '../../src/cluster/key-names.js';
import { derivedKey, SealedText } from '../../src/cluster/sealed-text.js';

const sealer = (secret: string) => new SealedText(derivedKey(secret, 'site', 'settings'));

test('what is sealed is opened by the same key under the same name alone, and as it was', () => {
  const [ours, theirs] = [sealer('one'), sealer('another')];
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: 'grapheme' }),
      fc.nat(),
      (name, text, at) => {
        const sealed = ours.seal(name, text);
        assert.equal(ours.open(name, sealed), text);
        assert.notDeepEqual(ours.seal(name, text), sealed, 'the same text is not seen to be the same');
        assert.throws(() => theirs.open(name, sealed), { code: 'cluster_key_wrong' });
        assert.throws(() => ours.open(`${name}x`, sealed), { code: 'cluster_key_wrong' });
        const broken = Buffer.from(sealed);
        broken[at % broken.length]! ^= 1;
        assert.throws(() => ours.open(name, broken), { code: 'cluster_key_wrong' });
        assert.throws(() => ours.open(name, sealed.subarray(0, at % sealed.length)), {
          code: 'cluster_key_wrong',
        });
      },
    ),
  );
});

test('any key has a name that servers take, and no two the same; what is no name of ours is none', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (key) => {
      const name = keyName(key);
      assert.match(name, /^[-/_=a-zA-Z0-9]+$/);
      assert.equal(keyOfName(name), key);
    }),
  );
  assert.equal(keyName('cam/gate.1'), 'cam/gate=2e1');
  for (const name of ['a.b', 'a=', 'a=2', 'a=zz', 'a=61', 'ä', '=ff'] as const)
    assert.equal(keyOfName(name), null, name);
});
