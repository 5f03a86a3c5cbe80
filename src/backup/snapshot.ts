import type { Clock } from '../base/clock.js';
import type { Configuration, Store } from '../store/store.js';

/** Of the backup's form; a change that older services can't read gets another number. */
export const SNAPSHOT_VERSION = 3;

/** Those that can be imported; of the first, layouts and settings are no part, of the second keys. */
export const READABLE_VERSIONS = [1, 2, SNAPSHOT_VERSION] as const;

/** A backup: everything that was configured, as of one moment. */
export type Snapshot = Configuration & {
  readonly version: typeof SNAPSHOT_VERSION;
  readonly exported_at: string;
};

/** With passwords of cameras and hashes of users and keys: whoever gets it must be allowed to have them. */
export const takeSnapshot = (store: Pick<Store, 'exportAll'>, clock: Clock): Snapshot => ({
  version: SNAPSHOT_VERSION,
  exported_at: new Date(clock.wallMs()).toISOString(),
  ...store.exportAll(),
});
