import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newCameraSchema } from '../../src/http/camera-schemas.js';
import type { Camera } from '../../src/web/data/types.js';
import { batchesOf, planOf, withTags } from '../../src/web/pages/cameras/bulk/changes.js';
import { begun, changesOf, merged, newSettings, withTheirs } from '../../src/web/pages/cameras/edit/form.js';

const base = { ...newSettings('north'), url: 'rtsp://u:***@h/1', tags: ['a', 'b'] };

test('a form sends what was changed and nothing else; a new one has what the service would choose', () => {
  assert.deepEqual(changesOf(base, { ...base }), {});
  assert.deepEqual(changesOf(base, { ...base, tags: ['b', 'a'] }), {}, 'tags have no order');
  assert.deepEqual(changesOf(base, { ...base, record: true, quirks: { keepalive: 'none' } }), {
    record: true,
    quirks: { keepalive: 'none' },
  });
  const quirks = { keepalive: 'none', teardown: 'never' } as const;
  const turned = { teardown: 'never', keepalive: 'none' } as const;
  assert.deepEqual(changesOf({ ...base, quirks }, { ...base, quirks: turned }), {});
  const made = newCameraSchema.parse({ id: 'a', url: 'rtsp://h/1' });
  const ours = newCameraSchema.parse({ ...newSettings(''), id: 'a', url: 'rtsp://h/1' });
  assert.deepEqual(ours, made);
});

test('what others changed is taken over where nobody touched it here, and told where both did', () => {
  const draft = { ...base, comment: 'ours', record: true, transport: 'udp' as const };
  const theirs = { ...base, comment: 'theirs', record: true, retention_days: 30 };
  const result = merged(base, draft, theirs);
  assert.deepEqual([result.taken, result.conflicts], [['retention_days'], ['comment']]);
  assert.deepEqual(
    changesOf(result.base, result.draft),
    { comment: 'ours', transport: 'udp' },
    'what both changed alike is done',
  );
});

test('many are changed where they are not so already, and taken back to what each was', () => {
  const camera = (id: string, set: Partial<Camera>) =>
    ({ id, tags: [], record: false, ...set }) as unknown as Camera;
  const all = [camera('a', { record: true }), camera('b', { tags: ['x', 'y'] })];
  assert.deepEqual(
    planOf(all, () => ({ record: true })),
    { updates: [{ id: 'b', record: true }], undo: [{ id: 'b', record: false }] },
  );
  const tags = planOf(all, (each) => withTags(each, ['z'], ['x', 'none']));
  assert.deepEqual(tags.updates, [
    { id: 'a', tags: ['z'] },
    { id: 'b', tags: ['y', 'z'] },
  ]);
  assert.deepEqual(tags.undo, [
    { id: 'a', tags: [] },
    { id: 'b', tags: ['x', 'y'] },
  ]);
  assert.deepEqual(
    batchesOf(Array.from({ length: 2_001 }, (_, nth) => nth)).map(({ length }) => length),
    [1_000, 1_000, 1],
  );
});

test('what others change while the camera is read is in the form, and nobody is told that it was taken over', () => {
  const form = begun(base, [{ comment: 'first', state: 'live' }, { comment: 'last' }, { record: true }]);
  assert.deepEqual([form.draft.comment, form.draft.record, form.taken.size], ['last', true, 0]);
  assert.deepEqual(changesOf(form.base, form.draft), {});
  const later = withTheirs(form, { comment: 'later', state: 'away' });
  assert.deepEqual([later.draft.comment, [...later.taken]], ['later', ['comment']]);
  assert.equal(withTheirs(form, { state: 'away' }), form, 'figures are no settings');
});
