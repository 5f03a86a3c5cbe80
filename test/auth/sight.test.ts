import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Limits, Sights } from '../../src/auth/sight.js';

/** Names that fool whoever takes folders for paths, or objects for maps. */
const hostile = [
  '/',
  '..',
  '.',
  'a/b',
  'a',
  'A',
  'ä',
  'a\u0308',
  '__proto__',
  'constructor',
  '',
  ' ',
  '%2e',
  '\0',
];
const anyName = fc.oneof(fc.constantFrom(...hostile), fc.string({ maxLength: 3 }));

type Places = {
  readonly parents: ReadonlyMap<string, string>;
  readonly cameras: ReadonlyMap<string, string>;
};

const sightsOf = ({ parents, cameras }: Places, ended: string[] = [], watching: string[] = []): Sights =>
  new Sights({
    cameras: { folderOf: (id) => cameras.get(id) ?? null, withTag: () => [...cameras.keys()] },
    folders: { parentOf: (id) => parents.get(id) ?? null },
    limitsOf: () => ({ folders: ['yard'], cameras: [] }),
    viewers: {
      endUnseen: (sees) => {
        ended.push(...watching.filter((id) => !sees('eve', id)));
      },
    },
  });

/** All folders of which one is above the other, or the same: found the other way round, from above. */
const below = (parents: ReadonlyMap<string, string>, roots: readonly string[]): Set<string> => {
  const found = new Set(roots.filter((id) => id !== ''));
  for (let count = -1; count < found.size; ) {
    count = found.size;
    for (const [id, parent] of parents) if (id !== '' && found.has(parent)) found.add(id);
  }
  return found;
};

const anyPlaces = fc.record({
  parents: fc.array(fc.tuple(anyName, anyName), { maxLength: 8 }).map((pairs) => new Map(pairs)),
  cameras: fc.array(fc.tuple(anyName, anyName), { maxLength: 8 }).map((pairs) => new Map(pairs)),
});
const anyLimits: fc.Arbitrary<Limits> = fc.record({
  folders: fc.array(anyName, { maxLength: 3 }),
  cameras: fc.array(anyName, { maxLength: 3 }),
});

test('whatever folders are called, one covers itself and what is below it, and nothing else; circles end', () => {
  fc.assert(
    fc.property(anyPlaces, anyLimits, anyName, (places, limits, asked) => {
      const sight = sightsOf(places).of(limits);
      const covered = below(places.parents, limits.folders);
      assert.equal(sight.seesFolder(asked), covered.has(asked));
      for (const [id, folderId] of places.cameras)
        assert.equal(sight.seesCamera(id), covered.has(folderId) || limits.cameras.includes(id));
      if (!places.cameras.has(asked)) assert.equal(sight.seesCamera(asked), false);
      const seesAny = [...places.cameras.keys()].some((id) => sight.seesCamera(id));
      assert.equal(sight.seesTag('any'), seesAny);
    }),
    { numRuns: 2_000 },
  );
});

test('whoever is not limited sees everything, also what is not there', () => {
  const sight = sightsOf({ parents: new Map(), cameras: new Map() }).of(null);
  assert.deepEqual(
    [sight.isLimited, sight.seesCamera('x'), sight.seesFolder(''), sight.seesTag('x')],
    [false, true, true, true],
  );
});

test('what is elsewhere ends for whoever does not see it there, and readers are told to look anew', async () => {
  const parents = new Map([['gate', 'yard']]);
  const cameras = new Map([
    ['one', 'gate'],
    ['two', 'yard'],
  ]);
  const ended: string[] = [];
  const sights = sightsOf({ parents, cameras }, ended, ['one', 'two']);
  const sight = sights.ofName('eve');
  const before = sight.revision;
  sights.moved();
  await Promise.resolve();
  assert.deepEqual(ended, []);
  assert.notEqual(sight.revision, before);
  parents.set('gate', 'house');
  sights.moved();
  sights.moved();
  await Promise.resolve();
  assert.deepEqual(ended, ['one'], 'once for all that moved in one turn');
  assert.equal(sight.seesCamera('one'), false, 'at once, for who asked before, too');
});

test('what the database does not place is out of sight for whoever watches it, and nobody else is held up', async () => {
  const ended: string[] = [];
  const broken = { get: () => assert.fail('the disk is gone') } as unknown as Map<string, string>;
  sightsOf({ parents: new Map(), cameras: broken }, ended, ['mine', 'other']).moved();
  await Promise.resolve();
  assert.deepEqual(ended, ['mine', 'other']);
});
