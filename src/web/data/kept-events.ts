import { type KeptEvent, scenesOf, type What } from './kept-event.js';
import { call } from './session.js';

export type EventFilter = What & {
  readonly cameras?: readonly string[];
  readonly reviewed?: boolean;
  readonly fromMs?: number;
  readonly toMs?: number;
  /** Otherwise the newest come first. */
  readonly order?: 'oldest_first';
};

export type EventPage = { readonly events: readonly KeptEvent[]; readonly next: string | null };

const LINK_NEXT = /<([^>]+)>;\s*rel="next"/;

/** Pages that have nothing: the service passes over some thousands of events at a time. */
const MOST_EMPTY_PAGES = 500;

const pageOf = async (path: string, signal?: AbortSignal): Promise<EventPage> => {
  let next: string | null = path;
  let events: KeptEvent[] = [];
  for (let pages = 0; next !== null && events.length === 0 && pages < MOST_EMPTY_PAGES; pages += 1) {
    const answer = await call('GET', next, signal === undefined ? {} : { signal });
    next = LINK_NEXT.exec(answer.headers.get('link') ?? '')?.[1] ?? null;
    events = (await answer.json()) as KeptEvent[];
  }
  return { events, next };
};

export const eventsPath = (filter: EventFilter, limit: number): string => {
  const query = new URLSearchParams({ limit: String(limit) });
  for (const id of filter.cameras ?? []) query.append('camera_id', id);
  for (const type of filter.types ?? []) query.append('type', type);
  for (const label of filter.labels ?? []) query.append('label', label);
  if (filter.reviewed !== undefined) query.set('reviewed', String(filter.reviewed));
  if (filter.fromMs !== undefined) query.set('from', new Date(filter.fromMs).toISOString());
  if (filter.toMs !== undefined) query.set('to', new Date(filter.toMs).toISOString());
  if (filter.order !== undefined) query.set('order', filter.order);
  return `/api/events?${query}`;
};

/** The first events that fit, in the order that is asked for, and where the others are. */
export const loadEvents = (filter: EventFilter, limit: number, signal?: AbortSignal): Promise<EventPage> =>
  pageOf(eventsPath(filter, limit), signal);

export const loadMoreEvents = (next: string, signal?: AbortSignal): Promise<EventPage> =>
  pageOf(next, signal);

export const setReviewed = async (ids: readonly string[], isReviewed: boolean): Promise<void> => {
  await call('POST', '/api/events/reviewed', { body: { ids, reviewed: isReviewed } });
};

export const setProtected = async (id: string, isProtected: boolean): Promise<KeptEvent> => {
  const body = { protected: isProtected };
  return (await (await call('PUT', `/api/events/${id}`, { body })).json()) as KeptEvent;
};

export const loadEvent = async (id: string, signal: AbortSignal): Promise<KeptEvent> =>
  (await (await call('GET', `/api/events/${encodeURIComponent(id)}`, { signal })).json()) as KeptEvent;

/** Its picture; null: there is none. */
export const loadEventPicture = async (id: string, signal: AbortSignal): Promise<Blob | null> => {
  try {
    const answer = await call('GET', `/api/events/${id}/thumbnail.jpg`, { signal });
    return answer.status === 204 ? null : await answer.blob();
  } catch {
    return null;
  }
};

/**
 * When the next event of cameras begins, or the one before, of those that the address asks for where it does; null: there
 * is none.
 */
export const eventBeside = async (
  cameras: readonly string[],
  timeMs: number,
  direction: 1 | -1,
  what: string | null,
): Promise<number | null> => {
  const filter = { cameras, ...scenesOf(what) };
  const [found] = (
    await (direction === 1
      ? loadEvents({ ...filter, fromMs: timeMs + 1, order: 'oldest_first' }, 1)
      : loadEvents({ ...filter, toMs: timeMs }, 1))
  ).events;
  return found === undefined ? null : Date.parse(found.from);
};
