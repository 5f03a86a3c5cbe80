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
      return child !== null && textOf(`/proc/${child}/cmdline`).startsWith(SYSTEMD) && child;
    },
    { deadlineMs: 60_000, describe: () => said },
  );
  const inside = (...command: string[]) => run('nsenter', ['--target', init, '--all', '--', ...command]);
  /** This machine's files, on that one's network. */
  const beside = (...command: string[]) => run('nsenter', ['--target', init, '--net', '--', ...command]);
  return { inside, beside };
};

/** "" where it isn't there (any more). */
const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
};

const childOf = (pid: number): string | null =>
  textOf(`/proc/${pid}/task/${pid}/children`).trim().split(' ')[0] || null;

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

/** The same, where the service may be started: `start` does, waits until it listens, and tells the password of the first time. */
const booted = async (t: TestContext) => {
  const { inside, beside } = await boot(t);
  const journal = (): string => inside('journalctl', '--no-pager', '--output=cat').said;
  const listened = (): number => journal().split('"msg":"listening"').length;
  const start = async (): Promise<string> => {
    const before = listened();
    const started = await until(
      'systemd takes orders, and starts it',
      () => {
        const outcome = inside('systemctl', 'start', 'framering');
        return /Failed to connect|No such file|bus/.test(outcome.said) ? null : outcome;
      },
      { deadlineMs: 60_000 },
    );
    assert.equal(started.status, 0, started.said + journal());
    await until('it listens', () => listened() > before, { deadlineMs: 60_000, describe: journal });
    return /^password: (.*)$/m.exec(journal())?.[1] ?? '';
  };
  return { inside, beside, start, journal };
};

test('under systemd, locked in, it records a camera, draws a snapshot of it, and ends in order', {
  skip: whyNot(),
}, async (t) => {
  const { inside, beside, start, journal } = await booted(t);
  const password = await start();
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

test("with the README's drop-in a disk for recordings may be missing at the start: all else goes on, and it is recorded to once it is there", {
  skip: whyNot(),
}, async (t) => {
  const { inside, beside, start, journal } = await booted(t);
  const readme = readFileSync(join(repo, 'src/install/README.md'), 'utf8');
  const dropIn = /^```ini\n(.*?)^```/ms.exec(readme)?.[1] ?? '';
  const shell = (script: string): string => {
    const { status, said } = inside('sh', '-euc', script);
    assert.equal(status, 0, said);
    return said.trim();
  };
  const mount = 'mount --bind /disk /mnt/recordings';
  await until('systemd takes orders', () => inside('systemctl', 'daemon-reload').status === 0, {
    deadlineMs: 60_000,
  });
  shell(`mkdir -p /disk /mnt/recordings /etc/systemd/system/framering.service.d
    chown framering:framering /disk
    cat >/etc/systemd/system/framering.service.d/override.conf <<'END'\n${dropIn}END
    systemctl daemon-reload
    ${mount}`);
  const password = await start();
  const guest = (): string => beside(process.execPath, join(import.meta.dirname, 'guest.js'), password).said;
  assert.match(guest(), /"state":"streaming"/, journal());
  const kept = (): string => shell('ls /disk/gate');
  const before = kept();
  shell('systemctl stop framering; umount /mnt/recordings');
  await start();
  const ready = (): string => beside('curl', '-s', 'http://127.0.0.1:8080/readyz').said;
  await until('it says that the disk is missing', () => /"archive":"(?!ok)/.test(ready()), {
    deadlineMs: 30_000,
    describe: ready,
  });
  assert.equal(shell('ls /mnt/recordings'), '');
  shell(mount);
  await until('it sees the disk', () => /"archive":"ok"/.test(ready()), {
    deadlineMs: 30_000,
    describe: ready,
  });
  assert.match(guest(), /"state":"streaming"/, journal());
  assert.notEqual(kept(), before);
});
