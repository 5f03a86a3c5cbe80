import { effect, signal } from '@preact/signals';
import { type Happening, tellHappening } from './happenings.js';
import { call, me } from './session.js';

const MAX_WAIT_MS = 8_000;
const FIRST_WAIT_MS = 250;

/** Whether a wall's socket brings what happens already: six streams of one kind block a host. */
export const isHeardByWall = signal(false);

/** Server-sent events, by fetch: `EventSource` can't send a token. */
const readEvents = async (answer: Response): Promise<void> => {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) return;
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const type = /^event: ?(.*)$/m.exec(block)?.[1];
      const data = /^data: ?(.*)$/m.exec(block)?.[1];
      if (type === 'reset') tellHappening({ topic: 'reset' });
      else if (data !== undefined) tellHappening(JSON.parse(data) as Happening);
    }
  }
};

const follow = async (signal: AbortSignal): Promise<void> => {
  let waitMs = FIRST_WAIT_MS;
  while (!signal.aborted) {
    try {
      const answer = await call('GET', '/api/events/stream', { signal });
      waitMs = FIRST_WAIT_MS;
      await readEvents(answer);
    } catch {
      // Nobody answers, or may answer: the session tells the page of it.
    }
    if (signal.aborted) return;
    const jitter = 0.5 + Math.random() / 2;
    await new Promise((resolve) => setTimeout(resolve, waitMs * jitter));
    waitMs = Math.min(waitMs * 2, MAX_WAIT_MS);
  }
};

/** Listens as long as somebody is signed in and no wall does. */
export const startHappenings = (): void => {
  let running: AbortController | null = null;
  effect(() => {
    const isWanted = me.value?.permissions.includes('events.read') === true && !isHeardByWall.value;
    if (isWanted === (running !== null)) return;
    running?.abort();
    running = isWanted ? new AbortController() : null;
    if (running !== null) void follow(running.signal);
  });
};
