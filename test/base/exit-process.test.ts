import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempFolder } from '../support/temp-folder.js';

const module = new URL('../../src/base/exit-process.js', import.meta.url).href;

/** Runs `setup`, then ends with code 7; says how. */
const endAfter = (setup: string) => {
  const code = `import { exitProcess } from '${module}';\n${setup}\nsetTimeout(() => exitProcess(7), 300);`;
  const { status, signal } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    timeout: 60_000,
    killSignal: 'SIGTERM',
  });
  return { status, signal };
};

test('a process ends with its code', () => {
  assert.deepEqual(endAfter(''), { status: 7, signal: null });
});

test('a thread that hangs in a system call does not keep the process', (t) => {
  const pipe = join(tempFolder(t), 'pipe');
  execFileSync('mkfifo', [pipe]);
  // Opening a pipe for reading waits in the system for a writer, here in libuv's pool.
  const setup = `import { open } from 'node:fs'; open(${JSON.stringify(pipe)}, 'r', () => {});`;
  assert.deepEqual(endAfter(setup), { status: null, signal: 'SIGKILL' });
});
