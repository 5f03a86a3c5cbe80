/**
 * `npm run archive-budgets -- --cameras 500 --days 30 --dir FOLDER` makes an archive of files of an hour, unless it is there
 * already, and measures how the service starts and answers with it. Without `--dir` it is gone at the end.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { atMost, noted, type Row, spread, tableOf } from '../web-budgets/figures.js';
import { evict } from './eviction.js';
import { cameraName, HOUR_MS, makeArchive } from './make-archive.js';
import { ArchiveService } from './service.js';

const { values } = parseArgs({
  options: {
    cameras: { type: 'string', default: '500' },
    days: { type: 'string', default: '30' },
    dir: { type: 'string' },
  },
});
const [cameras, days] = [Number(values.cameras), Number(values.days)];
if (!(cameras > 0 && days > 0)) throw new Error('--cameras and --days want numbers');

const DAY_MS = 24 * HOUR_MS;
const TIMELINES = 36;
const EVICTED = 1_000;

/** What the disk has goes out of memory, as after the machine was started; false: only root may do that. */
const dropCaches = (): boolean => {
  try {
    writeFileSync('/proc/sys/vm/drop_caches', '3');
    return true;
  } catch {
    return false;
  }
};

const ids = Array.from({ length: cameras }, (_, nth) => cameraName(nth));

const measureService = async (service: ArchiveService, fromMs: number, toMs: number): Promise<Row[]> => {
  const rows: Row[] = [];
  const listAll = async (): Promise<number[]> => {
    const each: number[] = [];
    for (const id of ids) each.push(await service.list(id));
    return each;
  };
  const totalMs = (each: readonly number[]): number => each.reduce((sum, ms) => sum + ms, 0);
  const last = ids[ids.length - 1] ?? '';

  await service.start();
  rows.push(noted('first start ever: list of one camera', `${Math.round(await service.list(last))} ms`));
  rows.push(noted('first start ever: lists of all cameras', `${Math.round(totalMs(await listAll()))} ms`));
  await service.stop();

  rows.push(atMost('start until it listens', 's', (await service.start()) / 1_000, 3));
  rows.push(atMost('list of one camera, the first request', 'ms', await service.list(last), 50));
  const all = await listAll();
  rows.push(spread('lists of all cameras in turn, each', 'ms', all, { p95: 50 }));
  rows.push(atMost('lists of all cameras in turn', 's', totalMs(all) / 1_000, 2));
  rows.push(atMost('the same once more', 's', totalMs(await listAll()) / 1_000, 2));
  const begunMs = performance.now();
  const asked = ids.slice(0, TIMELINES).map((id) => service.timeline(id, toMs - DAY_MS, toMs));
  const refused = (await Promise.allSettled(asked)).filter(({ status }) => status === 'rejected').length;
  const tookMs = Math.round(performance.now() - begunMs);
  rows.push(noted(`a day's timeline of ${asked.length} cameras at once`, `${tookMs} ms, ${refused} refused`));
  const exported = await service.exportDay(ids[0] ?? '', Math.max(fromMs, toMs - DAY_MS), toMs);
  rows.push(noted('export of a day: planned', `${Math.round(exported.plannedMs)} ms`));
  rows.push(noted('memory of the service', `${Math.round(service.figures().rssBytes / 1e6)} MB`));
  await service.stop();

  const isCold = dropCaches();
  rows.push(
    atMost(
      'nothing in memory: start until it listens',
      's',
      (await service.start()) / 1_000,
      isCold ? 10 : 3,
    ),
  );
  rows.push(noted('nothing in memory: list of one camera', `${Math.round(await service.list(last))} ms`));
  if (isCold)
    rows.push(noted('nothing in memory: lists of all cameras', `${Math.round(totalMs(await listAll()))} ms`));
  await service.stop();
  return rows;
};

const dir =
  values.dir === undefined ? mkdtempSync(join(tmpdir(), 'framering-archive-')) : resolve(values.dir);
try {
  const archiveDir = join(dir, 'recordings');
  const made = makeArchive(archiveDir, { cameras, days });
  const machine = `${availableParallelism()} x ${cpus()[0]?.model ?? 'unknown'}, Node ${process.versions.node}`;
  console.log(`${cameras} cameras, ${days} days; ${machine}, load ${(loadavg()[0] ?? 0).toFixed(1)}\n`);
  const rows = [
    noted(
      'the archive is made',
      made.tookMs === null ? 'it was there' : `${Math.round(made.tookMs / 1_000)} s`,
    ),
    ...(await measureService(new ArchiveService(dir, ids), made.fromMs, made.toMs)),
    ...evict(archiveDir, made, { cameras, days }, Math.min(EVICTED, cameras * days * 12)),
  ];
  console.log(tableOf(rows));
  process.exitCode = rows.every(({ isHeld }) => isHeld) ? 0 : 1;
} finally {
  if (values.dir === undefined) rmSync(dir, { recursive: true, force: true });
}
