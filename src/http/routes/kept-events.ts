import { z } from 'zod';
import type { Sight } from '../../auth/sight.js';
import type { Principal } from '../../auth/tokens.js';
import { AppError } from '../../base/errors.js';
import { eventIdOf, eventIdText, eventTypes, eventView } from '../../events/kept/event.js';
import type { EventLog, SeenEvent } from '../../events/kept/event-log.js';
import type { EventFilter } from '../../events/kept/event-pages.js';
import type { Place } from '../../events/kept/event-tables.js';
import { pictureError } from '../../pictures/errors.js';
import { listAnswers, listText } from '../list.js';
import { invalidInput } from '../problem.js';
import { type Reply, type Route, route } from '../route.js';
import { idSchema } from '../schemas.js';
import { instantSchema } from '../time-range.js';

/** Whatever else a handler answers is content, if only of no length. */
const noContent: Reply = {
  write: (_request, response) => {
    response.writeHead(204, { 'Cache-Control': 'no-store' }).end();
  },
};

/** A picture of an event; null: there is none. */
export type EventPictures = {
  of(
    event: SeenEvent['event'],
    signal: AbortSignal,
  ): Promise<{ readonly jpeg: Buffer; readonly etag: string } | null>;
};

export type KeptEventRoutesDeps = {
  readonly events: Pick<EventLog, 'page' | 'find' | 'review' | 'protect'>;
  /** The cameras that have a tag; and those in a folder, and in the folders in it. */
  readonly cameras: {
    readonly ids: readonly string[];
    withTag(tagId: string): ReadonlySet<string>;
    inFolder(folderId: string): ReadonlySet<string>;
  };
  readonly pictures: EventPictures;
};

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
const MAX_NAMED = 64;
const MAX_REVIEWED = 1_000;

const eventIdSchema = z.string().regex(/^[1-9a-z][0-9a-z]{0,10}$/, 'must be the id of an event');
const eventParams = z.object({ id: eventIdSchema });

const eventSchema = z
  .strictObject({
    id: eventIdSchema,
    camera_id: z.union([z.literal(''), idSchema]).meta({ description: 'empty: it is about no camera' }),
    type: z.enum(eventTypes),
    label: z.string().meta({ description: 'what was seen; empty: nothing' }),
    score: z.number().nullable().meta({ description: 'the best there was, from 0 to 1' }),
    from: z.iso.datetime(),
    to: z.iso.datetime().nullable().meta({ description: 'null: it goes on' }),
    protected: z.boolean().meta({ description: 'whether its recordings are kept however old they become' }),
    detail: z.string().meta({ description: 'why, where there is something to say' }),
    reviewed: z.boolean().meta({ description: 'by whoever asks' }),
  })
  .meta({ id: 'Event' });

const several = <Item extends z.ZodType>(item: Item) =>
  z
    .union([z.array(item).min(1).max(MAX_NAMED), item])
    .optional()
    .meta({ description: `repeated for more than one, ${MAX_NAMED} at most` });

const cursorPattern = /^(\d{1,16})\.([1-9a-z][0-9a-z]{0,10})$/;
const cursorSchema = z
  .string()
  .max(32)
  .transform((text, context): Place => {
    const [, fromMs, idText = ''] = cursorPattern.exec(text) ?? [];
    const id = eventIdOf(idText);
    if (fromMs !== undefined && id !== null) return { fromMs: Number(fromMs), id };
    context.addIssue({ code: 'custom', message: 'must be one that a page before has named' });
    return z.NEVER;
  })
  .meta({ description: 'where the page before ended: as its `Link` names it' });

const eventsQuery = z.object({
  from: instantSchema.optional(),
  to: instantSchema.optional(),
  camera_id: several(idSchema),
  folder_id: idSchema.optional().meta({ description: 'of the cameras in it, and in the folders in it' }),
  tag: idSchema.optional(),
  type: several(z.enum(eventTypes)),
  label: several(z.string().min(1).max(256)),
  reviewed: z.enum(['true', 'false']).optional().meta({ description: 'by whoever asks' }),
  order: z
    .enum(['newest_first', 'oldest_first'])
    .default('newest_first')
    .meta({ description: 'by when they began' }),
  limit: z.coerce.number().int().min(1).max(MAX_LIMIT).default(DEFAULT_LIMIT),
  cursor: cursorSchema.optional(),
});

type EventsQuery = z.infer<typeof eventsQuery>;

const setOf = <Item>(value: Item | readonly Item[] | undefined): ReadonlySet<Item> | null =>
  value === undefined ? null : new Set([value].flat() as Item[]);

const filterOf = (query: EventsQuery, cameras: KeptEventRoutesDeps['cameras'], sight: Sight): EventFilter => {
  const { from: fromMs = null, to: toMs = null, camera_id, folder_id, tag, type, label, reviewed } = query;
  if (fromMs !== null && toMs !== null && fromMs >= toMs)
    throw invalidInput([{ path: 'from', message: 'must be before "to"' }]);
  const wanted = [
    setOf(camera_id),
    ...(folder_id === undefined
      ? []
      : [sight.seesFolder(folder_id) ? cameras.inFolder(folder_id) : new Set<string>()]),
    ...(tag === undefined ? [] : [cameras.withTag(tag)]),
    // What is about no camera is about all.
    ...(sight.isLimited ? [new Set(cameras.ids.filter((id) => sight.seesCamera(id)))] : []),
  ].filter((ids) => ids !== null);
  const [first, ...others] = wanted;
  const cameraIds =
    first === undefined ? null : new Set([...first].filter((id) => others.every((ids) => ids.has(id))));
  const isReviewed = reviewed === undefined ? null : reviewed === 'true';
  return { fromMs, toMs, cameraIds, types: setOf(type), labels: setOf(label), isReviewed };
};

/** The same question, from where this page ends. */
const nextLink = (query: EventsQuery, place: Place): string => {
  const { from, to, camera_id, folder_id, tag, type, label, reviewed, order, limit } = query;
  const next = new URLSearchParams();
  const put = (name: string, value: string | number | readonly string[] | undefined): void => {
    for (const one of [value ?? []].flat()) next.append(name, String(one));
  };
  put('from', from === undefined ? undefined : new Date(from).toISOString());
  put('to', to === undefined ? undefined : new Date(to).toISOString());
  for (const [name, value] of Object.entries({
    camera_id,
    folder_id,
    tag,
    type,
    label,
    reviewed,
    order,
    limit,
  }))
    put(name, value);
  put('cursor', `${place.fromMs}.${eventIdText(place.id)}`);
  return `</api/events?${next}>; rel="next"`;
};

const viewOf = ({ event, isReviewed }: SeenEvent): z.infer<typeof eventSchema> => ({
  ...eventView(event),
  reviewed: isReviewed,
});

/** Of whoever is limited what is about a camera in sight. */
const isInSight = ({ event: { cameraId } }: SeenEvent, sight: Sight): boolean =>
  !sight.isLimited || sight.seesCamera(cameraId);

/** A single event. */
const oneEventRoutes = ({ events, pictures }: Omit<KeptEventRoutesDeps, 'cameras'>): Route[] => {
  const find = (text: string, { username }: Principal, sight: Sight): SeenEvent => {
    const id = eventIdOf(text);
    const seen = id === null ? null : events.find(id, username);
    if (seen === null || !isInSight(seen, sight))
      throw new AppError('not_found', `there is no event ${text}`);
    return seen;
  };
  return [
    route({
      method: 'get',
      path: '/api/events/:id',
      access: 'events.read',
      summary: 'One event',
      params: eventParams,
      answers: { 200: { description: 'The event', schema: eventSchema } },
      problems: [404, 503],
      handle: ({ params, principal, sight }) => ({
        status: 200,
        body: viewOf(find(params.id, principal, sight)),
      }),
    }),
    route({
      method: 'put',
      path: '/api/events/:id',
      access: 'events.protect',
      audit: 'protect_event',
      summary:
        'Keep what was recorded of an event, however old it becomes; or let it go with the others again',
      params: eventParams,
      body: z.strictObject({ protected: z.boolean() }).meta({ id: 'EventChanges' }),
      answers: { 200: { description: 'The event', schema: eventSchema } },
      problems: [404, 409, 503],
      handle: ({ params, body, principal, sight, note }) => {
        const { event } = find(params.id, principal, sight);
        events.protect(event.id, body.protected);
        const fields = event.isProtected === body.protected ? [] : ['protected'];
        note({ target: params.id, fields, ...(event.cameraId === '' ? {} : { camera_id: event.cameraId }) });
        return { status: 200, body: viewOf(find(params.id, principal, sight)) };
      },
    }),
    route({
      method: 'get',
      path: '/api/events/:id/thumbnail.jpg',
      access: 'events.read',
      summary: 'A picture of an event: its own, or what was recorded when it began',
      params: eventParams,
      answers: {
        200: { description: 'The picture', contentType: 'image/jpeg' },
        // Nothing is wrong with an event that has none, and browsers would tell of a 404 in their console.
        204: { description: 'There is no picture of this event', contentType: null },
        304: { description: 'The picture that the client has', contentType: null },
      },
      problems: [404, 501, 502, 503],
      handle: async ({ params, principal, sight, onGone }) => {
        const { event } = find(params.id, principal, sight);
        const gone = new AbortController();
        onGone(() => gone.abort(pictureError('pictures_busy', 'the client did not wait')));
        const picture = await pictures.of(event, gone.signal);
        if (picture === null) return noContent;
        const headers = { ETag: picture.etag, 'Cache-Control': 'private, max-age=60' };
        return { status: 200, text: picture.jpeg, contentType: 'image/jpeg', headers };
      },
    }),
  ];
};

/** What happened: searched, reviewed, protected. */
export const keptEventRoutes = ({ events, cameras, pictures }: KeptEventRoutesDeps): Route[] => [
  route({
    method: 'get',
    path: '/api/events',
    access: 'events.read',
    summary:
      'What happened, by when it began; `from` and `to` bound that. A page may be short, or empty: its `Link` leads on',
    query: eventsQuery,
    answers: listAnswers(`Events, ${DEFAULT_LIMIT} where no limit is named`, eventSchema),
    problems: [503],
    handle: ({ query, principal, sight }) => {
      const { limit, order, cursor: after = null } = query;
      const page = events.page(filterOf(query, cameras, sight), { after, limit, order }, principal.username);
      const link = page.next === null ? null : nextLink(query, page.next);
      return listText(JSON.stringify(page.seen.map(viewOf)), link);
    },
  }),
  route({
    method: 'post',
    path: '/api/events/reviewed',
    access: 'events.review',
    audit: null,
    summary: 'Remember that whoever asks has seen these events, or take that back',
    body: z
      .strictObject({
        ids: z.array(eventIdSchema).min(1).max(MAX_REVIEWED),
        reviewed: z.boolean().default(true),
      })
      .meta({ id: 'EventReview' }),
    answers: {
      200: {
        description: 'How many of them there are',
        schema: z.strictObject({ count: z.int() }).meta({ id: 'ReviewedEvents' }),
      },
    },
    problems: [503],
    handle: ({ body, principal, sight }) => {
      const isThere = (id: number): boolean => {
        const seen = sight.isLimited ? events.find(id, principal.username) : null;
        return seen === null ? !sight.isLimited : isInSight(seen, sight);
      };
      const ids = [...new Set(body.ids)]
        .map(eventIdOf)
        .filter((id) => id !== null)
        .filter(isThere);
      return { status: 200, body: { count: events.review(principal.username, ids, body.reviewed) } };
    },
  }),
  ...oneEventRoutes({ events, pictures }),
];
