import { AppError } from '../base/errors.js';

/** What can be wrong with a request's rights. No message ever repeats a token, a password or a secret. */
export type AuthErrorCode =
  | 'token_missing'
  | 'token_expired'
  | 'token_invalid'
  | 'token_revoked'
  | 'forbidden'
  | 'bad_credentials'
  | 'session_missing'
  | 'session_ended'
  | 'bad_password'
  | 'admin_limited'
  | 'wrong_password'
  | 'too_many_attempts'
  | 'too_many_viewings'
  | 'login_busy'
  | 'bad_jwt_secret';

/** An AppError whose code is one of ours. Only `details` goes along: a cause could hold part of a token. */
export const authError = (
  code: AuthErrorCode,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): AppError<AuthErrorCode> => new AppError(code, message, { details });
