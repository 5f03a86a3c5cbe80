import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** What a process has open, by kind. */
export type Descriptors = {
  readonly sockets: number;
  readonly udpSockets: number;
  /** Regular files and folders, by path. */
  readonly files: readonly string[];
  /** Pipes, epolls, eventfds: what threads need. */
  readonly others: number;
};

/** What one thread held after its last collection. */
export type Census = {
  readonly atMs: number;
  readonly heapBytes: number;
  readonly externalBytes: number;
  readonly resources: Readonly<Record<string, number>>;
};

/** A thread that is gone leaves its last census behind. */
const CENSUS_MAX_AGE_MS = 30_000;

const udpInodes = (pid: number): ReadonlySet<string> => {
  const lines = ['udp', 'udp6'].flatMap((name) =>
    readFileSync(`/proc/${pid}/net/${name}`, 'latin1').split('\n').slice(1),
  );
  return new Set(lines.map((line) => line.trim().split(/\s+/)[9] ?? ''));
};

const targetOf = (path: string): string => {
  try {
    return readlinkSync(path);
  } catch {
    // Closed since the listing.
    return '';
  }
};

/** Reads what the kernel lists; Linux only, as the service's own figures are. */
export const descriptorsOf = (pid: number): Descriptors => {
  const folder = `/proc/${pid}/fd`;
  const targets = readdirSync(folder).map((name) => targetOf(join(folder, name)));
  const inodes = targets.flatMap((target) => /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? []);
  const udp = udpInodes(pid);
  const files = targets.filter((target) => target.startsWith('/') && !target.startsWith('/dev/')).sort();
  return {
    sockets: inodes.length,
    udpSockets: inodes.filter((inode) => udp.has(inode)).length,
    files,
    others: targets.filter((target) => /^(pipe|anon_inode):/.test(target)).length,
  };
};

/** Threads of the operating system. */
export const taskCount = (pid: number): number => readdirSync(`/proc/${pid}/task`).length;

/** The newest census of each thread that is alive, by its name. */
export const censusOf = (folder: string): ReadonlyMap<string, Census> => {
  const census = new Map<string, Census>();
  for (const name of readdirSync(folder).filter((file) => !file.endsWith('.part'))) {
    const read = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Census;
    if (Date.now() - read.atMs < CENSUS_MAX_AGE_MS) census.set(name, read);
  }
  return census;
};

/** All series of a metric that match, added up. */
export const sumOf = (metrics: string, series: RegExp): number =>
  metrics
    .split('\n')
    .filter((line) => series.test(line))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
