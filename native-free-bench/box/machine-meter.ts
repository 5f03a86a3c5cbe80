import { readFileSync } from 'node:fs';

/** What the whole machine did in a window; null: the system doesn't tell. */
export type MachineFigures = {
  readonly busyPercent: number;
  /** All that wanted to run waited for the disk, or for memory (the kernel's pressure stall information). */
  readonly ioStallPercent: number | null;
  readonly memoryStallPercent: number | null;
  readonly availableMb: number | null;
};

export type MachineReading = {
  readonly busyTicks: number;
  readonly allTicks: number;
  readonly ioStallUs: number | null;
  readonly memoryStallUs: number | null;
  readonly availableMb: number | null;
  readonly atMs: number;
};

const IDLE = 3;
const IO_WAIT = 4;
/** Guests are counted as user time already. */
const GUEST = 8;

const read = (path: string): string => {
  try {
    return readFileSync(`/proc/${path}`, 'latin1');
  } catch {
    // Another system than Linux, or a kernel without it.
    return '';
  }
};

const numberIn = (text: string, pattern: RegExp): number | null => {
  const found = pattern.exec(text)?.[1];
  return found === undefined ? null : Number(found);
};

export const readMachine = (): MachineReading | null => {
  const line = /^cpu +(.*)$/m.exec(read('stat'))?.[1];
  if (line === undefined) return null;
  const ticks = line.split(' ').map(Number);
  const allTicks = ticks.slice(0, GUEST).reduce((sum, each) => sum + each, 0);
  const availableKb = numberIn(read('meminfo'), /^MemAvailable: +(\d+) kB/m);
  return {
    busyTicks: allTicks - (ticks[IDLE] ?? 0) - (ticks[IO_WAIT] ?? 0),
    allTicks,
    ioStallUs: numberIn(read('pressure/io'), /^full .*total=(\d+)/m),
    memoryStallUs: numberIn(read('pressure/memory'), /^full .*total=(\d+)/m),
    availableMb: availableKb === null ? null : (availableKb * 1024) / 1e6,
    atMs: performance.now(),
  };
};

export const machineSince = (before: MachineReading | null): MachineFigures | null => {
  const after = readMachine();
  if (before === null || after === null) return null;
  const us = (after.atMs - before.atMs) * 1_000;
  const share = (earlier: number | null, later: number | null): number | null =>
    earlier === null || later === null ? null : ((later - earlier) / us) * 100;
  return {
    busyPercent: ((after.busyTicks - before.busyTicks) / Math.max(1, after.allTicks - before.allTicks)) * 100,
    ioStallPercent: share(before.ioStallUs, after.ioStallUs),
    memoryStallPercent: share(before.memoryStallUs, after.memoryStallUs),
    availableMb: after.availableMb,
  };
};
