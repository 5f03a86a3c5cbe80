import type { HeaderLines } from '../../../rtsp/message.js';
import { writeResponse } from '../../../rtsp/message.js';

/** RFC 2326 §7.1.1. */
const reasons = {
  200: 'OK',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  453: 'Not Enough Bandwidth',
  454: 'Session Not Found',
  455: 'Method Not Valid In This State',
  459: 'Aggregate Operation Not Allowed',
  461: 'Unsupported Transport',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  503: 'Service Unavailable',
  551: 'Option not supported',
} as const;

export type Status = keyof typeof reasons;

export type Answer = {
  readonly status: Status;
  readonly headers?: HeaderLines;
  readonly body?: string;
  /** Done as soon as it is written. */
  readonly afterwards?: () => void;
};

/** The bytes of an answer to the request with this CSeq. */
export const answerText = ({ status, headers = [], body = '' }: Answer, cseq: number): string => {
  const length: HeaderLines = body === '' ? [] : [['Content-Length', String(Buffer.byteLength(body))]];
  const head = writeResponse(status, reasons[status], [
    ['CSeq', String(cseq)],
    ['Server', 'Framering'],
    ...headers,
    ...length,
  ]);
  return head + body;
};
