import { writeSync } from 'node:fs';
import { Store } from '../../src/store/store.js';
import { sampleCamera } from './samples.js';

/** Writes for ever, and says so on standard output once each write was acknowledged, until it is killed. */
const [path, first] = process.argv.slice(2);
const store = new Store(path!);
for (let index = Number(first); ; index++) {
  const id = `camera-${index}`;
  store.cameras.create(sampleCamera(id, { tags: ['a', 'b'], comment: String(index) }));
  store.traffic.add('2026-11', new Map([[id, index]]));
  writeSync(1, `${index}\n`);
}
