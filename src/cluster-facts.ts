import type { Clock } from './base/clock.js';
import type { Cluster } from './cluster/cluster.js';
import type { ClusterAnswer } from './http/routes/cluster.js';

/** The boxes, as this one sees them; one alone sees nobody. */
export const clusterFacts = (box: string, cluster: Cluster | null, clock: Clock): ClusterAnswer => {
  if (cluster === null)
    return {
      ...{ box, is_alone: true, fault: '', has_majority: true },
      ...{ cameras_unowned: 0, cameras_doubled: 0, boxes: [] },
    };
  const { boxes, hasMajority } = cluster.boxes;
  const { unowned, doubled } = cluster.owners.counts;
  const nowMs = clock.monotonicMs();
  return {
    ...{ box, is_alone: false, fault: cluster.fault ?? '', has_majority: hasMajority },
    ...{ cameras_unowned: unowned, cameras_doubled: doubled },
    boxes: boxes.map(({ name, isHere, isLeaving, sinceMs, address, version, capacity, load, ...more }) => ({
      ...{ name, version, capacity, load, cameras: more.cameras, hears: [...more.hears] },
      state: !isHere ? 'lost' : isLeaving ? 'leaving' : 'here',
      since_sec: Math.max(0, Math.floor((nowMs - sinceMs) / 1_000)),
      address: address ?? '',
    })),
  };
};
