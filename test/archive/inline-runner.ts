import {
  type JobInput,
  type JobName,
  type JobOutput,
  type JobRunner,
  runJob,
} from '../../src/archive/jobs/jobs.js';
import { AppError } from '../../src/base/errors.js';

/** Runs jobs in the test's own thread, and counts them. */
export class InlineRunner implements JobRunner {
  readonly counts = new Map<JobName, number>();
  readonly inputs: unknown[] = [];

  async run<Name extends JobName>(name: Name, input: JobInput<Name>): Promise<JobOutput<Name>> {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    this.inputs.push(input);
    await Promise.resolve();
    const { outcome } = runJob({ name, input: structuredClone(input) });
    if (!outcome.isDone) throw new AppError(outcome.code, outcome.message);
    return structuredClone(outcome.value) as JobOutput<Name>;
  }

  countOf(name: JobName): number {
    return this.counts.get(name) ?? 0;
  }
}
