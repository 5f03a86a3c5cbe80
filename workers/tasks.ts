import { move, transferableSymbol, valueSymbol } from 'piscina';
import type { JobOutcome } from '../src/archive/files/job-result.js';
import { type JobRequest, runJob } from '../src/archive/jobs/jobs.js';

/** The entry of the archive's job threads. */
export const runTask = (request: JobRequest): JobOutcome => {
  const { outcome, memory } = runJob(request);
  if (memory.length === 0) return outcome;
  // piscina unwraps it: what arrives is the outcome.
  return move({ [transferableSymbol]: memory, [valueSymbol]: outcome } as never) as unknown as JobOutcome;
};
