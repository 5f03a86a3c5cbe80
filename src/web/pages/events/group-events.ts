import type { KeptEvent } from '../../data/kept-event.js';

/** What happened at one camera, of one kind, with no more than this in between, is one card. */
const APART_MS = 10_000;
/** One that goes on all day is told anew. */
const MAX_GROUP = 50;

export type EventGroup = {
  /** Of its newest event. */
  readonly id: string;
  readonly camera: string;
  readonly type: KeptEvent['type'];
  readonly label: string;
  /** Newest first. */
  readonly events: readonly KeptEvent[];
  readonly fromMs: number;
  /** Null: it goes on. */
  readonly toMs: number | null;
  readonly isReviewed: boolean;
  readonly isProtected: boolean;
};

/** Whether it is the card of that event: as more happens its newest event is another one. */
export const holds = ({ events }: EventGroup, id: string | null): boolean =>
  events.some((event) => event.id === id);

const endOf = ({ from, to }: KeptEvent): number =>
  to === null ? Number.POSITIVE_INFINITY : Date.parse(to || from);

const groupOf = (events: readonly KeptEvent[]): EventGroup => {
  const [newest] = events as [KeptEvent];
  const endMs = Math.max(...events.map(endOf));
  return {
    id: newest.id,
    camera: newest.camera_id,
    type: newest.type,
    label: newest.label,
    events,
    fromMs: Math.min(...events.map(({ from }) => Date.parse(from))),
    toMs: Number.isFinite(endMs) ? endMs : null,
    isReviewed: events.every(({ reviewed }) => reviewed),
    isProtected: events.some((event) => event.protected),
  };
};

/** Cards of events that come newest first, whatever other cameras have between them. */
export const groupEvents = (events: readonly KeptEvent[]): EventGroup[] => {
  const groups: KeptEvent[][] = [];
  const open = new Map<string, KeptEvent[]>();
  for (const event of events) {
    const key = `${event.camera_id}\n${event.type}\n${event.label}`;
    const group = open.get(key);
    const later = group?.at(-1);
    const isNear = later !== undefined && Date.parse(later.from) - endOf(event) <= APART_MS;
    if (group !== undefined && isNear && group.length < MAX_GROUP) group.push(event);
    else {
      const begun = [event];
      open.set(key, begun);
      groups.push(begun);
    }
  }
  return groups.map(groupOf);
};
