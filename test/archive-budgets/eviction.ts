import { evictOldest } from '../../src/archive/keep/delete-files.js';
import { noted, type Row } from '../web-budgets/figures.js';
import { type ArchiveSize, type MadeArchive, remake } from './make-archive.js';

/** As many as the service takes at a time. */
const FILES_A_ROUND = 64;

const full = () => ({ bavail: 0, blocks: 1 << 30, bsize: 4_096 });

/** Deletes the oldest files as if space were short, and makes them anew. */
export const evict = (archiveDir: string, made: MadeArchive, size: ArchiveSize, count: number): Row[] => {
  const input = { archiveDir, minFreePercent: 50, eras: [], skip: [] };
  const rounds: number[] = [];
  const gone: { cameraId: string; fileName: string }[] = [];
  const cpuBefore = process.cpuUsage();
  while (gone.length < count) {
    const begunMs = performance.now();
    const maxFiles = Math.min(FILES_A_ROUND, count - gone.length);
    const { deleted } = evictOldest({ ...input, maxFiles }, full);
    if (deleted.length === 0) break;
    gone.push(...deleted);
    rounds.push(performance.now() - begunMs);
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  remake(archiveDir, made, size, gone.length);
  const [first = 0, ...others] = rounds;
  const mean = others.reduce((sum, ms) => sum + ms, 0) / others.length;
  return [
    noted(`eviction of ${gone.length} files: CPU`, `${Math.round((user + system) / 1_000)} ms`),
    noted('… first round, each of the others', `${Math.round(first)} ms, ${Math.round(mean)} ms`),
  ];
};
