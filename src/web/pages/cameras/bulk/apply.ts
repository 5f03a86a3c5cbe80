import { loadCameras } from '../../../data/cameras.js';
import { asProblem } from '../../../data/problem.js';
import { api } from '../../../data/session.js';
import type { Camera } from '../../../data/types.js';
import { toast } from '../../../parts/toasts.js';
import { bulkText } from '../../../text/bulk-cameras.js';
import { batchesOf, type Change, planOf, type Update } from './changes.js';

const send = async (updates: readonly Update[]): Promise<void> => {
  for (const update of batchesOf(updates)) await api('POST', '/api/cameras/bulk', { body: { update } });
  await loadCameras();
};

/** Changes many; who regrets it can take it back. */
export const changeMany = async (
  cameras: readonly Camera[],
  changeOf: (camera: Camera) => Change,
): Promise<void> => {
  const { updates, undo } = planOf(cameras, changeOf);
  if (updates.length > 0) await send(updates);
  const text = bulkText('changed', { count: updates.length });
  const takeBack = (): void =>
    void send(undo).catch((fault: unknown) =>
      toast({ text: bulkText('undoFailed', { why: asProblem(fault).detail }) }),
    );
  toast(updates.length === 0 ? { text } : { text, undo: takeBack });
};

export const deleteMany = async (ids: readonly string[], recordings: 'keep' | 'delete'): Promise<void> => {
  for (const removed of batchesOf(ids))
    await api('POST', `/api/cameras/bulk?recordings=${recordings}`, { body: { delete: removed } });
  await loadCameras();
  toast({ text: bulkText('deleted', { count: ids.length }) });
};
