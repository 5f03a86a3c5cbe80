import { writeFileSync } from 'node:fs';
import { messageOf } from '../../src/base/errors.js';
import { measureBox } from '../box/box.js';
import {
  type BoxOptions,
  boxDefaults,
  cameraProcesses,
  checkBoxOptions,
  loadDefaults,
} from '../box/box-options.js';
import { sentPercent } from '../box/box-report.js';
import { Progress } from '../box/progress.js';
import { readOptions, UsageError } from '../options.js';
import { type RunFacts, runFacts } from '../run-facts.js';
import { type Cell, formatTable } from '../table.js';
import { findLimit, type Limit } from './find-limit.js';
import { type GivenOut, isHeld, type Step, whatGaveOut } from './what-gave-out.js';

const defaults = {
  ...loadDefaults,
  /** Where it begins. */
  cameras: 50,
  /** Where it ends, though all of them held. */
  most: 2_000,
  'warm-up': 10,
};

export type CapacityResult = RunFacts & {
  readonly bench: 'capacity';
  readonly limit: Limit;
  readonly gaveOut: GivenOut;
  readonly steps: readonly Step[];
};

const tryCameras = async (options: BoxOptions, cameras: number, progress: Progress): Promise<Step> => {
  try {
    return { cameras, result: await measureBox({ ...options, cameras }, progress), failure: null };
  } catch (fault) {
    // The service may have ended, or never got all cameras to stream: that is an answer, too.
    return { cameras, result: null, failure: messageOf(fault) };
  }
};

const rowOf = (step: Step): Cell[] => {
  const last = step.result?.windows.at(-1);
  const lost = Object.values(step.result?.lost ?? {}).reduce((sum, count) => sum + count, 0);
  return [
    step.cameras,
    isHeld(step) ? 'yes' : 'no',
    step.result === null ? '-' : lost,
    last === undefined ? '-' : sentPercent(last),
    last?.cpuMsPerSec ?? '-',
    last?.cameras.cpuMsPerSec ?? '-',
    last?.machine?.busyPercent ?? '-',
    last?.machine?.ioStallPercent ?? '-',
    last?.pssMb ?? last?.rssMb ?? '-',
    step.failure ?? '',
  ];
};

const columns = [
  'cameras',
  'held',
  'lost',
  '% sent',
  'CPU ms/s',
  'cameras ms/s',
  '% busy',
  '% disk stall',
  'PSS MB',
  '',
];

/** `npm run bench -- capacity`. */
export const capacity = async (args: readonly string[]): Promise<number> => {
  const { options: given, rest } = readOptions('capacity', defaults, args);
  if (rest.length > 0) throw new UsageError(`capacity takes options alone, not ${rest.join(' ')}`);
  const { most, ...asked } = given;
  const options: BoxOptions = { ...boxDefaults, ...asked };
  checkBoxOptions(options);
  if (!(Number.isInteger(most) && most >= options.cameras))
    throw new UsageError('--most is --cameras or more');
  const facts = runFacts(given);
  const progress = new Progress();
  const steps: Step[] = [];
  const limit = await findLimit(options.cameras, most, async (cameras) => {
    progress.show(`${cameras} cameras`, 'begins');
    const step = await tryCameras(options, cameras, progress);
    steps.push(step);
    return isHeld(step);
  });
  const failed = steps.find(({ cameras }) => cameras === limit.failed) ?? steps.at(-1)!;
  const gaveOut = whatGaveOut(failed, cameraProcesses({ ...options, cameras: failed.cameras }));
  const result: CapacityResult = { bench: 'capacity', ...facts, limit, gaveOut, steps };
  if (given.json !== '') writeFileSync(given.json, `${JSON.stringify(result, null, 2)}\n`);
  progress.clear();
  console.log(formatTable({ columns, rows: steps.toSorted((a, b) => a.cameras - b.cameras).map(rowOf) }));
  console.log(
    limit.failed === null
      ? `\nAll ${limit.held} cameras held, and more were not asked for.`
      : `\n${limit.held} cameras held, ${limit.failed} did not. What gave out: ${gaveOut.what}. ${gaveOut.evidence}.`,
  );
  return 0;
};
