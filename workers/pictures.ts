import { setPriority } from 'node:os';
import { answerParent, tellParent } from '../src/base/asked-process.js';
import type { FromDecoder, ToDecoder } from '../src/pictures/messages.js';
import { FfmpegRuns } from '../src/pictures/run-ffmpeg.js';

/** Nothing that it starts may take time from cameras. */
const NICENESS = 10;

const [, , ffmpegPath = 'ffmpeg'] = process.argv;
const runs = new FfmpegRuns(ffmpegPath);

setPriority(NICENESS);
const decode = async ({ id, ...job }: ToDecoder): Promise<void> => {
  const answer: FromDecoder = { id, ...(await runs.decode(job)) };
  tellParent(answer);
};
answerParent(
  (job: ToDecoder) => void decode(job),
  () => runs.kill(),
);
