/** What can have happened. */
export const eventTypes = ['camera_lost', 'recording_gap', 'storage', 'detection', 'motion', 'rule'] as const;
export type EventType = (typeof eventTypes)[number];

/** Something that happened, as it is kept. */
export type KeptEvent = {
  /** Rises from event to event, also over a database that was deleted: an id never means two events. */
  readonly id: number;
  /** "" where it is about no camera. */
  readonly cameraId: string;
  readonly type: EventType;
  /** What was seen; "" where nothing was. */
  readonly label: string;
  /** The best there was, from 0 to 1; null where there is none. */
  readonly score: number | null;
  readonly fromMs: number;
  /** Null: it goes on. */
  readonly toMs: number | null;
  /** Whether what was recorded of it is kept, however old it becomes. */
  readonly isProtected: boolean;
  /** Why, in words or as a code; "" where there is nothing to say. */
  readonly detail: string;
};

export type NewEvent = Pick<KeptEvent, 'cameraId' | 'type' | 'fromMs'> &
  Partial<Pick<KeptEvent, 'label' | 'score' | 'toMs' | 'detail'>>;

/** What may change of an event while it goes on, or when it ends. */
export type EventChanges = Partial<Pick<KeptEvent, 'score' | 'toMs' | 'detail'>>;

const RADIX = 36;

/** An id as the interface shows it. */
export const eventIdText = (id: number): string => id.toString(RADIX);

/** The id that a text names; null: it is none. */
export const eventIdOf = (text: string): number | null => {
  const id = Number.parseInt(text, RADIX);
  return Number.isSafeInteger(id) && id > 0 && eventIdText(id) === text ? id : null;
};

/** An event as the interface shows it; who has reviewed it is another matter for each who asks. */
export const eventView = (event: KeptEvent) => ({
  id: eventIdText(event.id),
  camera_id: event.cameraId,
  type: event.type,
  label: event.label,
  score: event.score,
  from: new Date(event.fromMs).toISOString(),
  to: event.toMs === null ? null : new Date(event.toMs).toISOString(),
  protected: event.isProtected,
  detail: event.detail,
});

export type EventView = ReturnType<typeof eventView>;
