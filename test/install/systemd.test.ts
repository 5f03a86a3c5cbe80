import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { tempFolder } from '../support/temp-folder.js';
import { repo, run, whyNotThere } from './judges.js';

const install = join(repo, 'src/install');
const unit = readFileSync(join(install, 'framering.service'), 'utf8');
const PACKAGE = '/opt/framering/node_modules/framering';
/** Of 10. README.md beside the unit says what it is made of. */
const MOST_EXPOSURE = 2;
const skip = whyNotThere('systemd-analyze');

/** With Node where it is on this machine. */
const unitHere = (t: TestContext, text = unit): string => {
  const path = join(tempFolder(t), 'framering.service');
  writeFileSync(path, text.replace('/usr/bin/node', process.execPath));
  return path;
};

test('systemd finds nothing to say about the unit, and would about a word it does not know', {
  skip,
}, (t) => {
  assert.deepEqual(run('systemd-analyze', ['verify', unitHere(t)]), { status: 0, said: '' });
  const worse = unitHere(t, unit.replace('ProtectSystem=strict', 'ProtectSystems=strict'));
  assert.match(run('systemd-analyze', ['verify', worse]).said, /ProtectSystems/);
});

test('the service is locked in', { skip }, (t) => {
  const { said } = run('systemd-analyze', ['security', '--offline=true', '--no-pager', unitHere(t)]);
  const exposure = Number(/Overall exposure level for framering\.service: ([\d.]+)/.exec(said)?.[1]);
  assert.ok(exposure <= MOST_EXPOSURE, said);
  const told = /calls its exposure ([\d.]+) of 10/.exec(
    readFileSync(join(install, 'README.md'), 'utf8'),
  )?.[1];
  assert.equal(Number(told), exposure, 'the README tells the figure');
});

test('what the unit starts, and names, is in the package', () => {
  const named = [...unit.matchAll(new RegExp(`${PACKAGE}/(\\S+)`, 'g'))].map((match) => match[1]!);
  assert.ok(named.includes('dist/src/main.js'));
  for (const path of named) assert.ok(existsSync(join(repo, path)), path);
  const { scripts } = JSON.parse(readFileSync(join(repo, 'package.json'), 'utf8')) as {
    scripts: { start: string };
  };
  const started = /exec node (.*)dist\/src\/main\.js/.exec(scripts.start)?.[1];
  assert.ok(unit.includes(`node ${started}${PACKAGE}/dist/src/main.js`), 'as npm start does');
});

const needsSysusers = whyNotThere('systemd-sysusers');

test('its user is made', { skip: needsSysusers }, (t) => {
  const root = tempFolder(t);
  mkdirSync(join(root, 'etc'));
  const { status, said } = run('systemd-sysusers', [
    `--root=${root}`,
    '--replace=/usr/lib/sysusers.d/framering.conf',
    join(install, 'framering.sysusers'),
  ]);
  assert.equal(status, 0, said);
  const user = /^User=(.*)$/m.exec(unit)?.[1];
  assert.match(
    readFileSync(join(root, 'etc/passwd'), 'utf8'),
    new RegExp(`^${user}:.*:/var/lib/framering:`, 'm'),
  );
});
