import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const entry = join(import.meta.dirname, '../../native-free-bench/main.js');

/** Runs the bench as a person would. */
export const runBench = (...args: readonly string[]) =>
  spawnSync(process.execPath, ['--enable-source-maps', entry, ...args], { encoding: 'utf8' });
