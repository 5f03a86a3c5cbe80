import type { Faults } from './faults.js';
import type { RtspRequest } from './request-reader.js';

/** An answer before it becomes text; the CSeq is added there. */
export type Answer = {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: string;
};

const reasons: Readonly<Record<number, string>> = {
  200: 'OK',
  400: 'Bad Request',
  401: 'Unauthorized',
  404: 'Not Found',
  405: 'Method Not Allowed',
  453: 'Not Enough Bandwidth',
  454: 'Session Not Found',
  455: 'Method Not Valid in This State',
  459: 'Aggregate Operation Not Allowed',
  461: 'Unsupported Transport',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  503: 'Service Unavailable',
};

const cseqLine = (request: RtspRequest, kind: Faults['cseq']): string => {
  const cseq = request.headers.get('cseq') ?? '0';
  switch (kind) {
    case 'normal':
      return `CSeq: ${cseq}\r\n`;
    case 'spaced':
      return `CSeq:    ${cseq}  \r\n`;
    case 'lower-case':
      return `cseq: ${cseq}\r\n`;
    case 'missing':
      return '';
    case 'wrong':
      return `CSeq: ${Number(cseq) + 1000}\r\n`;
    case 'always-one':
      return 'CSeq: 1\r\n';
  }
};

/** The text of an answer (RFC 2326 §7). */
export const answerText = (answer: Answer, request: RtspRequest, faults: Faults): string => {
  const body = answer.body ?? '';
  const headers = answer.headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const length = body === '' ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  const reason = reasons[answer.status] ?? 'Unknown';
  const text = `RTSP/1.0 ${answer.status} ${reason}\r\n${cseqLine(request, faults.cseq)}${headers}${length}\r\n${body}`;
  return faults.editAnswer === null ? text : faults.editAnswer(text, request);
};
