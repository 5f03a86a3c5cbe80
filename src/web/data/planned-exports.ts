import { type Export, type ExportItem, planExport } from './exports.js';
import { Problem } from './problem.js';
import { serviceNowMs } from './service-clock.js';
import { api, me } from './session.js';

export type LeftOut = { readonly item: ExportItem; readonly why: string };
/** What can be downloaded; null: nothing. The service takes all items or none: those that it refuses are left out. */
export type Planned = { readonly made: Export | null; readonly left: readonly LeftOut[] };

type Kept = { readonly planned: Planned; readonly startedMs: number };

/** Those that a download was begun of: their addresses go on being good, and are shown again. */
const kept = new Map<string, Kept>();
/** A download that was begun so long ago has ended, or nobody looks at it any more. */
const OLD_MS = 15 * 60_000;
const INDEX = /^items\[(\d+)\]/;

const keyOf = (items: readonly ExportItem[]): string =>
  JSON.stringify([
    me.peek()?.username,
    items.map(({ camera, fromMs, toMs }) => [camera, Math.round(fromMs), Math.round(toMs)]),
  ]);

/** What the service says is wrong with which item. */
export const leftOutBy = (
  items: readonly ExportItem[],
  faults: readonly { readonly path: string; readonly message: string }[],
): LeftOut[] =>
  faults.flatMap(({ path, message }) => {
    const item = items[Number(INDEX.exec(path)?.[1] ?? -1)];
    return item === undefined ? [] : [{ item, why: message }];
  });

const end = (id: string): void => void api('DELETE', `/api/exports/${id}`).catch(() => {});

/** A user has a few exports at a time: the oldest that was downloaded makes room. */
const makeRoom = async (): Promise<boolean> => {
  const [oldest] = [...kept].filter(([, { startedMs }]) => serviceNowMs() - startedMs > OLD_MS);
  if (oldest === undefined) return false;
  kept.delete(oldest[0]);
  const id = oldest[1].planned.made?.id;
  if (id !== undefined) await api('DELETE', `/api/exports/${id}`);
  return true;
};

const planWith = async (items: readonly ExportItem[], signal: AbortSignal): Promise<Export> => {
  try {
    return await planExport(items, items.length > 1, signal);
  } catch (fault) {
    if (!(fault instanceof Problem && fault.code === 'too_many_exports' && (await makeRoom()))) throw fault;
    return planExport(items, items.length > 1, signal);
  }
};

export const openExport = async (items: readonly ExportItem[], signal: AbortSignal): Promise<Planned> => {
  const known = kept.get(keyOf(items))?.planned;
  if (known?.made != null && Date.parse(known.made.expires_at) > serviceNowMs()) return known;
  try {
    return { made: await planWith(items, signal), left: [] };
  } catch (fault) {
    const left = fault instanceof Problem ? leftOutBy(items, fault.faults) : [];
    if (left.length === 0) throw fault;
    const rest = items.filter((item) => !left.some((each) => each.item === item));
    return { made: rest.length === 0 ? null : await planWith(rest, signal), left };
  }
};

/** A download of it has begun. */
export const keepExport = (items: readonly ExportItem[], planned: Planned): void => {
  kept.set(keyOf(items), { planned, startedMs: serviceNowMs() });
};

/** Nobody looks at it any more; what nobody downloads needn't be held for an hour. */
export const leaveExport = (items: readonly ExportItem[], { made }: Planned): void => {
  if (made !== null && kept.get(keyOf(items))?.planned.made?.id !== made.id) end(made.id);
};
