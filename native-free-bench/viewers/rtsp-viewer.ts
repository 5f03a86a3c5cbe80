import { systemClock } from '../../src/base/clock.js';
import { messageOf } from '../../src/base/errors.js';
import { createLogger } from '../../src/base/log.js';
import { videoCodecOf } from '../../src/rtsp/media-format.js';
import { RtspSession } from '../../src/rtsp/session.js';
import { FrameWatch } from './frame-watch.js';
import { RtpFrames } from './rtp-frames.js';
import type { OpenViewer } from './viewer.js';

/** Of all sockets of the process. */
const readBuffer = Buffer.allocUnsafeSlow(256 << 10);
const log = createLogger(() => {});

/** A player over TCP, without sound. */
export const openRtspViewer: OpenViewer = ({ url }, seen, onFirst) => {
  const frames = new RtpFrames(seen, new FrameWatch(seen, onFirst));
  const onEnd = (fault: unknown): void => {
    seen.faults.push(`${new URL(url).pathname}: ${messageOf(fault)}`);
    onFirst();
  };
  const onRtp = (_track: number, buffer: Buffer, start: number, end: number): void => {
    if (seen.isMeasuring) seen.bytes += end - start;
    if (frames.take(buffer, start)) frames.finish(buffer, start, end);
  };
  const handlers = { onRtp, onRtcp: () => {}, onRestart: () => {}, onEnd };
  const session = new RtspSession(
    { url, transport: 'tcp' },
    { clock: systemClock, log, readBuffer, handlers },
  );
  let isClosed = false;
  const play = async (): Promise<void> => {
    const { medias } = await session.describe();
    await session.setup(medias.filter((media) => videoCodecOf(media) !== null));
    await session.play();
  };
  play().catch((fault: unknown) => {
    if (!isClosed) onEnd(fault);
  });
  return {
    pictures: 1,
    close: () => {
      isClosed = true;
      session.close().catch(() => {});
    },
  };
};
