import type { SidecarPlace } from '../detections/read-detections.js';
import type { RecordingSource } from '../files/recording-source.js';
import type { JobInput, JobName, JobOutput, JobRunner } from './jobs.js';

/** What jobs are told of what they read. */
type Reading = { readonly source?: RecordingSource; readonly sidecars?: readonly SidecarPlace[] };

/** Who is asked for what the disk doesn't have. */
type Asked = 'store' | 'boxes';

/** Null: nobody is. */
const askedFor = ({ source, sidecars = [] }: Reading): Asked | null => {
  const places = sidecars.flatMap(({ stored }) => (stored === undefined ? [] : [stored.place]));
  if (source?.stored?.isAlone === true) places.push(source.stored);
  if (places.length === 0) return null;
  return places.some(({ ofBox }) => ofBox !== undefined) ? 'boxes' : 'store';
};

/** Jobs that read what a store or a box alone has get threads of their own: whoever plays from the disk doesn't wait for the network. */
export class StoredRunner implements JobRunner {
  readonly #disk: JobRunner;
  readonly #asking: Readonly<Record<Asked, JobRunner | null>>;

  constructor(disk: JobRunner, asking: Readonly<Record<Asked, JobRunner | null>>) {
    this.#disk = disk;
    this.#asking = asking;
  }

  run<Name extends JobName>(
    name: Name,
    input: JobInput<Name>,
    memory: readonly ArrayBuffer[] = [],
  ): Promise<JobOutput<Name>> {
    const asked = askedFor(input as Reading);
    const runner = asked === null ? null : this.#asking[asked];
    return (runner ?? this.#disk).run(name, input, memory);
  }
}
