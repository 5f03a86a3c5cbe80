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
import { cameraName, HOUR_MS, type MadeArchive, makeArchive } from './make-archive.js';
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
const AT_ONCE = 4;

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
const lastId = cameraName(cameras - 1);

const rows: Row[] = [];

/** Each as soon as it is there: some take minutes. */
const tell = (row: Row): void => {
  rows.push(row);
  console.error(`${row.what}: ${row.figure}`);
};

const totalMs = (each: readonly number[]): number => each.reduce((sum, ms) => sum + ms, 0);
const shownMs = (ms: number): string => `${Math.round(ms)} ms`;

/** How long each took, so many at a time. */
const listAll = async (service: ArchiveService, atOnce = 1): Promise<number[]> => {
  const [left, each]: [string[], number[]] = [[...ids], []];
  const askInTurn = async (): Promise<void> => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) each.push(await service.list(id));
  };
  await Promise.all(Array.from({ length: atOnce }, askInTurn));
  return each;
};

const timed = async (work: () => unknown): Promise<number> => {
  const begunMs = performance.now();
  await work();
  return performance.now() - begunMs;
};

const measureAnswers = async (service: ArchiveService, { fromMs, toMs }: MadeArchive): Promise<void> => {
  tell(atMost('start until it listens', 's', (await service.start()) / 1_000, 3));
  tell(atMost('list of one camera, the first request', 'ms', await service.list(lastId), 50));
  const all = await listAll(service);
  tell(spread('lists of all cameras in turn, each', 'ms', all, { p95: 50 }));
  tell(atMost('lists of all cameras in turn', 's', totalMs(all) / 1_000, 2));
  const atOnceMs = await timed(() => listAll(service, AT_ONCE));
  tell(atMost(`lists of all cameras, ${AT_ONCE} at a time`, 's', atOnceMs / 1_000, 2));
  const asked = ids.slice(0, TIMELINES);
  const answers = Promise.allSettled(asked.map((id) => service.timeline(id, toMs - DAY_MS, toMs)));
  const tookMs = await timed(() => answers);
  const refused = (await answers).filter(({ status }) => status === 'rejected').length;
  tell(
    noted(`a day's timeline of ${asked.length} cameras at once`, `${shownMs(tookMs)}, ${refused} refused`),
  );
  const exportedMs = await timed(() => service.exportDay(ids[0]!, Math.max(fromMs, toMs - DAY_MS), toMs));
  tell(noted('export of a day: planned', shownMs(exportedMs)));
  tell(noted('memory of the service', `${Math.round(service.figures().rssBytes / 1e6)} MB`));
  await service.stop();
};

const measureCold = async (service: ArchiveService): Promise<void> => {
  if (!dropCaches()) return;
  tell(noted('nothing in memory: start until it listens', shownMs(await service.start())));
  tell(noted('nothing in memory: list of one camera', shownMs(await service.list(lastId))));
  tell(noted('nothing in memory: lists of all cameras', shownMs(totalMs(await listAll(service)))));
  await service.stop();
};

const dir =
  values.dir === undefined ? mkdtempSync(join(tmpdir(), 'framering-archive-')) : resolve(values.dir);
try {
  const archiveDir = join(dir, 'recordings');
  const made = makeArchive(archiveDir, { cameras, days });
  const machine = `${availableParallelism()} x ${cpus()[0]?.model ?? 'unknown'}, Node ${process.versions.node}`;
  console.log(`${cameras} cameras, ${days} days; ${machine}, load ${(loadavg()[0] ?? 0).toFixed(1)}\n`);
  if (made.tookMs !== null) tell(noted('the archive is made', shownMs(made.tookMs)));
  const service = new ArchiveService(dir, ids);
  await service.start();
  if (made.tookMs !== null)
    tell(noted('nothing kept of files: list of one camera', shownMs(await service.list(lastId))));
  await service.stop();
  tell(noted('all files are looked into', shownMs(await timed(() => service.learnFacts()))));
  await measureAnswers(service, made);
  await measureCold(service);
  for (const row of evict(archiveDir, made, { cameras, days }, Math.min(EVICTED, cameras * days * 12)))
    tell(row);
  console.log(tableOf(rows));
  process.exitCode = rows.every(({ isHeld }) => isHeld) ? 0 : 1;
} finally {
  if (values.dir === undefined) rmSync(dir, { recursive: true, force: true });
}
