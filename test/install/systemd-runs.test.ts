import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { repo, run, whyNotThere } from './judges.js';

const SYSTEMD = '/lib/systemd/systemd';
const whyNot = (): string | false => {
  if (process.getuid?.() !== 0) return 'a machine in namespaces, with systemd in it, takes root';
  for (const path of [SYSTEMD, '/usr/bin/node']) if (!existsSync(path)) return `there is no ${path}`;
  if (run('findmnt', ['-n', '-t', 'cgroup2']).said === '') return 'no cgroup2 is mounted';
  return whyNotThere('unshare') || whyNotThere('nsenter');
};

/** A machine that systemd runs. Returns what runs a command there. */
const boot = async (t: TestContext) => {
  const script = join(repo, 'test/install/boot-systemd.sh');
  const machine = spawn('sh', [script, repo, tempFolder(t)], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [machine.stdout, machine.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  const exited = once(machine, 'exit');
  t.after(async () => {
    const { said: cgroup } = run('findmnt', ['-n', '-t', 'cgroup2', '-o', 'TARGET']);
    machine.kill('SIGKILL');
    await exited;
    const folder = join(cgroup.split('\n')[0]!, `framering-${machine.pid}`);
    await until('its processes have ended', () => removed(folder));
  });
  const init = await until(
    'systemd runs',
    () => {
      assert.equal(machine.exitCode, null, said);
      const child = childOf(machine.pid!);
      return child !== null && readFileSync(`/proc/${child}/cmdline`, 'latin1').startsWith(SYSTEMD) && child;
    },
    { deadlineMs: 60_000, describe: () => said },
  );
  const inside = (...command: string[]) => run('nsenter', ['--target', init, '--all', '--', ...command]);
  /** This machine's files, on that one's network. */
  const beside = (...command: string[]) => run('nsenter', ['--target', init, '--net', '--', ...command]);
  return { inside, beside };
};

const childOf = (pid: number): string | null => {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ')[0] || null;
  } catch {
    return null;
  }
};

/** Children first; true when all of them are gone. */
const removed = (folder: string): boolean => {
  for (const line of run('find', [folder, '-depth', '-type', 'd']).said.trim().split('\n').filter(existsSync))
    try {
      rmdirSync(line);
    } catch {
      return false;
    }
  return true;
};

test('under systemd, locked in, it records a camera, draws a snapshot of it, and ends in order', {
  skip: whyNot(),
}, async (t) => {
  const { inside, beside } = await boot(t);
  const started = await until(
    'systemd takes orders, and starts it',
    () => {
      const outcome = inside('systemctl', 'start', 'framering');
      return /Failed to connect|No such file|bus/.test(outcome.said) ? null : outcome;
    },
    { deadlineMs: 60_000 },
  );
  const journal = (): string => inside('journalctl', '--no-pager', '--output=cat').said;
  assert.equal(started.status, 0, started.said + journal());
  await until('it listens', () => journal().includes('"msg":"listening"'), {
    deadlineMs: 60_000,
    describe: journal,
  });
  const password = /^password: (.*)$/m.exec(journal())?.[1] ?? '';
  const guest = beside(process.execPath, join(import.meta.dirname, 'guest.js'), password);
  assert.equal(guest.said, '{"state":"streaming","snapshot":200,"hasBytes":true}', journal());
  const pid = inside('systemctl', 'show', '--property=MainPID', '--value', 'framering').said.trim();
  const status = inside('cat', `/proc/${pid}/status`).said;
  assert.match(status, /^CapEff:\t0+$/m);
  assert.match(status, /^Seccomp:\t2$/m);
  assert.equal(inside('systemctl', 'stop', 'framering').status, 0);
  assert.match(inside('systemctl', 'show', '--property=Result', 'framering').said, /^Result=success$/m);
  assert.match(journal(), /"msg":"stopped"/);
});
