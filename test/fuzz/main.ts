// Fuzzes parsers for as long as wanted: `npm run fuzz -- [--seconds 60] [--seed 1] [--corpus FOLDER] [target …]`.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { targets } from './targets.js';
import { fuzz } from './watched.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    corpus: { type: 'string', default: '' },
  },
});
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const names = positionals.length > 0 ? positionals : Object.keys(targets);
const unknown = names.filter((name) => !Object.hasOwn(targets, name));
if (unknown.length > 0 || !(Number(values.seconds) > 0)) {
  say(`--seconds is a number; targets: ${Object.keys(targets).join(' ')}`);
  process.exit(2);
}
say(`${values.seconds} s a target, seed ${values.seed}`);
for (const name of names) {
  const { runs, places, inputs, found } = await fuzz({
    module: new URL('./targets.js', import.meta.url).href,
    ...{
      name,
      corpus: values.corpus,
      seed: Number(values.seed),
      milliseconds: Number(values.seconds) * 1_000,
    },
  });
  say(`${name}: ${runs} runs, ${places} places reached, ${inputs} inputs kept`);
  if (found === null) continue;
  const file = join(values.corpus, `found-${name}`);
  writeFileSync(file, found.input);
  say(`  FOUND, the input is in ${file}: ${found.fault}`);
  process.exitCode = 1;
}
