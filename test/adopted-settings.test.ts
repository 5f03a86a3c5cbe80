import assert from 'node:assert/strict';
import { test } from 'node:test';
import { followShared } from '../src/adopted-settings.js';
import { Signal } from '../src/base/signal.js';
import type { SharedEffects } from '../src/store/shared/shared-records.js';

const effectsOf = (effects: Partial<SharedEffects>): SharedEffects => ({
  ...{ kinds: new Set(), cameraIds: [], removedCameraIds: [], lockedCameraIds: [] },
  ...{ revokedUsernames: [], refused: [] },
  ...effects,
});

/** Who looked anew, and who was sent away, after these came from another box. */
const lookedAfter = (effects: Partial<SharedEffects>): string[] => {
  const { changed, said } = following();
  said.length = 0;
  changed.emit(effectsOf(effects));
  return said;
};

const following = () => {
  const said: string[] = [];
  const says =
    (...what: string[]) =>
    (...about: unknown[]): void => {
      said.push([...what, ...about].join(' '));
    };
  const changed = new Signal<[effects: SharedEffects]>();
  followShared(changed, {
    storage: {
      keys: { reload: says('keys') },
      sights: { moved: says('sights') },
      viewers: { endForCamera: says('viewers of'), endForUser: says('viewers named') },
    },
    media: { registry: { reload: says('all cameras'), reloadSome: says('cameras') } },
    notices: { webhooks: { reload: says('webhooks') } },
  });
  return { changed, said };
};

test('what other boxes changed while this one started takes effect, too', () => {
  assert.deepEqual(following().said, ['keys', 'all cameras', 'webhooks', 'sights']);
});

test('who holds nothing of what another box changed does not look at it', () => {
  for (const kind of ['pref', 'wall', 'set', 'fact', 'gone', 'of a newer version'])
    assert.deepEqual(lookedAfter({ kinds: new Set([kind]) }), [], kind);
  assert.deepEqual(lookedAfter({ kinds: new Set(['hook']) }), ['webhooks']);
  assert.deepEqual(lookedAfter({ kinds: new Set(['key']) }), ['keys']);
  assert.deepEqual(lookedAfter({ kinds: new Set(['user']), revokedUsernames: ['eve'] }), [
    'viewers named eve',
  ]);
});

test('of cameras those are looked at that were changed; all of them where folders or tags were', () => {
  assert.deepEqual(lookedAfter({ kinds: new Set(['cam']), cameraIds: ['door', 'gate'] }), [
    'cameras door,gate',
  ]);
  assert.deepEqual(
    lookedAfter({ kinds: new Set(['cam', 'gone']), cameraIds: ['door'], removedCameraIds: ['door'] }),
    ['viewers of door camera_deleted', 'cameras door'],
  );
  assert.deepEqual(lookedAfter({ kinds: new Set(['tag', 'cam']), cameraIds: ['door'] }), ['all cameras']);
  assert.deepEqual(lookedAfter({ kinds: new Set(['folder']) }), ['all cameras', 'sights']);
});
