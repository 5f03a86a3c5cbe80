import { setPriority } from 'node:os';
import type { FromDecoder, ToDecoder } from '../src/pictures/messages.js';
import { FfmpegRuns } from '../src/pictures/run-ffmpeg.js';

/** Nothing that it starts may take time from cameras. */
const NICENESS = 10;

const [, , ffmpegPath = 'ffmpeg'] = process.argv;
const runs = new FfmpegRuns(ffmpegPath);

setPriority(NICENESS);
// The service ends it: a terminal or a service manager that means the whole group mustn't be faster.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('disconnect', () => {
  runs.kill();
  process.exit(0);
});
process.on('message', async ({ id, ...job }: ToDecoder) => {
  const answer: FromDecoder = { id, ...(await runs.decode(job)) };
  process.send?.(answer, () => {});
});
