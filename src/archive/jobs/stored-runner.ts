import type { SidecarPlace } from '../detections/read-detections.js';
import type { RecordingSource } from '../files/recording-source.js';
import type { JobInput, JobName, JobOutput, JobRunner } from './jobs.js';

/** What jobs are told of what they read. */
type Reading = { readonly source?: RecordingSource; readonly sidecars?: readonly SidecarPlace[] };

const isStored = ({ source, sidecars = [] }: Reading): boolean =>
  source?.stored?.isAlone === true || sidecars.some(({ stored }) => stored !== undefined);

/** Jobs that read what a store alone has get threads of their own: whoever plays from the disk doesn't wait for the network. */
export class StoredRunner implements JobRunner {
  readonly #disk: JobRunner;
  readonly #store: JobRunner;

  constructor(disk: JobRunner, store: JobRunner) {
    this.#disk = disk;
    this.#store = store;
  }

  run<Name extends JobName>(
    name: Name,
    input: JobInput<Name>,
    memory: readonly ArrayBuffer[] = [],
  ): Promise<JobOutput<Name>> {
    const runner = isStored(input as Reading) ? this.#store : this.#disk;
    return runner.run(name, input, memory);
  }
}
