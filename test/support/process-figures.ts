import { readdirSync, readFileSync } from 'node:fs';

/** Of Linux on all machines that we know. */
const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4_096;

export type ProcessFigures = { readonly cpuMs: number; readonly rssBytes: number };

/** Fields of proc(5)'s stat, counted from behind the name, which may have spaces in it. */
const STAT = { parent: 1, user: 11, system: 12, endedUser: 13, endedSystem: 14, residentPages: 21 } as const;

type Entry = ProcessFigures & { readonly parent: number; readonly command: string };

const read = (pid: number): Entry | null => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const at = (name: keyof typeof STAT): number => Number(fields[STAT[name]]);
    const ticks = at('user') + at('system') + at('endedUser') + at('endedSystem');
    return {
      parent: at('parent'),
      command: readFileSync(`/proc/${pid}/cmdline`, 'latin1'),
      cpuMs: (ticks * 1_000) / TICKS_PER_SECOND,
      rssBytes: at('residentPages') * PAGE_BYTES,
    };
  } catch {
    // It ended meanwhile.
    return null;
  }
};

/** What a process takes, those that it ran and that ended included; and, by their names, those that it runs, with theirs. */
export const processFigures = (
  pid: number,
  names: Readonly<Record<string, RegExp>>,
): Readonly<Record<string, ProcessFigures>> => {
  const all = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => {
        const entry = read(Number(name));
        return entry === null ? [] : [[Number(name), entry] as const];
      }),
  );
  const nothing: ProcessFigures = { cpuMs: 0, rssBytes: 0 };
  const add = (one: ProcessFigures, other: ProcessFigures): ProcessFigures => ({
    cpuMs: one.cpuMs + other.cpuMs,
    rssBytes: one.rssBytes + other.rssBytes,
  });
  const childrenOf = (parent: number) => [...all].filter(([, entry]) => entry.parent === parent);
  const withAll = (root: number): ProcessFigures =>
    childrenOf(root).reduce((sum, [child]) => add(sum, withAll(child)), all.get(root) ?? nothing);
  const named = Object.entries(names).map(([name, command]) => {
    const found = childrenOf(pid).filter(([, entry]) => command.test(entry.command));
    return [name, found.reduce((sum, [child]) => add(sum, withAll(child)), nothing)] as const;
  });
  return { service: all.get(pid) ?? nothing, ...Object.fromEntries(named) };
};
