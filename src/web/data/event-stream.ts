/** Server-sent events, by fetch: `EventSource` can't send a token. Returns when the stream is over. */
export const readEventStream = async (
  answer: Response,
  onEvent: (type: string, data: string) => void,
): Promise<void> => {
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
      const type = /^event: ?(.*)$/m.exec(block)?.[1] ?? 'message';
      onEvent(type, /^data: ?(.*)$/m.exec(block)?.[1] ?? '');
    }
  }
};

const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 8_000;

/** Asks again and again for a stream that should never end, until it is aborted; later each time that it fails. */
export const followStream = async (
  open: () => Promise<Response>,
  onEvent: (type: string, data: string) => void,
  signal: AbortSignal,
  onState: (isOpen: boolean) => void = () => {},
): Promise<void> => {
  let waitMs = FIRST_WAIT_MS;
  while (!signal.aborted) {
    try {
      const answer = await open();
      waitMs = FIRST_WAIT_MS;
      onState(true);
      await readEventStream(answer, onEvent);
    } catch {
      // Nobody answers, or may answer: the session tells the page of it.
    }
    if (signal.aborted) return;
    onState(false);
    const jitter = 0.5 + Math.random() / 2;
    await new Promise((resolve) => setTimeout(resolve, waitMs * jitter));
    waitMs = Math.min(waitMs * 2, MAX_WAIT_MS);
  }
};
