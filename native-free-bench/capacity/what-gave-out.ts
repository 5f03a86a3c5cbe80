import { FULL_PERCENT, keptUpPercent } from '../box/box-report.js';
import type { BoxResult, Window } from '../box/result.js';

/** A number of cameras that was tried; `result` is null where it didn't come to measuring. */
export type Step = {
  readonly cameras: number;
  readonly result: BoxResult | null;
  readonly failure: string | null;
};

export type GivenOut = {
  readonly what:
    | 'nothing'
    | 'the cameras'
    | 'a core'
    | 'the cores'
    | 'the disk'
    | 'memory'
    | 'the network'
    | 'a viewer'
    | 'unclear';
  readonly evidence: string;
};

/** Of a thread that is as good as never idle. */
const FULL_CORE_MS_PER_SEC = 900;
const FULL_MACHINE_PERCENT = 95;
const STALLED_PERCENT = 20;
const SLOW_WRITE_MS = 2_000;
const LEAST_MEMORY_SHARE = 0.03;

export const isHeld = ({ result }: Step): boolean =>
  result !== null &&
  result.faults.length === 0 &&
  Object.values(result.lost).every((count) => count === 0) &&
  result.windows.every(
    (window) =>
      (window.losses?.reconnects ?? 0) + (window.losses?.discontinuities ?? 0) === 0 &&
      keptUpPercent(window) >= FULL_PERCENT,
  );

const percent = (value: number | null | undefined): string =>
  value === null || value === undefined ? 'an unknown share' : `${value.toFixed(0)} %`;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

const memoryOut = (window: Window, memoryMb: number): string | null => {
  const { machine, losses } = window;
  const available = machine?.availableMb ?? null;
  if (available !== null && available < memoryMb * LEAST_MEMORY_SHARE)
    return `${available.toFixed(0)} of ${memoryMb} MB are available`;
  if ((machine?.memoryStallPercent ?? 0) >= STALLED_PERCENT)
    return `the machine waited for memory ${percent(machine?.memoryStallPercent)} of the time`;
  if ((losses?.cutGops ?? 0) > 0)
    return `${losses?.cutGops} groups of pictures outgrew their rings, which RING_MEMORY_MB bounds`;
  return null;
};

const diskOut = ({ losses, machine, archiveWrites }: Window): string | null => {
  if ((losses?.unrecordedFrames ?? 0) === 0) return null;
  const isSlow = archiveWrites !== null && (archiveWrites.p99Ms ?? Number.POSITIVE_INFINITY) >= SLOW_WRITE_MS;
  if (!isSlow && (machine?.ioStallPercent ?? 0) < STALLED_PERCENT) return null;
  return (
    `${losses?.unrecordedFrames} frames were not recorded; a write took ${archiveWrites?.meanMs.toFixed(0) ?? '?'} ms in the mean, ` +
    `and all waited for the disk ${percent(machine?.ioStallPercent)} of the time`
  );
};

const coreOut = ({ threadCpuMsPerSec }: Window): string | null => {
  const [busiest, ms = 0] = Object.entries(threadCpuMsPerSec).toSorted(([, a], [, b]) => b - a)[0] ?? [];
  return ms < FULL_CORE_MS_PER_SEC
    ? null
    : `the thread ${busiest} was busy ${(ms / 10).toFixed(0)} % of the time`;
};

/** Where the cores are used up, who uses them: the service, the cameras, the viewers, or somebody else. */
const coresOut = (window: Window, cores: number): GivenOut | null => {
  const busyPercent = window.machine?.busyPercent ?? null;
  if (busyPercent === null || busyPercent < FULL_MACHINE_PERCENT) return null;
  const users = {
    'the service': window.cpuMsPerSec ?? 0,
    'the cameras': window.cameras.cpuMsPerSec,
    'the viewers': sum(window.viewers.map(({ cpuMsPerSec }) => cpuMsPerSec)),
  };
  const all = (busyPercent / 100) * cores * 1_000;
  const shares = { ...users, 'others on this machine': Math.max(0, all - sum(Object.values(users))) };
  const evidence =
    `${cores} cores were busy ${percent(busyPercent)} of the time: ` +
    Object.entries(shares)
      .map(([who, ms]) => `${who} ${((ms / all) * 100).toFixed(0)} %`)
      .join(', ');
  const isByCameras = shares['the cameras'] > shares['the service'];
  return isByCameras
    ? { what: 'the cameras', evidence: `${evidence}; on a machine without them the service has more room` }
    : { what: 'the cores', evidence };
};

/** The window that went worst: the last one has all the load, but losses may be in one before it. */
const worstOf = (result: BoxResult): Window | undefined => {
  const lostIn = ({ cameras, losses, viewers }: Window): number =>
    cameras.skippedFrames +
    sum(Object.values(losses ?? {})) +
    sum(viewers.map(({ lostFrames }) => lostFrames));
  return result.windows.toSorted((a, b) => lostIn(b) - lostIn(a))[0];
};

/** Why a number of cameras didn't hold, as far as the figures tell. */
export const whatGaveOut = (step: Step, cameraProcesses: number): GivenOut => {
  if (isHeld(step)) return { what: 'nothing', evidence: `${step.cameras} cameras held` };
  const { result } = step;
  const window = result === null ? undefined : worstOf(result);
  if (result === null || window === undefined)
    return { what: 'unclear', evidence: step.failure ?? 'it was not measured' };
  const disk = diskOut(window);
  if (disk !== null) return { what: 'the disk', evidence: disk };
  const memory = memoryOut(window, result.machine.memoryMb);
  if (memory !== null) return { what: 'memory', evidence: memory };
  const core = coreOut(window);
  if (core !== null) return { what: 'a core', evidence: core };
  const eachMs = window.cameras.cpuMsPerSec / cameraProcesses;
  if (eachMs >= FULL_CORE_MS_PER_SEC)
    return {
      what: 'the cameras',
      evidence: `each process of them was busy ${(eachMs / 10).toFixed(0)} % of the time`,
    };
  const cores = coresOut(window, result.machine.cores);
  if (cores !== null) return cores;
  if (keptUpPercent(window) < FULL_PERCENT)
    return {
      what: 'the cameras',
      evidence: `they could send ${keptUpPercent(window).toFixed(0)} % of their frames, and the service took all of those`,
    };
  const lost = Object.entries(result.lost).filter(([, count]) => count > 0);
  const said = [...lost.map(([who, count]) => `${who.replaceAll('_', ' ')} ${count}`), ...result.faults];
  if ((result.lost['packets_lost'] ?? 0) > 0) return { what: 'the network', evidence: said.join(', ') };
  const isByViewersAlone = said.length > 0 && lost.every(([who]) => /viewers|missed_by/.test(who));
  return {
    what: isByViewersAlone ? 'a viewer' : 'unclear',
    evidence: said.join(', ') || 'streams broke off',
  };
};
