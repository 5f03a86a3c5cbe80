import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { tempFolder } from './temp-folder.js';

/** Makes folders and files in the one that it is given, as fast as it can, until it is ended or whoever began it is. */
const WRITER = `
  const { mkdirSync, writeFileSync } = require('node:fs');
  const { ppid } = process;
  for (let n = 0; process.ppid === ppid; n++) {
    try {
      mkdirSync(process.argv[1] + '/' + (n % 50) + '/below', { recursive: true });
      writeFileSync(process.argv[1] + '/' + (n % 50) + '/below/file', 'x');
    } catch {}
  }`;

test('a folder in which somebody still writes stops no later hook, and is gone with the process', async () => {
  const url = JSON.stringify(new URL('./temp-folder.js', import.meta.url).href);
  const hooks = `
    const { tempFolder } = await import(${url});
    const hooks = [];
    const folder = tempFolder({ after: (hook) => hooks.push(hook) });
    const { spawn } = await import('node:child_process');
    const { existsSync } = await import('node:fs');
    const writer = spawn(process.execPath, ['-e', ${JSON.stringify(WRITER)}, folder]);
    while (!existsSync(folder + '/49/below/file')) await new Promise((done) => setTimeout(done, 5));
    for (let n = 0; n < 20; n++) for (const hook of hooks) hook();
    writer.kill('SIGKILL');
    await new Promise((done) => writer.once('exit', done));
    console.log(folder);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', hooks]);
  assert.match(stdout, /framering-/);
  assert.equal(existsSync(stdout.trim()), false);
});

test('a folder is gone behind its hook', async () => {
  const hooks: (() => unknown)[] = [];
  const folder = tempFolder({ after: (hook) => hooks.push(hook as () => unknown) });
  assert.ok(existsSync(folder));
  for (const hook of hooks) await hook();
  assert.equal(existsSync(folder), false);
});
