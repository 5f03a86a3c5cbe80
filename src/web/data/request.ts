import { monotonicMs } from '../player/monotonic.js';
import { Problem, problemOfAnswer } from './problem.js';
import { noteServiceTime } from './service-clock.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export type RequestOptions = {
  readonly body?: unknown;
  readonly token?: string;
  readonly ifMatch?: string;
  /** What is known already: where it is still so the answer is 304, which is a success then. */
  readonly ifNoneMatch?: string;
  readonly signal?: AbortSignal;
  /** How long it may take until the answer begins, and from piece to piece of it. */
  readonly timeoutMs?: number;
};

/** Twice as long as streams of events are ever silent. */
const SILENT_MS = 30_000;

const reachListeners = new Set<(isReached: boolean) => void>();

/** Told after each request whether anybody answered. */
export const onReach = (listener: (isReached: boolean) => void): void => void reachListeners.add(listener);

const tellReach = (isReached: boolean): void => {
  for (const listener of reachListeners) listener(isReached);
};

const offline = (): Problem =>
  new Problem({ status: 0, code: 'offline', detail: 'the service does not answer' });

/** Gives a request up when nothing comes for too long, or when whoever asked wants it no more. */
class Lookout {
  readonly #abort = new AbortController();
  readonly #asker: AbortSignal | undefined;
  readonly #silentMs: number;
  readonly #onAsker = (): void => this.#abort.abort();

  constructor(asker: AbortSignal | undefined, silentMs: number) {
    this.#asker = asker;
    this.#silentMs = silentMs;
    // `AbortSignal.any` is younger than browsers that people have.
    if (asker?.aborted === true) this.#onAsker();
    asker?.addEventListener('abort', this.#onAsker);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  async watch<Result>(step: Promise<Result>): Promise<Result> {
    const timer = setTimeout(() => this.#abort.abort(), this.#silentMs);
    try {
      return await step;
    } catch (fault) {
      this.end();
      if (this.#asker?.aborted === true) throw fault;
      tellReach(false);
      throw offline();
    } finally {
      clearTimeout(timer);
    }
  }

  end(): void {
    this.#asker?.removeEventListener('abort', this.#onAsker);
  }
}

/** The same answer, of which each piece has to come in time. */
const watched = (answer: Response, lookout: Lookout): Response => {
  const { body, status, statusText, headers } = answer;
  if (body === null || status === 204 || status === 304) {
    lookout.end();
    return answer;
  }
  const reader = body.getReader();
  const pieces = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { done, value } = await lookout.watch(reader.read());
        if (!done) return controller.enqueue(value);
        lookout.end();
        controller.close();
      },
      cancel: (reason) => {
        lookout.end();
        return reader.cancel(reason);
      },
    },
    // Nobody waits before somebody reads.
    { highWaterMark: 0 },
  );
  return new Response(pieces, { status, statusText, headers });
};

/** Asks the service; throws a `Problem` for whatever isn't a success, and while the answer is read if it breaks off. */
export const request = async (
  method: Method,
  path: string,
  options: RequestOptions = {},
): Promise<Response> => {
  const { body, token, ifMatch, ifNoneMatch, signal, timeoutMs = SILENT_MS } = options;
  const headers: Record<string, string> = {};
  if (token !== undefined && token !== '') headers['authorization'] = `Bearer ${token}`;
  if (ifMatch !== undefined) headers['if-match'] = ifMatch;
  if (ifNoneMatch !== undefined) headers['if-none-match'] = ifNoneMatch;
  if (body !== undefined) headers['content-type'] = 'application/json';
  const lookout = new Lookout(signal, timeoutMs);
  const sentMs = monotonicMs();
  const asked = fetch(path, {
    ...{ method, headers, cache: 'no-store' as const, signal: lookout.signal },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = watched(await lookout.watch(asked), lookout);
  noteServiceTime(sentMs, answer.headers.get('service-time'));
  if (!answer.ok && !(answer.status === 304 && ifNoneMatch !== undefined))
    throw await problemOfAnswer(answer);
  return answer;
};
