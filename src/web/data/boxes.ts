import { computed } from '@preact/signals';
import { cameraList } from './cameras.js';
import { api, may, me } from './session.js';
import type { Cluster } from './types.js';

/** Whether this service is several boxes. */
export const isCluster = computed(() => me.value?.box !== undefined);

/** The boxes that are known of by the cameras that they have. */
export const boxNames = computed((): readonly string[] => {
  const own = me.value?.box;
  if (own === undefined) return [];
  const owners = cameraList.value.map(({ owner }) => owner).filter((owner) => owner !== '');
  return [...new Set([own, ...owners])].sort();
});

/** All of them, for whoever may know them. */
export const listBoxes = async (signal: AbortSignal): Promise<readonly string[]> => {
  if (!isCluster.peek() || !may('cluster.read')) return boxNames.peek();
  const { boxes } = await api<Cluster>('GET', '/api/cluster', { signal });
  return boxes.map(({ name }) => name);
};
