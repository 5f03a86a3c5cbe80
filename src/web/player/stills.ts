import { call } from '../data/session.js';
import type { Screen, ScreenOptions } from './screen.js';

const WIDTHS = { main: 1_280, sub: 640 } as const;
/** So many in a row that did not come. */
const MAX_FAILURES = 3;

/** A picture in a while, made by the service: what any browser shows of any camera. */
export const stillsScreen = ({ cameraId, stream, everyMs, onPicture, onFailed }: ScreenOptions): Screen => {
  const element = new Image();
  element.alt = '';
  const ended = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  let newestMs = 0;
  const show = async (): Promise<void> => {
    const path = `/api/cameras/${encodeURIComponent(cameraId)}/snapshot.jpg?width=${WIDTHS[stream]}`;
    const answer = await call('GET', path, { signal: ended.signal });
    const takenMs = Date.parse(answer.headers.get('picture-time') ?? '');
    const address = URL.createObjectURL(await answer.blob());
    const before = element.src;
    element.src = address;
    await element.decode().finally(() => {
      if (before !== '') URL.revokeObjectURL(before);
    });
    if (ended.signal.aborted) return;
    failures = 0;
    // The same picture again is no news of the camera.
    if (takenMs <= newestMs) return;
    newestMs = takenMs;
    onPicture(takenMs);
  };
  const loop = (): void => {
    show()
      .catch((fault: unknown) => {
        failures += 1;
        if (failures >= MAX_FAILURES && !ended.signal.aborted)
          onFailed('failed', fault instanceof Error ? fault.message : '');
      })
      .finally(() => {
        if (!ended.signal.aborted) timer = setTimeout(loop, everyMs);
      });
  };
  loop();
  return {
    element,
    close: () => {
      ended.abort();
      clearTimeout(timer);
      if (element.src !== '') URL.revokeObjectURL(element.src);
    },
  };
};
