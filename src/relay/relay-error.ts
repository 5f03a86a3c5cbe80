import { AppError } from '../base/errors.js';

/**
 * `relay_unreachable`: nobody answers; `relay_refused`: whoever does has another key; `relay_protocol`: it says what can't be
 * read; `relay_busy`: it has too much on its way; `relay_version`: of all that it speaks we know nothing; `relay_loop`: the frames have been here, or came by too many
 * boxes; `relay_ended`: it ended the pull, and says why; `relay_stalled`: it says nothing any more; `relay_slow`: it began to
 * answer, and takes too long.
 */
export type RelayErrorCode =
  | 'relay_unreachable'
  | 'relay_refused'
  | 'relay_protocol'
  | 'relay_busy'
  | 'relay_version'
  | 'relay_loop'
  | 'relay_ended'
  | 'relay_stalled'
  | 'relay_slow';

export const relayError = (
  code: RelayErrorCode,
  message: string,
  cause?: unknown,
): AppError<RelayErrorCode> => new AppError(code, message, { cause });
