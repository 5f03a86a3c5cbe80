import type { EventType } from '../events/kept/event.js';
import {
  type EventChanges,
  eventIdText,
  eventTypes,
  eventView,
  type KeptEvent,
} from '../events/kept/event.js';
import { withoutAddresses } from './without-addresses.js';

const phases = ['began', 'ended'] as const;
type Phase = (typeof phases)[number];

/** What messages can be about: each type of event, twice. */
export type OccurrenceType = `${EventType}.${Phase}`;
export const occurrenceTypes: readonly OccurrenceType[] = eventTypes.flatMap((type) =>
  phases.map((phase): OccurrenceType => `${type}.${phase}`),
);

/** An event began, or ended. */
export type Occurrence = {
  /** The same whenever it is told of: by it a receiver knows what it has already. */
  readonly messageId: string;
  readonly type: OccurrenceType;
  readonly event: KeptEvent;
  /** When it happened. */
  readonly wallMs: number;
};

const occurrenceOf = (event: KeptEvent, phase: Phase): Occurrence => ({
  messageId: `evt_${eventIdText(event.id)}_${phase}`,
  type: `${event.type}.${phase}`,
  event,
  wallMs: phase === 'ended' && event.toMs !== null ? event.toMs : event.fromMs,
});

/** What of an event there is to tell; null in the place of `changes`: it is new. */
export const occurrencesOf = (
  event: KeptEvent,
  changes: EventChanges | { isProtected: boolean } | null,
): Occurrence[] => {
  const isOver = event.toMs !== null;
  if (changes === null)
    return [occurrenceOf(event, 'began'), ...(isOver ? [occurrenceOf(event, 'ended')] : [])];
  return isOver && 'toMs' in changes ? [occurrenceOf(event, 'ended')] : [];
};

/** The event as those are told who are no users: who protects or reviews it, and where its camera is, is nothing to them. */
export const toldEvent = (event: KeptEvent) => {
  const { protected: _, detail, ...told } = eventView(event);
  return { ...told, detail: event.type === 'camera_lost' ? withoutAddresses(detail) : detail };
};
