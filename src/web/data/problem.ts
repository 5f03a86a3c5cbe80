/** What the service answers when it can't do what was asked (RFC 9457), or why it could not be asked at all. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly faults: readonly { readonly path: string; readonly message: string }[];
  readonly requestId: string;
  readonly retryAfterSec: number | null;

  constructor(given: {
    readonly status: number;
    readonly code: string;
    readonly detail: string;
    readonly faults?: Problem['faults'];
    readonly requestId?: string;
    readonly retryAfterSec?: number | null;
  }) {
    super(given.detail);
    this.status = given.status;
    this.code = given.code;
    this.detail = given.detail;
    this.faults = given.faults ?? [];
    this.requestId = given.requestId ?? '';
    this.retryAfterSec = given.retryAfterSec ?? null;
  }
}

/** Nobody answered: status 0. */
export const isOffline = (fault: unknown): boolean => fault instanceof Problem && fault.status === 0;

export const isAborted = (fault: unknown): boolean =>
  fault instanceof DOMException && fault.name === 'AbortError';

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

export const problemOfAnswer = async (answer: Response): Promise<Problem> => {
  const body: unknown = await answer.json().catch(() => null);
  const fields = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  const retryAfter = Number(answer.headers.get('retry-after'));
  return new Problem({
    status: answer.status,
    code: textOf(fields['code']) || `http_${answer.status}`,
    detail: textOf(fields['detail']) || textOf(fields['title']) || answer.statusText,
    faults: Array.isArray(fields['errors']) ? (fields['errors'] as Problem['faults']) : [],
    requestId: answer.headers.get('x-request-id') ?? '',
    retryAfterSec: Number.isFinite(retryAfter) && retryAfter > 0 ? retryAfter : null,
  });
};

/** Whatever was thrown, as something that can be shown. */
export const asProblem = (fault: unknown): Problem =>
  fault instanceof Problem
    ? fault
    : new Problem({
        status: -1,
        code: 'page',
        detail: fault instanceof Error ? fault.message : String(fault),
      });
