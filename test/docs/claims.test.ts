import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { mayRole, type Permission, type Role } from '../../src/auth/permissions.js';
import { createLogger } from '../../src/base/log.js';
import { SelfSigned } from '../../src/http/tls/self-signed.js';
import { FakeClock } from '../support/fake-clock.js';
import { tempFolder } from '../support/temp-folder.js';

const GUIDE = 'src/docs/guide';
const names: readonly string[] = JSON.parse(readFileSync(`${GUIDE}/contents.json`, 'utf8'));
const markdown = (name: string): string => readFileSync(`${GUIDE}/${name}.md`, 'utf8');
const readme = readFileSync('README.md', 'utf8');

test('each variable that the service reads is told of, and each that is told of is read', () => {
  const [, table] = /\n## Configuration\n([\s\S]+?)\n## /.exec(readme)!;
  const told = [...table!.matchAll(/^\| (`[^|]+)\|/gm)].flatMap(([, cell]) =>
    [...cell!.matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map(([, name]) => name!),
  );
  const read = readFileSync('src/config.ts', 'utf8').matchAll(/'([A-Z]+(?:_[A-Z0-9]+)*)'/g);
  assert.deepEqual(told.sort(), [...new Set([...read].map(([, name]) => name!))].sort());
});

test('each measured figure stands in the README that it is from', () => {
  const rows = [...markdown('sizing').matchAll(/^\| ([^|]+) \| ([^|]+) \| `(src\/[^`]+)` +\|$/gm)];
  assert.equal(rows.length, 4);
  for (const [, what, took, path] of rows)
    for (const [figure] of took!.matchAll(/\d+(?:\.\d+)?/g))
      assert.match(
        readFileSync(path!, 'utf8'),
        new RegExp(`(?<![\\d.])${figure.replace('.', '\\.')}(?![\\d.]*\\d)`),
        what,
      );
  const written = readFileSync('src/archive/write/README.md', 'utf8').replaceAll(/\s+/g, ' ');
  const disks = markdown('disks').replaceAll(/\s+/g, ' ');
  for (const figure of ['0.022 to 0.030 %', '0.015 to 0.19 %', '4 to 856 ms', 'about 10 s', '4096 bytes']) {
    assert.ok(disks.includes(figure), figure);
    assert.ok(written.includes(figure), figure);
  }
});

test('roles may what the guide says', () => {
  const rows = new Map(
    [...markdown('users').matchAll(/^\| `(\w+)` +\| (.+?) +\|$/gm)].map(([, role, may]) => [role, may!]),
  );
  const promises: readonly (readonly [role: Role, words: string, permission: Permission, may: boolean])[] = [
    ['viewer', 'watch', 'live.watch', true],
    ['viewer', 'play back and export', 'archive.read', true],
    ['viewer', 'walls', 'wall.open', true],
    ['operator', 'change cameras, tags and folders', 'cameras.edit', true],
    ['operator', 'change cameras, tags and folders', 'tags.edit', true],
    ['operator', 'change cameras, tags and folders', 'folders.edit', true],
    ['operator', 'move cameras', 'ptz.control', true],
    ['operator', 'delete recordings', 'archive.delete', true],
    ['operator', "see cameras' passwords", 'camera-credentials.read', true],
    ['operator', 'logs', 'logs.read', true],
    ['admin', 'users', 'users.manage', true],
    ['admin', 'keys', 'keys.manage', true],
    ['admin', 'webhooks', 'webhooks.manage', true],
    ['admin', 'settings', 'settings.manage', true],
    ['admin', 'the audit log', 'audit.read', true],
    ['admin', 'backups', 'backup.manage', true],
    ['service', 'watch', 'live.watch', true],
    ['service', 'change cameras, tags and folders', 'cameras.edit', true],
    ['service', 'delete recordings', 'archive.delete', true],
    ['service', 'lists neither cameras', 'cameras.list', false],
    ['service', 'nor events', 'events.read', false],
  ];
  for (const [role, words, permission, may] of promises) {
    assert.ok(rows.get(role)?.includes(words), `${role}: ${words}`);
    assert.equal(mayRole(role, permission), may, `${role}: ${permission}`);
    const lower: Partial<Record<Role, Role>> = { operator: 'viewer', admin: 'operator' };
    const below = lower[role];
    if (below !== undefined) assert.equal(mayRole(below, permission), false, `${below}: ${permission}`);
  }
});

/** What stands outside blocks of `sh`, which `commands.test.ts` types: who proves it, or why nobody does. */
const ELSEWHERE: Readonly<Record<string, { readonly proof: string } | { readonly why: string }>> = {
  'npm ci && npm start': { proof: 'test/e2e/npm-start.test.ts' },
  'npm start': { proof: 'test/e2e/npm-start.test.ts' },
  'npm run build': { proof: 'test/e2e/npm-start.test.ts' },
  'npm install ./framering-0.1.0.tgz --omit=dev': { proof: 'test/e2e/packed.test.ts' },
  'npx framering': { proof: 'test/e2e/packed.test.ts' },
  'npx framering --help': { proof: 'test/e2e/packed.test.ts' },
  'npm install': { proof: 'test/e2e/packed.test.ts' },
  'npm pack': { proof: 'test/e2e/packed.test.ts' },
  'npm run -s import -- mediamtx.yml': { proof: 'test/import' },
  'docker build -t framering . && docker run -p 8080:8080 -p 9090:9090 -v framering:/data framering': {
    proof: 'test/install',
  },
  'docker build --target with-ffmpeg -t framering .': { proof: 'test/install' },
  'docker compose -f src/install/compose.yaml up --detach': { proof: 'test/install' },
  'openssl x509 -in self-signed.pem -out framering.crt': { proof: 'test/docs/claims.test.ts' },
  'npm ci': { why: 'each run of all tests in a fresh clone begins with it' },
  'npm ci && npm test': { why: 'it is what runs this' },
  'npm run check': { why: 'npm test begins with it' },
  'npm run format': { why: 'it writes into the source; npm run check asks the same' },
  'npm ci && npm run demo': { why: 'it runs until somebody ends it' },
  'npm run demo': { why: 'it runs until somebody ends it' },
  'npm run bench': { why: 'it takes a quiet machine for minutes, and judges nothing' },
  'npm run bench -- box --cameras 50 --record --ws 10': { proof: 'test/native-free-bench/box.test.ts' },
  'npm run archive-budgets': {
    why: 'it makes 360,000 files, and takes a quiet machine for a quarter of an hour',
  },
  'npm run test:cluster': {
    why: 'it takes root and half an hour; test/e2e/cluster-faults.test.ts is its short form',
  },
  'npm run web-budgets': { why: 'it takes a quiet machine for three quarters of an hour' },
  'node --env-file=…': { why: "an option of Node's own" },
};

test('each command that is not typed by a test has its proof elsewhere, or a reason', () => {
  const told = new Set<string>();
  for (const text of [readme, ...names.map(markdown)]) {
    const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, '');
    for (const [, command] of prose.matchAll(/^ {4}(\S.*)$/gm)) told.add(command!);
    for (const [, command] of prose.matchAll(/`((?:npm|npx|node|docker|openssl|systemctl) [^`]+)`/g))
      told.add(command!.replaceAll(/\s+/g, ' '));
  }
  assert.deepEqual([...told].sort(), Object.keys(ELSEWHERE).sort());
  for (const entry of Object.values(ELSEWHERE))
    if ('proof' in entry) assert.ok(existsSync(entry.proof), entry.proof);
});

test('what iPhones are to install is the certificate without its key', (t) => {
  const folder = tempFolder(t);
  const names = { hosts: ['cameras.example'], addresses: [] };
  const certificate = new SelfSigned(folder, names, { clock: new FakeClock(), log: createLogger(() => {}) });
  certificate.stop();
  const [command, ...args] = 'openssl x509 -in self-signed.pem -out framering.crt'.split(' ');
  assert.equal(spawnSync(command!, args, { cwd: folder }).status, 0);
  const made = readFileSync(join(folder, 'framering.crt'), 'utf8');
  assert.doesNotMatch(made, /PRIVATE KEY/);
  assert.ok(new X509Certificate(made).raw.equals(new X509Certificate(certificate.pair.cert).raw));
});
