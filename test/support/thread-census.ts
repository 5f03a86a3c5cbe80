// Preloaded into each thread of a service by NODE_OPTIONS: what the thread holds once its garbage is gone, written to
// a file of its own every few seconds. Without collections, garbage that V8 has no need to collect looks like a leak.
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { threadId } from 'node:worker_threads';

const PERIOD_MS = 5_000;

const folder = process.env['THREAD_CENSUS_DIR'];

const resources = (): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
};

const takeCensus = (collectGarbage: () => void, path: string): void => {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  const census = { atMs: Date.now(), heapBytes: heapUsed, externalBytes: external, resources: resources() };
  // Under its name only when it is whole: the test may read at any moment.
  writeFileSync(`${path}.part`, JSON.stringify(census));
  renameSync(`${path}.part`, path);
};

if (folder !== undefined) {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const path = join(folder, `thread-${threadId}`);
  setInterval(() => takeCensus(collectGarbage, path), PERIOD_MS).unref();
}
