import { z } from 'zod';
import { AppError } from '../../base/errors.js';
import { type Route, route } from '../route.js';
import { tokenSchema } from '../schemas.js';

export type LoginDeps = {
  readonly accounts: {
    has(username: string): boolean;
    login(username: string, password: string, address: string): Promise<string>;
  };
  readonly onLoginFailure: (reason: 'credentials' | 'limited') => void;
};

/** Longer than any that can be right; what is wrong is told by the login itself, as ever the same. */
const MAX_CHARACTERS = 1_024;

/** The longest name and password fit, every character escaped. */
const LIMIT_BYTES = 4_096;

const credentials = z
  .strictObject({ username: z.string().max(MAX_CHARACTERS), password: z.string().max(MAX_CHARACTERS) })
  .meta({ id: 'Credentials' });

/** Logging in. */
export const loginRoutes = ({ accounts, onLoginFailure }: LoginDeps): Route[] => [
  route({
    method: 'post',
    path: '/api/login',
    access: 'public',
    audit: 'login',
    auditedFailures: ['bad_credentials', 'too_many_attempts'],
    summary: 'Exchange a name and a password for an access token, good for an hour',
    body: credentials,
    bodyLimitBytes: LIMIT_BYTES,
    answers: { 200: { description: 'An access token', schema: tokenSchema } },
    problems: [401, 429],
    handle: async ({ body: { username, password }, clientAddress, note }) => {
      // A name that nobody has may be a password in the wrong field.
      if (accounts.has(username)) note({ user: username });
      try {
        return { status: 200, body: { token: await accounts.login(username, password, clientAddress) } };
      } catch (fault) {
        const isWrong = fault instanceof AppError && fault.code === 'bad_credentials';
        const isLimited = fault instanceof AppError && fault.code === 'too_many_attempts';
        if (isWrong || isLimited) onLoginFailure(isWrong ? 'credentials' : 'limited');
        throw fault;
      }
    },
  }),
];
