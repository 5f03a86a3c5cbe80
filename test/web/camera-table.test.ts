import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Camera, Folder } from '../../src/web/data/types.js';
import { branchesOf, mayMove } from '../../src/web/pages/cameras/folders/tree.js';
import {
  allToggled,
  extended,
  keptIn,
  noSelection,
  toggled,
} from '../../src/web/pages/cameras/table/selection.js';
import {
  folderAndBelow,
  shownCameras,
  sortAfterClick,
  viewOf,
} from '../../src/web/pages/cameras/table/view.js';

const folders: Folder[] = [
  { id: 'north', name: 'North Wing', parent_id: '' },
  { id: 'gates', name: 'Gates', parent_id: 'north' },
  { id: 'a', name: 'A', parent_id: 'b' },
  { id: 'b', name: 'B', parent_id: 'a' },
];
const tags = [{ id: 'ptz', name: 'Turns' }];

const camera = (id: string, set: Partial<Camera>): Camera =>
  ({
    ...{ id, comment: '', folder_id: '', tags: [], state: 'streaming', fps: 25, bitrate: 1_000 },
    ...{
      width: 640,
      height: 360,
      codec: 'h264',
      record: false,
      recording: false,
      viewers: 0,
      owner: 'box',
      ...set,
    },
  }) as Camera;

const all = [
  camera('cam-10', { comment: 'Main gate\nsecond line', folder_id: 'gates', bitrate: 5_000, owner: 'south' }),
  camera('cam-2', { folder_id: 'north', tags: ['ptz'], state: 'error', bitrate: 0 }),
  camera('yard', { owner: '', state: 'disabled', recording: false, width: 1_920, height: 1_080 }),
];
const nameOf = ({ comment, id }: Camera): string => comment.split('\n')[0] || id;
const shown = (query: string): string =>
  shownCameras(all, viewOf(new URLSearchParams(query)), { nameOf, folders, tags })
    .map(({ id }) => id)
    .join(' ');

test('a view filters by words, state, folder with what is below it, and tag; and sorts', () => {
  assert.equal(shown(''), 'cam-2 cam-10 yard');
  assert.equal(shown('find=GATE'), 'cam-10', 'of its name, and of its folder');
  assert.equal(shown('find=cam+turns'), 'cam-2');
  assert.equal(shown('find=second'), 'cam-10');
  assert.equal(shown('state=trouble'), 'cam-2');
  assert.equal(shown('state=disabled'), 'yard');
  assert.equal(shown('folder=north'), 'cam-2 cam-10');
  assert.equal(shown('folder=gates'), 'cam-10');
  assert.equal(shown('folder=-'), 'yard');
  assert.equal(shown('tag=ptz'), 'cam-2');
  assert.equal(shown('box=south'), 'cam-10');
  assert.equal(shown('box=-'), 'yard', 'nobody has it');
  assert.equal(shown('sort=-bitrate'), 'cam-10 yard cam-2');
  assert.equal(shown('sort=state'), 'cam-2 cam-10 yard');
  assert.equal(shown('sort=folder'), 'yard cam-10 cam-2');
  assert.equal(shown('sort=nonsense&state=nonsense'), '');
  assert.deepEqual([...folderAndBelow(folders, 'a')], ['a', 'b'], 'folders that are below each other end');
  const view = viewOf(new URLSearchParams('sort=fps'));
  assert.equal(sortAfterClick(view, 'fps'), '-fps');
  assert.equal(sortAfterClick(viewOf(new URLSearchParams('sort=-fps')), 'fps'), 'fps');
  assert.equal(sortAfterClick(view, 'name'), null);
});

test('rows are chosen one by one, in ranges, all; and what is not shown is not chosen', () => {
  const order = ['a', 'b', 'c', 'd'];
  const one = toggled(noSelection, 'b');
  const range = extended(one, order, 'd');
  assert.deepEqual([...range.ids], ['b', 'c', 'd']);
  assert.deepEqual([...extended(range, order, 'a').ids].sort(), order, 'from the same row the other way');
  assert.deepEqual([...toggled(range, 'c').ids], ['b', 'd']);
  assert.deepEqual([...extended(noSelection, order, 'c').ids], ['c']);
  assert.equal(extended(one, order, 'gone'), one);
  assert.equal(allToggled(allToggled(one, order), order).ids.size, 0);
  assert.deepEqual([...keptIn(range, ['c', 'x']).ids], ['c']);
  assert.equal(keptIn(range, order), range);
});

test('folders are lines of a tree, counted with what is below them; none goes below itself', () => {
  const lines = branchesOf(folders, all).map(({ folder, depth, count }) => `${folder.id} ${depth} ${count}`);
  assert.deepEqual(lines, ['north 0 2', 'gates 1 1', 'a 0 0', 'b 1 0'], 'those below each other too');
  const orphan = [{ id: 'x', name: 'X', parent_id: 'gone' }];
  assert.deepEqual(
    branchesOf(orphan, []).map(({ depth }) => depth),
    [0],
  );
  assert.equal(mayMove(folders, 'north', 'gates'), false);
  assert.equal(mayMove(folders, 'north', 'north'), false);
  assert.equal(mayMove(folders, 'gates', 'north'), false, 'it is there');
  assert.equal(mayMove(folders, 'gates', ''), true);
  assert.equal(mayMove(folders, 'gates', 'a'), true);
  assert.equal(mayMove(folders, 'gone', ''), false);
});
