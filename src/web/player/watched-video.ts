import type { ScreenEvents } from './screen.js';

const LOOK_EVERY_MS = 500;

/** A `<video>` that plays without being asked, and tells whenever another picture of it is shown. */
export const watchedVideo = (
  { onPicture }: Pick<ScreenEvents, 'onPicture'>,
  hasSound: boolean,
): { readonly video: HTMLVideoElement; readonly stop: () => void } => {
  const video = document.createElement('video');
  video.muted = !hasSound;
  video.autoplay = true;
  video.playsInline = true;
  video.disablePictureInPicture = true;
  let lastSec = 0;
  const timer = setInterval(() => {
    if (video.currentTime === lastSec || video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) return;
    lastSec = video.currentTime;
    onPicture(0);
  }, LOOK_EVERY_MS);
  return { video, stop: () => clearInterval(timer) };
};

/** Browsers let nothing with sound play before somebody touched the page: then it plays without until then. */
export const playAnyhow = (video: HTMLVideoElement): void => {
  video.play().catch(() => {
    if (!video.muted) {
      video.muted = true;
      document.addEventListener('pointerup', () => Object.assign(video, { muted: false }), { once: true });
    }
    video.play().catch(() => {});
  });
};
