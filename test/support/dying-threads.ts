import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread, workerData } from 'node:worker_threads';

/**
 * Loaded into the service by a test (`NODE_OPTIONS`): a thread that records throws what nobody catches, as a fault of
 * ours would, when there is a file "die" in the folder that the test names. Each such file ends one thread, and
 * becomes "died".
 */
const folder = process.env['DYING_THREADS_FOLDER'];
const LOOK_EVERY_MS = 20;

const look = (): void => {
  try {
    rmSync(join(folder!, 'die'));
  } catch {
    return;
  }
  writeFileSync(join(folder!, 'died'), '');
  throw new Error('a fault that the test made');
};

if (!isMainThread && folder !== undefined && workerData?.archiveDir !== undefined) {
  setInterval(look, LOOK_EVERY_MS).unref();
}
