import { parentPort, workerData } from 'node:worker_threads';
import { seededRandom } from '../support/seeded-random.js';
import { Coverage } from './coverage.js';
import { Fuzzer } from './fuzzer.js';
import type { Target } from './target.js';
import { HEAD_BYTES, INPUTS, LENGTH, type ThreadData, type Told } from './watched.js';

const { module, name, seed, milliseconds, shared, kept } = workerData as ThreadData;
const head = new Int32Array(shared, 0, 2);
const bytes = Buffer.from(shared, HEAD_BYTES);
const tell = (told: Told): void => parentPort!.postMessage(told);

// Before the module is loaded: what runs as it is loaded is nothing new later.
const coverage = new Coverage(new URL('../../', import.meta.url).href);
const { targets } = (await import(module)) as { targets: Readonly<Record<string, Target>> };
const target = targets[name];
if (target === undefined) throw new Error(`there is no target ${name}`);
const seeds = target.seeds.map((input) => Buffer.from(input));
coverage.takeNew();

const fuzzer = new Fuzzer(target, {
  coverage,
  random: seededRandom(seed),
  onInput: (input) => {
    Atomics.store(head, LENGTH, input.copy(bytes));
    Atomics.add(head, INPUTS, 1);
  },
  onKept: (input) => tell({ kept: input }),
});
const endMs = performance.now() + milliseconds;
let found = fuzzer.begin([...seeds, ...kept.map((input) => Buffer.from(input))]);
while (found === null && performance.now() < endMs) {
  found = fuzzer.batch();
  // What a target leaves to be done later throws in its own turn.
  await new Promise(setImmediate);
}
tell({ runs: fuzzer.runs, places: fuzzer.places, inputs: fuzzer.corpus.length, found });
