import type { KeptEvent } from './kept-event.js';
import { call } from './session.js';

export type EventFilter = {
  readonly cameras?: readonly string[];
  readonly types?: readonly string[];
  readonly labels?: readonly string[];
  readonly reviewed?: boolean;
  readonly fromMs?: number;
  readonly toMs?: number;
};

const LABEL = 'label:';

/** What the parameter `what` of an address asks for: `label:person` is a label, all else a kind of event. */
export const whatOf = (what: string | null): Pick<EventFilter, 'labels' | 'types'> => {
  if (what === null) return {};
  return what.startsWith(LABEL) ? { labels: [what.slice(LABEL.length)] } : { types: [what] };
};

export type EventPage = { readonly events: readonly KeptEvent[]; readonly next: string | null };

const LINK_NEXT = /<([^>]+)>;\s*rel="next"/;

const pageOf = async (path: string, signal?: AbortSignal): Promise<EventPage> => {
  const answer = await call('GET', path, signal === undefined ? {} : { signal });
  const next = LINK_NEXT.exec(answer.headers.get('link') ?? '')?.[1] ?? null;
  return { events: (await answer.json()) as KeptEvent[], next };
};

/** The newest events that fit, and where the older ones are. */
export const loadEvents = (filter: EventFilter, limit: number, signal?: AbortSignal): Promise<EventPage> => {
  const query = new URLSearchParams({ limit: String(limit) });
  for (const id of filter.cameras ?? []) query.append('camera_id', id);
  for (const type of filter.types ?? []) query.append('type', type);
  for (const label of filter.labels ?? []) query.append('label', label);
  if (filter.reviewed !== undefined) query.set('reviewed', String(filter.reviewed));
  if (filter.fromMs !== undefined) query.set('from', new Date(filter.fromMs).toISOString());
  if (filter.toMs !== undefined) query.set('to', new Date(filter.toMs).toISOString());
  return pageOf(`/api/events?${query}`, signal);
};

export const loadMoreEvents = (next: string, signal?: AbortSignal): Promise<EventPage> =>
  pageOf(next, signal);

export const setReviewed = async (ids: readonly string[], isReviewed: boolean): Promise<void> => {
  await call('POST', '/api/events/reviewed', { body: { ids, reviewed: isReviewed } });
};

export const setProtected = async (id: string, isProtected: boolean): Promise<KeptEvent> => {
  const body = { protected: isProtected };
  return (await (await call('PUT', `/api/events/${id}`, { body })).json()) as KeptEvent;
};

/** Its picture; null: there is none. */
export const loadEventPicture = async (id: string, signal: AbortSignal): Promise<Blob | null> => {
  try {
    const answer = await call('GET', `/api/events/${id}/thumbnail.jpg`, { signal });
    return answer.status === 204 ? null : await answer.blob();
  } catch {
    return null;
  }
};

const DAY_MS = 86_400_000;
/** What one goes to; that a disk was full is no scene. */
const SCENES = ['detection', 'motion', 'rule', 'camera_lost'];

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
  const range = direction === 1 ? { fromMs: timeMs + 1, toMs: timeMs + DAY_MS } : { toMs: timeMs };
  const { types: asked = [], ...labels } = whatOf(what);
  const scenes = SCENES.filter((type) => asked.includes(type));
  const types = scenes.length > 0 ? scenes : SCENES;
  const { events } = await loadEvents({ cameras, types, ...labels, ...range }, direction === 1 ? 1_000 : 1);
  const found = direction === 1 ? events.at(-1) : events[0];
  return found === undefined ? null : Date.parse(found.from);
};
