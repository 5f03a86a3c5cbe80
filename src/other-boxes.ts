import { join } from 'node:path';
import type { ArchiveDeps } from './archive/archive.js';
import type { NearBox } from './archive/others/others.js';
import type { Clock } from './base/clock.js';
import type { Logger } from './base/log.js';
import type { BoxView } from './cluster/boxes/box-table.js';
import type { Config } from './config.js';
import type { Threads } from './ops/threads.js';
import type { Storage } from './storage.js';

const hostIn = (origin: string): string => new URL(origin).hostname.replace(/^\[|\]$/g, '');

const nearBox = ({ name, isHere, address, relayPort: port }: BoxView): NearBox => ({
  ...{ name, isHere },
  address: address === null || port === null ? null : { box: name, host: hostIn(address), port },
});

/** What other boxes have recorded; what a box alone never loads. */
export const othersOf = async (
  { boxName: box, archiveDir, dataDir }: Config,
  deps: { readonly clock: Clock; readonly log: Logger; readonly threads: Threads },
  { cluster, relayKey: key }: Pick<Storage, 'cluster' | 'relayKey'>,
): Promise<ArchiveDeps['others']> => {
  if (cluster === null || key === null) return null;
  const { Others } = await import('./archive/others/others.js');
  const { spawnAsker } = await import('./archive/others/asker-thread.js');
  const boxes = () => cluster.boxes.boxes.filter(({ name }) => name !== box).map(nearBox);
  const options = { box, archiveDir, boxesDir: join(dataDir, 'archive-boxes'), key };
  return (tools) => {
    const others = new Others(options, { ...deps, boxes, spawnAsker }, tools);
    cluster.forgotten.on((name) => void others.forget(name));
    return others;
  };
};

/** Who is here, and which cameras are this box's; nothing: it is alone. */
export const clusterNow = ({
  cluster,
  store,
}: Pick<Storage, 'cluster' | 'store'>): ArchiveDeps['cluster'] => {
  if (cluster === null) return undefined;
  return () => {
    const { boxes, hasMajority, isSettled } = cluster.boxes;
    return {
      boxes: boxes.filter(({ isHere }) => isHere).map(({ name }) => name),
      isSure: hasMajority && isSettled,
      cameraIds: store.cameras.list().flatMap(({ id }) => (cluster.owners.has(id) ? [id] : [])),
    };
  };
};
