/**
 * `npm run web-budgets` measures every budget of the web app; `npm run web-budgets -- NAME ... --seconds N --out FILE`
 * some of them, for so long, into a file too. Ends with 1 where one is not held.
 */
import { appendFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { type Row, tableOf } from './figures.js';
import type { Measure } from './measure.js';
import { measures } from './measures.js';

class UsageError extends Error {}

type CommandLine = {
  readonly chosen: readonly Measure[];
  readonly seconds: number | null;
  readonly out: string | null;
};

const readCommandLine = (args: readonly string[]): CommandLine => {
  const chosen: Measure[] = [];
  const options = new Map<string, string>();
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? '';
    const option = /^--(seconds|out)(?:=(.*))?$/.exec(arg);
    if (option !== null) options.set(option[1] ?? '', option[2] ?? args[++index] ?? '');
    else {
      const found = measures.filter(({ name }) => name === arg);
      if (found.length === 0) throw new UsageError(`there is no ${arg}`);
      chosen.push(...found);
    }
  }
  const seconds = options.has('seconds') ? Number(options.get('seconds')) : null;
  if (seconds !== null && !(seconds > 0)) throw new UsageError('--seconds wants a number');
  return { chosen: chosen.length === 0 ? measures : chosen, seconds, out: options.get('out') ?? null };
};

const say = (text: string, out: string | null): void => {
  process.stdout.write(`${text}\n`);
  if (out !== null) appendFileSync(out, `${text}\n`);
};

const loadNow = (): string => (loadavg()[0] ?? 0).toFixed(1);

const run = async ({ name, about, seconds, run }: Measure, given: number | null): Promise<readonly Row[]> => {
  try {
    return await run(given ?? seconds);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [{ what: `${name}: ${about}`, budget: 'to end', figure: why.slice(0, 300), isHeld: false }];
  }
};

const main = async ({ chosen, seconds, out }: CommandLine): Promise<boolean> => {
  if (out !== null) writeFileSync(out, '');
  const machine = `${availableParallelism()} x ${cpus()[0]?.model ?? 'unknown'}, Node ${process.versions.node}`;
  say(`${new Date().toISOString()}, ${machine}`, out);
  let isHeld = true;
  for (const measure of chosen) {
    const before = loadNow();
    const rows = await run(measure, seconds);
    isHeld &&= rows.every((row) => row.isHeld);
    const head = `## ${measure.name}: ${measure.about}`;
    say(`\n${head} (${seconds ?? measure.seconds} s, load before ${before}, after ${loadNow()})\n`, out);
    say(tableOf(rows), out);
  }
  say(isHeld ? '\nEvery budget was held.' : '\nNot every budget was held.', out);
  return isHeld;
};

try {
  process.exit((await main(readCommandLine(process.argv.slice(2)))) ? 0 : 1);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  const names = measures.map(({ name, seconds, about }) => `  ${name.padEnd(14)}${about} (${seconds} s)`);
  process.stderr.write(`${error.message}; there are:\n${names.join('\n')}\n`);
  process.exit(2);
}
