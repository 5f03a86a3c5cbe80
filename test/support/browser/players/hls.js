import Hls from '/hls.js/hls.mjs';
import { makeVideo, options, videoControls, videoStats } from './common.js';

const view = makeVideo();
const hls = new Hls({ maxBufferLength: options.bufferSeconds });
const fatalErrors = [];
const minorErrors = [];
const stalls = [];
const cues = [];
let fragmentsLoaded = 0;
let recoveries = 0;
let deltaUpdates = 0;
const levelsPlayed = [];

const STARVED_SECONDS = 0.5;

hls.on(Hls.Events.ERROR, (_, { type, details, fatal, reason, response, buffer }) => {
  if (details === Hls.ErrorDetails.BUFFER_STALLED_ERROR && !fatal) {
    if (buffer < STARVED_SECONDS) stalls.push(view.video.currentTime);
    return;
  }
  const code = response?.code === undefined ? '' : ` ${response.code}`;
  // What hls.js asks pages to do: MSE takes no track more, or less, than it began with.
  const isRecovered = fatal && options.recovers && type === Hls.ErrorTypes.MEDIA_ERROR;
  if (isRecovered) {
    recoveries += 1;
    hls.recoverMediaError();
    view.video.play().catch((error) => minorErrors.push(String(error)));
  }
  (fatal && !isRecovered ? fatalErrors : minorErrors).push(
    `${type} ${details}${code}${reason ? ` ${reason}` : ''}`,
  );
});
hls.on(Hls.Events.FRAG_LOADED, (_, { frag }) => {
  if (frag.type === 'main') fragmentsLoaded += 1;
});
hls.on(Hls.Events.LEVEL_UPDATED, (_, { details }) => {
  if (details.skippedSegments > 0 && !details.deltaUpdateFailed) deltaUpdates += 1;
});
hls.on(Hls.Events.LEVEL_SWITCHED, (_, { level }) => levelsPlayed.push(hls.levels[level].uri));
hls.on(Hls.Events.MANIFEST_PARSED, () => {
  if (options.autoplay) view.video.play().catch((error) => minorErrors.push(String(error)));
});
view.video.textTracks.addEventListener('addtrack', ({ track }) => {
  track.addEventListener('cuechange', () => {
    for (const { startTime, endTime, text } of track.activeCues ?? []) {
      const isKnown = cues.some((cue) => cue.startTime === startTime && cue.text === text);
      if (!isKnown) cues.push({ startTime, endTime, text });
    }
  });
});
hls.attachMedia(view.video);
hls.loadSource(options.url);

window.player = {
  ...videoControls(view),
  stats: () => ({
    ...videoStats(view),
    fatalErrors,
    minorErrors,
    stalls,
    isLive: hls.latestLevelDetails?.live ?? false,
    levels: hls.levels.map(({ width, height, codecSet, videoCodec, audioCodec }) => ({
      width,
      height,
      codecs: codecSet || [videoCodec, audioCodec].filter(Boolean).join(),
    })),
    fragmentsLoaded,
    recoveries,
    deltaUpdates,
    levelsPlayed,
    latencySeconds: hls.latency,
    playingDateMs: hls.playingDate?.getTime() ?? null,
    subtitleTracks: hls.subtitleTracks.map(({ name }) => name),
    cues,
    activeCues: [...view.video.textTracks].flatMap(({ activeCues }) =>
      [...(activeCues ?? [])].map(({ startTime, endTime, text }) => ({ startTime, endTime, text })),
    ),
  }),
  close: () => hls.destroy(),
};
