import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Candidate, Rendezvous } from '../../src/cluster/owners/rendezvous.js';

const CAMERAS = 4_000;
const cameras = Array.from({ length: CAMERAS }, (_, index) => `cam-${index}`);

const boxes = fc.uniqueArray(
  fc.record({
    name: fc.stringMatching(/^[a-z][a-z0-9.-]{0,12}[a-z0-9]$/),
    capacity: fc.integer({ min: 0, max: 20 }),
  }),
  { minLength: 1, maxLength: 12, selector: ({ name }) => name },
);

const ownersBy = (candidates: readonly Candidate[]): (string | null)[] => {
  const rendezvous = new Rendezvous(candidates);
  return cameras.map((id) => rendezvous.ownerOf(id));
};

test('in whatever order boxes are known, each camera has the same owner', () => {
  fc.assert(
    fc.property(boxes, fc.nat(), (candidates, turn) => {
      const at = turn % candidates.length;
      const turned = [...candidates.slice(at), ...candidates.slice(0, at)].reverse();
      assert.deepEqual(ownersBy(turned), ownersBy(candidates));
    }),
    { numRuns: 30 },
  );
});

test('where a box leaves only what it had moves, and where one comes only what it gets', () => {
  fc.assert(
    fc.property(boxes, fc.nat(), (candidates, which) => {
      const gone = candidates[which % candidates.length]!;
      const before = ownersBy(candidates);
      const after = ownersBy(candidates.filter((box) => box !== gone));
      for (const [index, owner] of before.entries())
        if (owner !== gone.name) assert.equal(after[index], owner);
        else assert.notEqual(after[index], gone.name);
    }),
    { numRuns: 30 },
  );
});

test('each box has the share that its capacity says', () => {
  fc.assert(
    fc.property(boxes, (candidates) => {
      const total = candidates.reduce((sum, { capacity }) => sum + capacity, 0);
      const owners = ownersBy(candidates);
      for (const { name, capacity } of candidates) {
        const got = owners.filter((owner) => owner === name).length;
        const share = total === 0 ? 0 : capacity / total;
        // Five standard deviations.
        const off = 5 * Math.sqrt(CAMERAS * share * (1 - share)) + 1;
        assert.ok(Math.abs(got - CAMERAS * share) <= off, `${name}: ${got} of ${CAMERAS * share}`);
      }
      if (total === 0) assert.ok(owners.every((owner) => owner === null));
    }),
    { numRuns: 60 },
  );
});
