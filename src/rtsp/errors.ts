import { AppError } from '../base/errors.js';

/** Why an RTSP session couldn't begin, or ended. The supervisor decides by it how soon to try again. */
export type RtspErrorCode =
  /** The camera's URL can't be used at all. */
  | 'bad_url'
  /** Name and password are missing or refused. */
  | 'unauthorized'
  /** The camera has no stream under this path. */
  | 'not_found'
  /** Neither TCP nor UDP is acceptable to the camera. */
  | 'unsupported_transport'
  | 'connection_refused'
  | 'host_unreachable'
  | 'timeout'
  | 'closed_by_camera'
  /** What the camera sent isn't RTSP, or breaks a bound. */
  | 'protocol_error'
  | 'bad_sdp'
  /** The camera answered with an error of its own, such as having no session left. */
  | 'server_error'
  /** `close()`. */
  | 'aborted'
  /** A handler of ours threw. */
  | 'internal_error';

export type RtspError = AppError<RtspErrorCode>;

/** An AppError of this folder; `message` is for the user and tells what to do, never a secret. */
export const rtspError = (
  code: RtspErrorCode,
  message: string,
  options: { cause?: unknown; details?: Readonly<Record<string, unknown>> } = {},
): RtspError => new AppError(code, message, options);

/** Whether `thrown` is an error of this folder. */
export const isRtspError = (thrown: unknown): thrown is RtspError => thrown instanceof AppError;

const codeOf = (error: Error): string =>
  'code' in error && typeof error.code === 'string' ? error.code : error.name;

/** Turns what a socket reports into an error that tells the user what to look at. */
export const fromSocketError = (error: Error, where: string): RtspError => {
  const systemCode = codeOf(error);
  const as = (code: RtspErrorCode, message: string): RtspError =>
    rtspError(code, message, { cause: error, details: { where, systemCode } });
  switch (systemCode) {
    case 'ECONNREFUSED':
      return as(
        'connection_refused',
        `nothing listens at ${where}: check the port, and that RTSP is enabled`,
      );
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return as('host_unreachable', `the name in ${where} is unknown: check it, or use the address`);
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'EHOSTDOWN':
      return as('host_unreachable', `no way to ${where}: check that the camera is on and in reach`);
    case 'ETIMEDOUT':
      return as('timeout', `${where} doesn't answer`);
    case 'ECONNRESET':
    case 'EPIPE':
      return as('closed_by_camera', `${where} broke the connection off`);
    default:
      return /^(ERR_SSL|ERR_TLS|EPROTO|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(systemCode)
        ? as('protocol_error', `TLS with ${where} failed (${systemCode}): check that this port speaks rtsps`)
        : as('host_unreachable', `the connection to ${where} failed (${systemCode})`);
  }
};

/** What an answer other than 2xx means for the user. */
export const fromStatus = (method: string, status: number, reason: string, where: string): RtspError => {
  const answer = `${where} answered ${status} ${reason.slice(0, 80)}`.trimEnd();
  const as = (code: RtspErrorCode, hint: string): RtspError =>
    rtspError(code, `${answer} to ${method}${hint}`, { details: { method, status } });
  if (status === 401) return as('unauthorized', ': check user name and password');
  if (status === 403) return as('unauthorized', ': this user may not watch this stream');
  if (status === 404 || status === 410) return as('not_found', ': check the path of the URL');
  if (status === 461) return as('unsupported_transport', ': it offers neither TCP nor UDP');
  if (status === 453 || status === 503) return as('server_error', ': it has no session or bandwidth left');
  return as('server_error', '');
};
