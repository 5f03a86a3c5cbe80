import { spawnSync } from 'node:child_process';
import type { JobOutcome } from '../../../src/archive/files/job-result.js';
import type { JobRequest } from '../../../src/archive/jobs/jobs.js';
import { AppError } from '../../../src/base/errors.js';

/**
 * An entry of job threads whose disk hangs: waiting for a child process can't be interrupted either. The child
 * says that it is there, then waits until somebody opens the pipe for writing.
 */
export const runTask = ({ input }: JobRequest): JobOutcome => {
  const { folder } = input as { folder: string };
  if (folder.endsWith('pipe'))
    spawnSync('sh', ['-c', 'echo >> "$0.here"; cat "$0"; echo >> "$0.gone"', folder]);
  if (folder === 'throw') throw new AppError('unexpected', 'thrown out of the entry');
  if (folder === 'exit') process.exit(3);
  const fault = { isDone: false, isOurs: true, details: { at: 7 } } as const;
  if (folder === 'ours') return { ...fault, code: 'bad_seq', message: 'no such part' };
  if (folder === 'disk') return { ...fault, isOurs: false, code: 'EIO', message: 'i/o error' };
  return { isDone: true, value: folder };
};
