import { readFileSync } from 'node:fs';

/** Of Linux on all machines that we know. */
const TICKS_PER_SECOND = 100;
/** Of proc(5)'s stat, counted from behind the name, which may have spaces in it. */
const USER_FIELD = 11;
const SYSTEM_FIELD = 12;
const KB_PER_MB = 1e6 / 1024;

const readProc = (path: string): string | null => {
  try {
    return readFileSync(`/proc/${path}`, 'latin1');
  } catch {
    // Another system than Linux, or the process is gone.
    return null;
  }
};

/** CPU time of a whole process, its ended threads included; null where the system doesn't tell. */
export const cpuMsOf = (pid: number): number | null => {
  const stat = readProc(`${pid}/stat`);
  if (stat === null) return null;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[USER_FIELD]) + Number(fields[SYSTEM_FIELD])) * 1_000) / TICKS_PER_SECOND;
};

export type ProcessMemory = { readonly rssMb: number | null; readonly pssMb: number | null };

/** PSS counts what several processes share in parts. */
export const memoryOf = (pid: number): ProcessMemory => {
  const rollup = readProc(`${pid}/smaps_rollup`) ?? '';
  const status = readProc(`${pid}/status`) ?? '';
  const read = (text: string, name: string): number | null => {
    const [, kb] = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text) ?? [];
    return kb === undefined ? null : Number(kb) / KB_PER_MB;
  };
  return { rssMb: read(rollup, 'Rss') ?? read(status, 'VmRSS'), pssMb: read(rollup, 'Pss') };
};

/** Null where the system doesn't tell. */
export const threadsOf = (pid: number): number | null => {
  const [, count] = /^Threads:\s+(\d+)/m.exec(readProc(`${pid}/status`) ?? '') ?? [];
  return count === undefined ? null : Number(count);
};
