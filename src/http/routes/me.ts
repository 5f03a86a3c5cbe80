import { z } from 'zod';
import { PERMISSIONS, permissionsOf } from '../../auth/permissions.js';
import type { Principal } from '../../auth/tokens.js';
import { roles } from '../access.js';
import { entityTagOf, requireMatch, taggedText } from '../entity-tag.js';
import { jsonObject } from '../json-object.js';
import { httpError } from '../problem.js';
import { type Route, route } from '../route.js';
import { idSchema, newPasswordSchema, tokenSchema } from '../schemas.js';

export type MeRoutesDeps = {
  readonly accounts: {
    mustChangePassword(username: string): boolean;
    changePassword(
      principal: Principal,
      passwords: { readonly old: string; readonly wanted: string },
      address: string,
    ): Promise<string>;
  };
  /** That of the site. */
  readonly timeZone: () => string;
  readonly preferences: { textOf(username: string): string; put(username: string, text: string): void };
};

const MAX_PREFERENCES_BYTES = 65_536;
const MAX_PREFERENCES_DEPTH = 32;

const meSchema = z
  .strictObject({
    username: idSchema,
    role: z.enum(roles),
    permissions: z.array(z.enum(PERMISSIONS as [string, ...string[]])),
    time_zone: z.string().describe('the zone that times are shown in, a setting of the site'),
    must_change_password: z
      .boolean()
      .describe('whether the password is still the one that was made at the first start'),
  })
  .meta({ id: 'Me' });

const passwordChange = z
  .strictObject({ old: z.string().max(1_024), new: newPasswordSchema })
  .meta({ id: 'PasswordChange' });

const preferences = jsonObject(MAX_PREFERENCES_DEPTH).meta({ id: 'Preferences' });

/** Who asks: what they may do, their password, and what pages keep for them. */
export const meRoutes = ({ accounts, preferences: kept, timeZone }: MeRoutesDeps): Route[] => [
  route({
    method: 'get',
    path: '/api/me',
    access: 'account.own',
    summary: 'Who asks, and what they may do',
    answers: { 200: { description: 'The user', schema: meSchema } },
    handle: ({ principal: { username, role } }) => ({
      status: 200,
      body: {
        username,
        role,
        permissions: permissionsOf(role),
        time_zone: timeZone(),
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
    handle: ({ principal: { username }, body, ifMatch }) => {
      requireMatch(ifMatch, entityTagOf(kept.textOf(username)));
      const text = JSON.stringify(body);
      // A number may be longer written out than as it came.
      if (Buffer.byteLength(text) > MAX_PREFERENCES_BYTES)
        throw httpError('body_too_large', `preferences may have ${MAX_PREFERENCES_BYTES} bytes at most`);
      kept.put(username, text);
      return taggedText(text, entityTagOf(text));
    },
  }),
];
