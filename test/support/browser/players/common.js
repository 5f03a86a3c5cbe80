// What all players share. Each page gives `player` to the test: stats, close and what else it can do.

/** What the test asked for. */
export const options = JSON.parse(new URLSearchParams(location.search).get('options'));

/** A `<video>` whose figures are kept. */
export const makeVideo = () => {
  const video = document.createElement('video');
  video.muted = true;
  video.playsInline = true;
  video.crossOrigin = 'anonymous';
  document.body.append(video);
  const waits = [];
  let hasPlayed = false;
  video.addEventListener('playing', () => {
    hasPlayed = true;
  });
  video.addEventListener('waiting', () => {
    const isAtEnd = video.currentTime >= video.duration - 0.1;
    if (hasPlayed && !video.seeking && !isAtEnd) waits.push(video.currentTime);
  });
  return { video, waits };
};

export const videoStats = ({ video, waits }) => {
  const quality = video.getVideoPlaybackQuality();
  return {
    currentTime: video.currentTime,
    duration: Number.isFinite(video.duration) ? video.duration : null,
    videoWidth: video.videoWidth,
    videoHeight: video.videoHeight,
    isPaused: video.paused,
    isEnded: video.ended,
    isSeeking: video.seeking,
    readyState: video.readyState,
    error: video.error === null ? null : `${video.error.code} ${video.error.message}`,
    framesDecoded: quality.totalVideoFrames,
    framesDropped: quality.droppedVideoFrames,
    soundBytesDecoded: video.webkitAudioDecodedByteCount ?? null,
    buffered: Array.from({ length: video.buffered.length }, (_, i) => [
      video.buffered.start(i),
      video.buffered.end(i),
    ]),
    waits,
  };
};

/**
 * The picture's luminance, averaged over as many areas. Not scaled by drawing it small: browsers differ in that
 * more than neighbouring pictures do.
 */
const pictureOf = (video, width, height) => {
  const { videoWidth, videoHeight } = video;
  const context = new OffscreenCanvas(videoWidth, videoHeight).getContext('2d', { willReadFrequently: true });
  context.drawImage(video, 0, 0);
  const { data } = context.getImageData(0, 0, videoWidth, videoHeight);
  const sums = new Float64Array(width * height);
  const counts = new Float64Array(width * height);
  for (let y = 0, i = 0; y < videoHeight; y += 1) {
    const row = Math.floor((y * height) / videoHeight) * width;
    for (let x = 0; x < videoWidth; x += 1, i += 4) {
      const area = row + Math.floor((x * width) / videoWidth);
      sums[area] += 0.299 * data[i] + 0.587 * data[i + 1] + 0.114 * data[i + 2];
      counts[area] += 1;
    }
  }
  return btoa(String.fromCharCode(...sums.map((sum, area) => sum / counts[area])));
};

const seekTo = (video, seconds) =>
  new Promise((resolve, reject) => {
    video.addEventListener('seeked', () => resolve(), { once: true });
    video.addEventListener('error', () => reject(new Error(video.error.message)), { once: true });
    video.currentTime = seconds;
  });

/** What a test can do with a `<video>`. */
export const videoControls = ({ video }) => ({
  seek: (seconds) => seekTo(video, seconds),
  play: (rate) => {
    video.playbackRate = rate;
    return video.play();
  },
  pause: () => video.pause(),
  picture: (width, height) => pictureOf(video, width, height),
});
