import { z } from 'zod';
import { PERMISSIONS, permissionsOf } from '../../auth/permissions.js';
import type { Principal } from '../../auth/tokens.js';
import type { Change } from '../../base/change.js';
import { AppError } from '../../base/errors.js';
import { roles } from '../access.js';
import { entityTagOf, requireMatch, taggedText } from '../entity-tag.js';
import { jsonObject } from '../json-object.js';
import { httpError } from '../problem.js';
import { type Route, route } from '../route.js';
import { idSchema, messageSchema, newPasswordSchema, tokenSchema } from '../schemas.js';

type Session = {
  readonly id: string;
  readonly isRemembered: boolean;
  readonly begunMs: number | null;
  readonly usedMs: number;
  readonly userAgent: string;
};

export type MeRoutesDeps = {
  readonly accounts: {
    mustChangePassword(username: string): boolean;
    changePassword(
      principal: Principal,
      passwords: { readonly old: string; readonly wanted: string },
      address: string,
    ): Promise<string>;
  };
  readonly sessions: {
    /** Those that are good, the one used last first. */
    of(username: string): readonly Session[];
    /** False: the user has no such one. */
    endOf(username: string, id: string): boolean;
  };
  /** That of the site. */
  readonly timeZone: () => string;
  /** Of a cluster; null: the box is alone. */
  readonly box: string | null;
  readonly preferences: { textOf(username: string): string; put(username: string, text: string): void };
  readonly change: Change;
};

const MAX_PREFERENCES_BYTES = 65_536;
const MAX_PREFERENCES_DEPTH = 32;

const meSchema = z
  .strictObject({
    username: z.string().describe('of a key `key:` and its name'),
    role: z.enum(roles),
    folders: z.array(idSchema).optional().describe('sees what is in these alone; absent: everything'),
    cameras: z.array(idSchema).optional().describe('and these; of keys alone'),
    permissions: z.array(z.enum(PERMISSIONS as [string, ...string[]])),
    time_zone: z.string().describe('the zone that times are shown in, a setting of the site'),
    box: z.string().optional().describe('the box of a cluster that answers; absent: it is alone'),
    must_change_password: z
      .boolean()
      .describe('whether the password is still the one that was made at the first start'),
  })
  .meta({ id: 'Me' });

const passwordChange = z
  .strictObject({ old: z.string().max(1_024), new: newPasswordSchema })
  .meta({ id: 'PasswordChange' });

const sessionIdSchema = z.string().regex(/^[A-Za-z0-9_-]{16}$/, 'must be the id of a session');

const browserSchema = z
  .strictObject({
    id: sessionIdSchema,
    created: z.iso.datetime().nullable().describe('null: before this was kept'),
    last_used: z.iso.datetime().describe('to within ten minutes'),
    user_agent: z.string().max(256).describe('what it called itself when it was signed in'),
    remembered: z.boolean().describe('whether it stays signed in when it is closed'),
    current: z.boolean().describe('whether it is the one that asks'),
  })
  .meta({ id: 'SignedInBrowser' });

const preferences = jsonObject(MAX_PREFERENCES_DEPTH).meta({ id: 'Preferences' });

/** The browsers that the user is signed in with. */
const browserRoutes = ({ sessions }: Pick<MeRoutesDeps, 'sessions'>): Route[] => [
  route({
    method: 'get',
    path: '/api/me/sessions',
    access: 'account.own',
    summary: 'The browsers that the user is signed in with, the one used last first',
    answers: { 200: { description: 'Browsers, 100 at most', schema: z.array(browserSchema) } },
    handle: ({ principal: { username, sessionId } }) => ({
      status: 200,
      body: sessions.of(username).map((session) => ({
        id: session.id,
        created: session.begunMs === null ? null : new Date(session.begunMs).toISOString(),
        last_used: new Date(session.usedMs).toISOString(),
        user_agent: session.userAgent,
        remembered: session.isRemembered,
        current: session.id === sessionId,
      })),
    }),
  }),
  route({
    method: 'delete',
    path: '/api/me/sessions/:id',
    access: 'account.own',
    audit: 'end_session',
    summary: 'Sign one of the browsers out; an access token that it has is good until it expires',
    params: z.object({ id: sessionIdSchema }),
    answers: { 200: { description: 'Done', schema: messageSchema } },
    problems: [404, 503],
    handle: ({ principal: { username }, params: { id } }) => {
      if (!sessions.endOf(username, id)) throw new AppError('not_found', `there is no session ${id}`);
      return { status: 200, body: { message: 'session ended' } };
    },
  }),
];

/** Who asks: what they may do, their password, and what pages keep for them. */
export const meRoutes = ({
  accounts,
  sessions,
  preferences: kept,
  change,
  timeZone,
  box,
}: MeRoutesDeps): Route[] => [
  ...browserRoutes({ sessions }),
  route({
    method: 'get',
    path: '/api/me',
    access: 'me.read',
    summary: 'Who asks, and what they may do',
    answers: { 200: { description: 'The user', schema: meSchema } },
    handle: ({ principal, principal: { username, role, limits } }) => ({
      status: 200,
      body: {
        username,
        role,
        ...(limits && limits.folders.length > 0 && { folders: limits.folders }),
        ...(limits && limits.cameras.length > 0 && { cameras: limits.cameras }),
        permissions: permissionsOf(principal),
        time_zone: timeZone(),
        ...(box !== null && { box }),
        must_change_password: accounts.mustChangePassword(username),
      },
    }),
  }),
  route({
    method: 'put',
    path: '/api/me/password',
    access: 'account.own',
    audit: 'change_password',
    auditedFailures: ['wrong_password', 'too_many_attempts', 'database_unavailable'],
    summary: 'Another password: it ends all tokens of the user, and all sessions but the one that asks',
    body: passwordChange,
    answers: { 200: { description: 'An access token of the new password', schema: tokenSchema } },
    problems: [403, 429, 503],
    handle: async ({ principal, body, clientAddress }) => {
      const passwords = { old: body.old, wanted: body.new };
      return {
        status: 200,
        body: { token: await accounts.changePassword(principal, passwords, clientAddress) },
      };
    },
  }),
  route({
    method: 'get',
    path: '/api/me/preferences',
    access: 'account.own',
    summary: 'What pages keep for the user',
    answers: {
      200: { description: 'An object that pages alone understand', schema: preferences },
      304: { description: 'What the client has', contentType: null },
    },
    handle: ({ principal: { username } }) => {
      const text = kept.textOf(username);
      return taggedText(text, entityTagOf(text));
    },
  }),
  route({
    method: 'put',
    path: '/api/me/preferences',
    access: 'account.own',
    audit: null,
    summary: 'Replace what pages keep for the user, as a whole',
    isConditional: true,
    body: preferences,
    bodyLimitBytes: MAX_PREFERENCES_BYTES,
    answers: { 200: { description: 'What is kept now', schema: preferences } },
    problems: [503],
    handle: async ({ principal: { username }, body, ifMatch }) => {
      const text = JSON.stringify(body);
      // A number may be longer written out than as it came.
      if (Buffer.byteLength(text) > MAX_PREFERENCES_BYTES)
        throw httpError('body_too_large', `preferences may have ${MAX_PREFERENCES_BYTES} bytes at most`);
      await change(() => {
        requireMatch(ifMatch, entityTagOf(kept.textOf(username)));
        kept.put(username, text);
      });
      return taggedText(text, entityTagOf(text));
    },
  }),
];
