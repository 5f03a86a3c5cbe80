import type { Archive } from './archive/archive.js';
import type { Clock } from './base/clock.js';
import { AppError } from './base/errors.js';
import type { StoreQueue } from './cluster/boxes/beat.js';
import type { Cluster } from './cluster/cluster.js';
import type { ClusterAnswer, ClusterRoutesDeps } from './http/routes/cluster.js';

/** The boxes, as this one sees them; one alone sees nobody. */
const clusterFacts = (box: string, cluster: Cluster | null, clock: Clock): ClusterAnswer => {
  if (cluster === null)
    return {
      ...{ box, is_alone: true, fault: '', has_majority: true },
      ...{ cameras_unowned: 0, cameras_doubled: 0, awaited: [], boxes: [] },
    };
  const { boxes, awaited, hasMajority } = cluster.boxes;
  const { unowned, doubled } = cluster.owners.counts;
  const nowMs = clock.monotonicMs();
  return {
    ...{ box, is_alone: false, fault: cluster.fault ?? '', has_majority: hasMajority },
    ...{ cameras_unowned: unowned, cameras_doubled: doubled, awaited: [...awaited] },
    boxes: boxes.map(({ name, isLeaving, sinceMs, address, version, capacity, load, ...more }) => ({
      ...{ name, version, capacity, load, cameras: more.cameras, hears: [...more.hears] },
      state: !more.isHere ? 'lost' : isLeaving ? 'leaving' : 'here',
      since_sec: Math.max(0, Math.floor((nowMs - sinceMs) / 1_000)),
      address: address ?? '',
      clock_ahead_sec: more.isHere && more.aheadMs !== null ? Math.round(more.aheadMs) / 1_000 : null,
      s3: more.store && {
        ...{ up: more.store.isUp, waiting: more.store.waiting },
        oldest_sec: Math.floor(more.store.oldestSec),
      },
    })),
  };
};

/** What people see and do of the cluster. */
export const clusterDoor = (
  box: string,
  cluster: Cluster | null,
  { others }: Pick<Archive, 'others'>,
  clock: Clock,
): ClusterRoutesDeps => ({
  cluster: () => clusterFacts(box, cluster, clock),
  forget: async (name) => {
    if (cluster === null) throw new AppError('not_found', 'this box belongs to no cluster');
    return await cluster.forget(name, others?.knows(name) === true);
  },
});

/** What waits to be copied to the store; null: nothing is copied. */
export const storeQueueOf = ({ offsite }: Pick<Archive, 'offsite'>, clock: Clock): StoreQueue | null => {
  if (offsite === null) return null;
  const { state, isUp } = offsite;
  const oldestMs = state?.oldestMs ?? null;
  const oldestSec = oldestMs === null ? 0 : Math.max(0, (clock.wallMs() - oldestMs) / 1_000);
  return { isUp, waiting: state?.waiting ?? 0, oldestSec };
};
