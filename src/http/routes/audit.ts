import { z } from 'zod';
import { entityTagOf, taggedText } from '../entity-tag.js';
import { invalidInput } from '../problem.js';
import { type Route, route } from '../route.js';
import { instantSchema } from '../time-range.js';

/** Where a page ended. */
type Place = { readonly timeMs: number; readonly id: number };

/** Null: whatever it is. */
type Wanted = {
  readonly fromMs: number | null;
  readonly toMs: number | null;
  readonly username: string | null;
  readonly action: string | null;
  readonly before: Place | null;
  readonly limit: number;
};

type Kept = Place & { readonly record: string };

export type AuditRoutesDeps = {
  /** The newest first. */
  readonly trail: { list(wanted: Wanted): readonly Kept[] };
};

const DEFAULT_LIMIT = 100;

const auditQuery = z.object({
  from: instantSchema.optional(),
  to: instantSchema.optional(),
  user: z
    .string()
    .regex(
      /^(?:key:)?[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/,
      'must be the name of a user, or `key:` and that of a key',
    )
    .optional()
    .meta({ description: 'who did it; a key is `key:` and its name' }),
  action: z
    .string()
    .regex(/^[a-z_]{1,64}$/, 'must be the name of an action')
    .optional(),
  limit: z.coerce.number().int().min(1).max(1_000).optional(),
  cursor: z
    .string()
    .regex(/^\d{1,15}-\d{1,15}$/, 'must be what a page before names')
    .optional(),
});

const auditEntrySchema = z
  .looseObject({
    time: z.iso.datetime(),
    action: z.string().meta({ description: 'what was done; `<action>_failed` where it was tried' }),
    ip: z.string(),
    user: z.string().optional(),
    camera_id: z.string().optional(),
    target: z.string().optional(),
    request_id: z.string(),
  })
  .meta({ id: 'AuditEntry', description: 'as the log has it; further fields depend on the action' });

const placeOf = (cursor: string | undefined): Place | null => {
  const [timeMs, id] = (cursor ?? '').split('-');
  return timeMs === undefined || id === undefined ? null : { timeMs: Number(timeMs), id: Number(id) };
};

const textOf = ({ timeMs, record }: Kept): string =>
  // Records are JSON objects that are never empty.
  `{"time":"${new Date(timeMs).toISOString()}",${record.slice(1)}`;

/** The address of what comes behind a page. */
const linkOf = (query: z.infer<typeof auditQuery>, last: Place): string => {
  const { from, to, user, action, limit = DEFAULT_LIMIT } = query;
  const next = new URLSearchParams({
    ...(from === undefined ? {} : { from: new Date(from).toISOString() }),
    ...(to === undefined ? {} : { to: new Date(to).toISOString() }),
    ...(user === undefined ? {} : { user }),
    ...(action === undefined ? {} : { action }),
    limit: String(limit),
    cursor: `${last.timeMs}-${last.id}`,
  });
  return `</api/audit?${next.toString()}>; rel="next"`;
};

/** What was done, by whom and when. */
export const auditRoutes = ({ trail }: AuditRoutesDeps): Route[] => [
  route({
    method: 'get',
    path: '/api/audit',
    access: 'audit.read',
    summary: 'The audit log of the last 90 days, the newest first: 100 records unless `limit` says otherwise',
    query: auditQuery,
    answers: {
      200: {
        description: 'Records; where there are more, the next page is in `Link`, as `rel="next"`',
        schema: z.array(auditEntrySchema),
      },
      304: { description: 'The page that the client has', contentType: null },
    },
    handle: ({ query }) => {
      const { from, to, user, action, limit = DEFAULT_LIMIT, cursor } = query;
      if (from !== undefined && to !== undefined && from >= to)
        throw invalidInput([{ path: 'from', message: 'must be before "to"' }]);
      const found = trail.list({
        ...{ fromMs: from ?? null, toMs: to ?? null, username: user ?? null, action: action ?? null },
        ...{ before: placeOf(cursor), limit: limit + 1 },
      });
      const shown = found.slice(0, limit);
      const link = found.length > limit ? linkOf(query, shown.at(-1)!) : null;
      const text = `[${shown.map(textOf).join(',')}]`;
      return taggedText(text, entityTagOf(text, link ?? ''), link === null ? {} : { Link: link });
    },
  }),
];
