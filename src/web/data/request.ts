import { Problem, problemOfAnswer } from './problem.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export type RequestOptions = {
  readonly body?: unknown;
  readonly token?: string;
  readonly ifMatch?: string;
  /** What is known already: where it is still so the answer is 304, which is a success then. */
  readonly ifNoneMatch?: string;
  readonly signal?: AbortSignal;
  /** How long it may take until the answer begins. */
  readonly timeoutMs?: number;
};

const TIMEOUT_MS = 30_000;

const reachListeners = new Set<(isReached: boolean) => void>();

/** Told after each request whether anybody answered. */
export const onReach = (listener: (isReached: boolean) => void): void => void reachListeners.add(listener);

const tellReach = (isReached: boolean): void => {
  for (const listener of reachListeners) listener(isReached);
};

/** Asks the service; throws a `Problem` for whatever isn't a success. */
export const request = async (
  method: Method,
  path: string,
  options: RequestOptions = {},
): Promise<Response> => {
  const { body, token, ifMatch, ifNoneMatch, signal, timeoutMs = TIMEOUT_MS } = options;
  // Until the answer begins, and no longer: some never end.
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), timeoutMs);
  const headers: Record<string, string> = {};
  if (token !== undefined && token !== '') headers['authorization'] = `Bearer ${token}`;
  if (ifMatch !== undefined) headers['if-match'] = ifMatch;
  if (ifNoneMatch !== undefined) headers['if-none-match'] = ifNoneMatch;
  if (body !== undefined) headers['content-type'] = 'application/json';
  let answer: Response;
  try {
    answer = await fetch(path, {
      method,
      headers,
      cache: 'no-store',
      signal: signal === undefined ? timeout.signal : AbortSignal.any([signal, timeout.signal]),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch (fault) {
    if (signal?.aborted === true) throw fault;
    tellReach(false);
    throw new Problem({ status: 0, code: 'offline', detail: 'the service does not answer' });
  } finally {
    clearTimeout(timer);
  }
  if (!answer.ok && !(answer.status === 304 && ifNoneMatch !== undefined))
    throw await problemOfAnswer(answer);
  return answer;
};
