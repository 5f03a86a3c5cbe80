import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BoxView } from '../../src/cluster/boxes/box-table.js';
import { AskedRelays } from '../../src/cluster/owners/asked-relays.js';
import type { Theirs } from '../../src/cluster/owners/verdict.js';

const box = (name: string, address: string | null): BoxView => ({
  ...{
    name,
    address,
    boot: `${name}-boot`,
    isHere: true,
    isLeaving: false,
    capacity: 1,
    load: 0,
    cameras: 0,
  },
  ...{ relayPort: 7440, version: '1', store: null, hears: [], aheadMs: 0, sinceMs: 0 as BoxView['sinceMs'] },
});

const by = (name: string, epoch: number, more: Partial<Theirs['row']> = {}): Theirs => ({
  by: { box: name, isLeaving: false },
  row: { epoch, isClaimed: true, isReady: true, isFailing: false, isTrial: false, isSilent: false, ...more },
});

const looking = () => {
  const relays = new AskedRelays();
  relays.see([box('north', 'https://north:8443'), box('south', 'https://south:8443'), box('west', null)]);
  return { relays, asked: () => relays.of('door')?.box ?? null };
};

test('a camera that works at a box which tells no address is asked of nobody, and not of the one that had it', () => {
  const { relays, asked } = looking();
  assert.equal(relays.look('door', [by('north', 1)]), true);
  assert.equal(asked(), 'north');
  assert.equal(relays.look('door', [by('west', 2)]), true, 'that is news');
  assert.equal(asked(), null);
  assert.equal(relays.look('door', [by('west', 2)]), false);
  assert.equal(relays.look('door', [by('south', 3)]), true);
  assert.equal(asked(), 'south');
});

test('where nobody has it working yet, or somebody who can be asked has it, too, viewers wait where they are', () => {
  const { relays, asked } = looking();
  relays.look('door', [by('north', 1)]);
  for (const theirs of [
    [],
    [by('west', 2, { isReady: false })],
    [by('west', 2, { isTrial: true })],
    [by('west', 2), by('north', 1)],
  ]) {
    assert.equal(relays.look('door', theirs), false);
    assert.equal(asked(), 'north');
  }
});
