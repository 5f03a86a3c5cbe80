import { api } from '../../data/session.js';

/** So many of the newest are looked through: programs may sign in far more often than people do. */
const LOOKED_THROUGH = 1_000;

type Login = { readonly time: string; readonly ip: string; readonly user?: string };

export type LastSignIns = {
  readonly byUser: ReadonlyMap<string, { readonly timeMs: number; readonly ip: string }>;
  /** Whoever is not among them has not signed in since; null: not for as long as records are kept. */
  readonly sinceMs: number | null;
};

/** When each user gave name and password last, and from where. */
export const loadLastSignIns = async (signal: AbortSignal): Promise<LastSignIns> => {
  const path = `/api/audit?action=login&limit=${LOOKED_THROUGH}`;
  const newestFirst = await api<Login[]>('GET', path, { signal });
  const byUser = new Map<string, { timeMs: number; ip: string }>();
  for (const { user, time, ip } of newestFirst)
    if (user !== undefined && !byUser.has(user)) byUser.set(user, { timeMs: Date.parse(time), ip });
  const oldest = newestFirst.length < LOOKED_THROUGH ? undefined : newestFirst.at(-1);
  return { byUser, sinceMs: oldest === undefined ? null : Date.parse(oldest.time) };
};
