import { noteServiceTime } from '../../data/service-clock.js';
import type { StreamMessage } from '../../player/messages.js';
import { monotonicMs } from '../../player/monotonic.js';
import { FramesFault } from './frames-fault.js';
import { MessageSplitter } from './message-splitter.js';

export type FramesWanted =
  | {
      readonly fromMs: number;
      readonly toMs: number;
      readonly everyMs?: number;
      readonly isKeysOnly?: boolean;
      readonly isBack?: boolean;
    }
  | { readonly atMs: number; readonly isKeysOnly: boolean };

/** A token that is good now; true: the one before was refused. */
export type TokenSource = (isRefused: boolean) => Promise<string>;

const isoOf = (timeMs: number): string => new Date(Math.round(timeMs)).toISOString();

const queryOf = (wanted: FramesWanted): URLSearchParams => {
  const query = new URLSearchParams();
  if ('atMs' in wanted) query.set('at', isoOf(wanted.atMs));
  else {
    query.set('from', isoOf(wanted.fromMs));
    query.set('to', isoOf(Math.max(wanted.toMs, Math.round(wanted.fromMs) + 1)));
    if (wanted.everyMs !== undefined) query.set('every_ms', String(Math.max(1, Math.round(wanted.everyMs))));
    if (wanted.isBack === true) query.set('order', 'back');
  }
  if (wanted.isKeysOnly === true && query.get('every_ms') === null) query.set('kind', 'key');
  return query;
};

const faultOf = (status: number): FramesFault => {
  if (status === 404) return new FramesFault('none', 'nothing was recorded then');
  if (status === 401 || status === 403) return new FramesFault('refused', 'this may not be seen');
  if (status === 429 || status === 503) return new FramesFault('busy', 'the service has too much to do');
  return new FramesFault('failed', `the service answered ${status}`);
};

const MAX_TRIES = 4;
const BUSY_WAIT_MS = 400;

/** What a browser calls "Failed to fetch". */
const answered = async <Answer>(asked: Promise<Answer>, signal: AbortSignal): Promise<Answer> => {
  try {
    return await asked;
  } catch (fault) {
    if (signal.aborted) throw fault;
    throw new FramesFault('failed', 'the service does not answer');
  }
};

const open = async (url: string, token: TokenSource, signal: AbortSignal): Promise<Response> => {
  let isRefused = false;
  for (let tries = 1; ; tries++) {
    const headers: HeadersInit = { authorization: `Bearer ${await token(isRefused)}` };
    const sentMs = monotonicMs();
    const answer: Response = await answered(fetch(url, { headers, signal, cache: 'no-store' }), signal);
    noteServiceTime(sentMs, answer.headers.get('service-time'));
    if (answer.ok) return answer;
    void answer.body?.cancel();
    const fault = faultOf(answer.status);
    const isWorthIt = answer.status === 401 ? !isRefused : fault.kind === 'busy' && tries < MAX_TRIES;
    if (!isWorthIt) throw fault;
    isRefused = answer.status === 401;
    if (fault.kind === 'busy') await new Promise((resolve) => setTimeout(resolve, BUSY_WAIT_MS * tries));
  }
};

/** The messages of recorded frames as they come. Who takes none holds the service back; abort ends it. */
export async function* requestFrames(
  camera: string,
  wanted: FramesWanted,
  token: TokenSource,
  signal: AbortSignal,
): AsyncGenerator<StreamMessage> {
  const url = `/stream/archive/${encodeURIComponent(camera)}/frames?${queryOf(wanted)}`;
  const answer = await open(url, token, signal);
  const reader = answer.body!.getReader();
  const splitter = new MessageSplitter();
  for (;;) {
    const { done, value } = await answered(reader.read(), signal);
    if (done) return;
    yield* splitter.push(value);
  }
}
