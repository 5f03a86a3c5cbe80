import { z } from 'zod';
import type { HeldSession } from '../../auth/sessions.js';
import { AppError } from '../../base/errors.js';
import { type Route, route } from '../route.js';
import { tokenSchema } from '../schemas.js';
import { sessionCookie } from '../session-access.js';

export type LoginDeps = {
  readonly accounts: {
    has(username: string): boolean;
    login(username: string, password: string, address: string): Promise<string>;
    signIn(
      username: string,
      password: string,
      address: string,
      options: { readonly isRemembered: boolean; readonly userAgent: string },
    ): Promise<{ readonly token: string; readonly session: HeldSession | null }>;
  };
  readonly onLoginFailure: (reason: 'credentials' | 'limited') => void;
};

/** Longer than any that can be right; what is wrong is told by the login itself, as ever the same. */
const MAX_CHARACTERS = 1_024;

/** The longest name and password fit, every character escaped. */
const LIMIT_BYTES = 4_096;

const credentials = z
  .strictObject({
    username: z.string().max(MAX_CHARACTERS),
    password: z.string().max(MAX_CHARACTERS),
    remember: z
      .boolean()
      .optional()
      .describe(
        'with it, true or false, a cookie is set that `/api/session` takes: for 30 days since its last use, or until the browser closes',
      ),
  })
  .meta({ id: 'Credentials' });

/** Logging in. */
export const loginRoutes = ({ accounts, onLoginFailure }: LoginDeps): Route[] => [
  route({
    method: 'post',
    path: '/api/login',
    access: 'public',
    audit: 'login',
    auditedFailures: ['bad_credentials', 'too_many_attempts'],
    summary:
      'Exchange a name and a password for an access token, good for an hour; browsers can stay signed in',
    body: credentials,
    bodyLimitBytes: LIMIT_BYTES,
    answers: { 200: { description: 'An access token', schema: tokenSchema } },
    problems: [401, 429],
    handle: async ({ body: { username, password, remember }, clientAddress, userAgent, isSecure, note }) => {
      // A name that nobody has may be a password in the wrong field.
      if (accounts.has(username)) note({ user: username });
      try {
        if (remember === undefined)
          return { status: 200, body: { token: await accounts.login(username, password, clientAddress) } };
        const options = { isRemembered: remember, userAgent };
        const { token, session } = await accounts.signIn(username, password, clientAddress, options);
        const headers = session === null ? {} : sessionCookie(session, isSecure);
        return { status: 200, body: { token }, headers };
      } catch (fault) {
        const isWrong = fault instanceof AppError && fault.code === 'bad_credentials';
        const isLimited = fault instanceof AppError && fault.code === 'too_many_attempts';
        if (isWrong || isLimited) onLoginFailure(isWrong ? 'credentials' : 'limited');
        throw fault;
      }
    },
  }),
];
