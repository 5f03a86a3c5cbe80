import { accessToken, api } from '../data/session.js';
import type { Screen, ScreenOptions } from './screen.js';
import { playAnyhow, watchedVideo } from './watched-video.js';

const addressOf = ({ cameraId, stream }: ScreenOptions): string =>
  `/stream/hls/${encodeURIComponent(cameraId)}/index.m3u8?stream=${stream}`;

const playByLibrary = async (
  video: HTMLVideoElement,
  options: ScreenOptions,
): Promise<(() => void) | null> => {
  const { default: Hls } = await import('hls.js');
  if (!Hls.isSupported()) return null;
  const hls = new Hls({
    lowLatencyMode: true,
    // Its own would be made of text, which the pages' policy forbids.
    enableWorker: false,
    backBufferLength: 6,
    // Each with a token that is good then: it goes on for longer than any is.
    xhrSetup: async (request) => request.setRequestHeader('authorization', `Bearer ${await accessToken()}`),
  });
  hls.on(Hls.Events.ERROR, (_event, { fatal, details }) => {
    if (fatal) options.onFailed(details.includes('Codec') ? 'codec' : 'failed', details);
  });
  hls.loadSource(addressOf(options));
  hls.attachMedia(video);
  return () => hls.destroy();
};

/** Apple's browsers play it by themselves, and send no header. */
const playByBrowser = async (video: HTMLVideoElement, options: ScreenOptions): Promise<() => void> => {
  const path = `/api/cameras/${encodeURIComponent(options.cameraId)}/stream-token`;
  const { token } = await api<{ token: string }>('GET', path);
  video.src = `${addressOf(options)}&token=${encodeURIComponent(token)}`;
  video.addEventListener('error', () => options.onFailed('failed', video.error?.message ?? ''));
  return () => video.removeAttribute('src');
};

/** HLS, in parts where the player takes them: a second or two behind, and through any proxy. */
export const hlsScreen = (options: ScreenOptions): Screen => {
  const { video, stop } = watchedVideo(options, options.hasSound);
  let isClosed = false;
  let end: (() => void) | null = null;
  const begin = async (): Promise<void> => {
    const made = (await playByLibrary(video, options)) ?? (await playByBrowser(video, options));
    if (isClosed) made();
    else end = made;
    playAnyhow(video);
  };
  begin().catch((fault: unknown) => {
    if (!isClosed) options.onFailed('failed', fault instanceof Error ? fault.message : '');
  });
  return {
    element: video,
    close: () => {
      isClosed = true;
      stop();
      end?.();
    },
  };
};
