/**
 * `npm run bench` runs all benchmarks of parts; `npm run bench -- NAME --option value` runs one; `--json` prints one JSON
 * object instead of tables. `npm run bench -- box` and its like measure the whole service; see README.md.
 */
import { availableParallelism, cpus } from 'node:os';
import { archive } from './archive.js';
import type { Bench, BenchOptions, BenchResult } from './bench.js';
import { box } from './box/box.js';
import { capacity } from './capacity/capacity.js';
import { chart } from './chart/chart.js';
import { depacketize } from './depacketize.js';
import { flac } from './flac.js';
import { fmp4 } from './fmp4.js';
import { ingest } from './ingest.js';
import { mpegts } from './mpegts.js';
import { readValue, UsageError } from './options.js';
import { recording } from './recording.js';
import { ring } from './ring.js';
import { rtspParser } from './rtsp-parser.js';
import { soak } from './soak/soak.js';
import { formatTable } from './table.js';
import { wall } from './wall.js';
import { websocketFanout } from './websocket-fanout.js';
import { whep } from './whep.js';

// One options type each; `run` only ever gets what was made from its own defaults.
const benches = [
  rtspParser,
  depacketize,
  ring,
  mpegts,
  fmp4,
  flac,
  ingest,
  recording,
  archive,
  websocketFanout,
  wall,
  whep,
] as unknown as readonly Bench[];

/** Of the whole service: each with options, and a result, of its own. */
const commands: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = {
  box,
  capacity,
  soak,
  chart,
};

const withDefaults = (bench: Bench, given: Readonly<Record<string, string>>): BenchOptions => {
  const options: Record<string, string | number> = { ...bench.options };
  for (const [name, text] of Object.entries(given)) {
    const fallback = options[name];
    if (fallback === undefined) {
      throw new UsageError(
        `${bench.name} has no --${name}; it has --${Object.keys(options).join(', --') || '(none)'}`,
      );
    }
    options[name] = readValue(name, text, fallback);
  }
  return options;
};

type CommandLine = {
  readonly chosen: readonly Bench[];
  readonly given: Readonly<Record<string, string>>;
  readonly json: boolean;
};

const readCommandLine = (args: readonly string[]): CommandLine => {
  const given: Record<string, string> = {};
  const chosen: Bench[] = [];
  let json = false;
  for (let index = 0; index < args.length; index++) {
    const arg = args[index]!;
    const option = /^--([a-z-]+)(?:=(.*))?$/.exec(arg);
    if (arg === '--json') json = true;
    else if (option !== null) given[option[1]!] = option[2] ?? args[++index] ?? '';
    else chosen.push(benchNamed(arg));
  }
  if (chosen.length !== 1 && Object.keys(given).length > 0) {
    throw new UsageError('options go with the name of one benchmark');
  }
  return { chosen: chosen.length === 0 ? benches : chosen, given, json };
};

const benchNamed = (name: string): Bench => {
  const bench = benches.find((known) => known.name === name);
  if (bench !== undefined) return bench;
  const known = [...benches.map((each) => each.name), ...Object.keys(commands)];
  throw new UsageError(`no benchmark ${name}; there are: ${known.join(', ')}`);
};

const print = (bench: Bench, result: BenchResult): void => {
  console.log(`\n${bench.name}: ${bench.describe}\n`);
  console.log(formatTable(result));
  for (const note of result.notes ?? []) console.log(`  ${note}`);
};

/** The benchmarks of parts. */
const runBenches = async (args: readonly string[]): Promise<void> => {
  const { chosen, given, json } = readCommandLine(args);
  const options = new Map(chosen.map((bench) => [bench, withDefaults(bench, given)]));
  const results: Record<string, BenchResult> = {};
  const machine = `${availableParallelism()} x ${cpus()[0]?.model.trim() ?? 'unknown'}, Node ${process.version}`;
  if (!json) console.log(machine);
  for (const [bench, asked] of options) {
    const result = await bench.run(asked);
    results[bench.name] = result;
    if (!json) print(bench, result);
  }
  if (json) console.log(JSON.stringify({ machine, results }, null, 2));
};

// So that what was started ends, and its folder goes.
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
try {
  const [name = '', ...args] = process.argv.slice(2);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) await runBenches(process.argv.slice(2));
  else process.exitCode = await command(args);
} catch (fault) {
  if (!(fault instanceof UsageError)) throw fault;
  console.error(fault.message);
  process.exitCode = 2;
}
