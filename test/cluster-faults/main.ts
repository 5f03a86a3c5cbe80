/**
 * `npm run test:cluster -- --only kill,freeze --cameras 60` lets faults happen to three boxes and their servers, and prints
 * what each cost: README.md.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { withoutNats } from '../support/nats-servers.js';
import { tableOf } from '../web-budgets/figures.js';
import { FAULTS } from './faults.js';
import { measureMany } from './many-cameras.js';
import { Network, withoutNetworks } from './network.js';
import { measureRelayed } from './relayed.js';
import { type Cost, type Fault, type SufferOptions, suffer } from './scenario.js';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    cameras: { type: 'string', default: '60' },
    logs: { type: 'string' },
  },
});
const cameras = Number(values.cameras);
if (!(cameras > 0)) throw new Error('--cameras wants a number');
const wanted = values.only.split(',').filter((name) => name !== '');
const isWanted = (name: string): boolean =>
  wanted.length === 0 || wanted.some((part) => name.startsWith(part));
const chosen = FAULTS.filter(({ name }) => isWanted(name));
const MANY = 10_000;

const sec = (ms: number): string => (ms / 1_000).toFixed(1);

const lineOf = ({ what, hit, unrecordedMs, doubledMs, wellAfterMs, viewerGapMs, faults }: Cost): string =>
  `| ${[
    ...[what, hit, sec(unrecordedMs), sec(doubledMs), sec(wellAfterMs), sec(viewerGapMs)],
    faults.length === 0 ? 'held' : `NOT HELD: ${faults.join('; ')}`,
  ].join(' | ')} |`;

const HEAD = [
  '| Fault | Cameras hit | Unrecorded, s | Doubled, s | One owner each after, s | Viewers waited, s | |',
  '| --- | --- | --- | --- | --- | --- | --- |',
].join('\n');

const compileShim = (folder: string): string | null => {
  const source = join(import.meta.dirname, '../../../test/support/stepped-clock.c');
  const shim = join(folder, 'stepped-clock.so');
  const { status } = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', shim, source, '-ldl']);
  return status === 0 ? shim : null;
};

/** What isn't held is tried once more: the machine may have had other things to do. Both are told. */
const insist = async (fault: Fault, options: SufferOptions): Promise<boolean> => {
  for (const isLast of [false, true]) {
    const cost = await suffer(fault, options);
    console.log(lineOf(cost));
    if (cost.faults.length === 0) return true;
    if (isLast) return false;
  }
  return false;
};

const missing = withoutNats || withoutNetworks();
if (missing !== false) {
  console.log(`skipped: ${missing}`);
} else {
  const folder = mkdtempSync(join(tmpdir(), 'framering-faults-'));
  const network = new Network(3);
  process.on('SIGINT', () => process.exit(130)).on('SIGTERM', () => process.exit(143));
  try {
    const clockShim = compileShim(folder);
    const machine = `${availableParallelism()} x ${cpus()[0]?.model ?? 'unknown'}, Node ${process.versions.node}`;
    console.log(`${cameras} cameras; ${machine}, load ${(loadavg()[0] ?? 0).toFixed(1)}\n\n${HEAD}`);
    let isHeld = true;
    for (const fault of chosen) {
      if (clockShim === null && fault.name.startsWith('clock')) {
        console.log(`| ${fault.what} | skipped: it takes a C compiler |`);
        continue;
      }
      try {
        const held = await insist(fault, {
          ...{ network, options: { cameras, clockShim } },
          logsDir: values.logs === undefined ? null : resolve(values.logs),
        });
        isHeld &&= held;
      } catch (thrown) {
        isHeld = false;
        console.log(`| ${fault.what} | NOT HELD: ${(thrown as Error).stack} |`);
      } finally {
        for (const box of [0, 1, 2]) network.mend(box);
      }
    }
    const rows = [
      ...(isWanted('relayed') ? await measureRelayed(network, { cameras, clockShim: null }) : []),
      ...(isWanted('many') ? await measureMany(MANY) : []),
    ];
    if (rows.length > 0) console.log(`\n${tableOf(rows)}`);
    process.exitCode = isHeld && rows.every((row) => row.isHeld) ? 0 : 1;
  } finally {
    network.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}
