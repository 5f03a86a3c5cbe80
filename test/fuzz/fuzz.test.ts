import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { tempFolder } from '../support/temp-folder.js';
import { targets } from './targets.js';
import { fuzz } from './watched.js';

const planted = new URL('./planted.js', import.meta.url).href;
const module = new URL('./targets.js', import.meta.url).href;
const none = { corpus: '', seed: 1 };

test('what stands behind four doors is found, since each that opens is noticed, and is made short', async (t) => {
  const corpus = tempFolder(t);
  const options = { module: planted, name: 'throws', seed: 1, corpus, milliseconds: 60_000 };
  const { found, places, runs } = await fuzz(options);
  assert.match(found?.fault ?? '', /planted/);
  assert.equal(found?.input.toString(), 'DEEP');
  assert.ok(places >= 4, `${places}`);
  t.diagnostic(`${runs} runs`);
  // What led there was kept: the next run begins where this one ended.
  const kept = readdirSync(`${corpus}/throws`).length;
  assert.ok(kept >= 3, `${kept} kept`);
  const again = await fuzz({ ...options, milliseconds: 0 });
  assert.deepEqual([again.found, again.runs, again.inputs], [null, 1 + kept, 1 + kept]);
});

test('what hangs, or takes all memory, is found by whoever watches', async () => {
  const hangs = await fuzz({ ...none, module: planted, name: 'hangs', milliseconds: 60_000 });
  assert.match(hangs.found?.fault ?? '', /hangs/);
  assert.equal(hangs.found?.input.toString(), 'HANG');
  const swells = await fuzz({ ...none, module: planted, name: 'swells', milliseconds: 60_000 });
  assert.match(swells.found?.fault ?? '', /memory/);
});

for (const name of Object.keys(targets))
  test(`fuzzed for a moment: ${name}`, async (t) => {
    const { found, runs, places } = await fuzz({ ...none, module, name, milliseconds: 500 });
    t.diagnostic(`${runs} runs, ${places} places`);
    assert.equal(found, null, found === null ? '' : `${found.fault}\ninput: ${found.input.toString('hex')}`);
    assert.ok(places > 5, 'nothing was reached');
  });
