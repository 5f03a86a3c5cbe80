import { systemClock } from '../../src/base/clock.js';
import { STAMP_BYTES } from '../../test/support/frame-generator.js';
import { FrameWatch, type Seen } from './frame-watch.js';
import type { OpenViewer, Viewer } from './viewer.js';
import { WebSocketStream } from './websocket-stream.js';

type Opening = { readonly seen: Seen; readonly url: string; readonly pictures: number };

/** Waits for so many different pictures; an end that nobody wanted is a fault. */
const openStream = (
  { seen, url, pictures }: Opening,
  onUpgraded: (stream: WebSocketStream) => void,
  onFirst: () => void,
): Viewer => {
  const startMs = systemClock.monotonicMs();
  const { port, pathname, search } = new URL(url);
  const watches = new Map<number, FrameWatch>();
  let isClosed = false;
  let missing = pictures;
  const onPicture = (): void => {
    missing -= 1;
    if (missing === 0) onFirst();
  };
  const stream: WebSocketStream = new WebSocketStream(Number(port), pathname + search, {
    onUpgraded: () => onUpgraded(stream),
    onFrame: (stamp, number) => {
      let watch = watches.get(number);
      if (watch === undefined) {
        watch = new FrameWatch(seen, onPicture, startMs);
        watches.set(number, watch);
      }
      watch.onFrame(stamp, STAMP_BYTES);
    },
    onEnd: () => {
      if (!isClosed) seen.faults.push(`${pathname} was closed`);
      onFirst();
    },
  });
  return {
    pictures,
    close: () => {
      isClosed = true;
      stream.close();
    },
  };
};

/** A player of one camera. */
export const openWebSocketViewer: OpenViewer = ({ url }, seen, onFirst) =>
  openStream({ seen, url, pictures: 1 }, () => {}, onFirst);

/** A page with a tile for each of some cameras. */
export const openWall: OpenViewer = ({ url, cameraIds = [] }, seen, onFirst) =>
  openStream({ seen, url, pictures: cameraIds.length }, (stream) => stream.showWall(cameraIds), onFirst);
