import type { HeldSession } from '../../auth/sessions.js';
import { type Route, route } from '../route.js';
import { messageSchema, tokenSchema } from '../schemas.js';
import { endedCookie, sessionCookie } from '../session-access.js';

export type SessionRoutesDeps = {
  readonly sessions: {
    /** Throws `session_ended`, as the other does. */
    renew(secret: string): {
      readonly username: string;
      readonly token: string;
      readonly session: HeldSession;
    };
    end(secret: string): { readonly username: string };
  };
};

/** What a browser's cookie is good for: another access token, and signing out. */
export const sessionRoutes = ({ sessions }: SessionRoutesDeps): Route[] => [
  route({
    method: 'post',
    path: '/api/session',
    access: 'session',
    audit: 'renew_session',
    summary: 'An access token for a browser that is signed in, whose session goes on by it',
    answers: { 200: { description: 'An access token', schema: tokenSchema } },
    handle: ({ session, isSecure, note }) => {
      const { username, token, session: held } = sessions.renew(session);
      note({ user: username });
      return { status: 200, body: { token }, headers: sessionCookie(held, isSecure) };
    },
  }),
  route({
    method: 'delete',
    path: '/api/session',
    access: 'session',
    audit: 'end_session',
    summary: 'Sign the browser out; an access token that it has is good until it expires',
    answers: { 200: { description: 'Done', schema: messageSchema } },
    problems: [503],
    handle: ({ session, isSecure, note }) => {
      const { username } = sessions.end(session);
      note({ user: username });
      return { status: 200, body: { message: 'session ended' }, headers: endedCookie(isSecure) };
    },
  }),
];
