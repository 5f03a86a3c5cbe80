import assert from 'node:assert/strict';
import type { Browser } from './browser.js';
import { openPlayer } from './player.js';
import { VideoPlayer, type VideoStats } from './video-player.js';

export type ShownCue = { readonly startTime: number; readonly endTime: number; readonly text: string };

export type HlsStats = VideoStats & {
  /** `type details`, e.g. `networkError manifestLoadError`: after one of these nothing plays any more. */
  readonly fatalErrors: readonly string[];
  /** The others, which hls.js gets over: its skips and nudges at holes are among them. */
  readonly minorErrors: readonly string[];
  /** Times where it stood still for want of media. Where there is enough ahead the machine is slow: not counted. */
  readonly stalls: readonly number[];
  readonly isLive: boolean;
  readonly levels: readonly { readonly width: number; readonly height: number; readonly codecs: string }[];
  readonly fragmentsLoaded: number;
  /** Fatal media errors that `recoverMediaError` mended. */
  readonly recoveries: number;
  /** Playlists that came without the segments that it knew, and were put together. */
  readonly deltaUpdates: number;
  /** Addresses of the variants that it played, in turn. */
  readonly levelsPlayed: readonly string[];
  /** Seconds behind the live edge. */
  readonly latencySeconds: number;
  /** Wall time of the picture by EXT-X-PROGRAM-DATE-TIME, ms since 1970. */
  readonly playingDateMs: number | null;
  readonly subtitleTracks: readonly string[];
  /** Cues that were shown, each once, in order. */
  readonly cues: readonly ShownCue[];
  /** Those of the picture that is shown. */
  readonly activeCues: readonly ShownCue[];
};

export type PlayHlsOptions = {
  /** How much to keep loaded ahead. */
  readonly bufferSeconds?: number;
  readonly autoplay?: boolean;
  /** Does at a fatal media error what hls.js asks pages to do. */
  readonly recovers?: boolean;
};

/** Plays a playlist with hls.js. */
export const playHls = async (
  browser: Browser,
  url: string,
  { bufferSeconds = 30, autoplay = true, recovers = false }: PlayHlsOptions = {},
): Promise<VideoPlayer<HlsStats>> =>
  new VideoPlayer(await openPlayer(browser, 'hls', { url, bufferSeconds, autoplay, recovers }));

const LATE_SECONDS = 0.2;

/** Loads all of a recording, plays it to its end four times as fast, and says how that went. */
export const playToEnd = async (player: VideoPlayer<HlsStats>): Promise<HlsStats> => {
  const isLost = ({ fatalErrors }: HlsStats): boolean => fatalErrors.length > 0;
  await player.until('all is loaded', (stats) => {
    const loadedSeconds = stats.buffered.at(-1)?.[1] ?? 0;
    return isLost(stats) || (stats.duration !== null && loadedSeconds > stats.duration - LATE_SECONDS);
  });
  await player.play(4);
  return player.until('it has ended', (stats) => isLost(stats) || stats.isEnded);
};

/**
 * hls.js begins at the first decode time. With B-frames it may notice before it plays that there is no picture
 * then, and skips to it: of FFmpeg's segments, too. Live that is wherever it joins, and only there it stands at 0 before.
 */
const isSkipToFirstPicture = (error: string, isLive: boolean): boolean =>
  (isLive ? /bufferSeekOverHole .* from 0 to / : /bufferSeekOverHole .* from 0 to 0\.[123]/).test(error);

/** A seek ends the loading of what is no longer wanted. */
const isGivenUp = (error: string): boolean => /^networkError aborted/.test(error);

/** No error, no stall. */
export const assertNoErrors = ({ fatalErrors, minorErrors, stalls, isLive }: HlsStats): void => {
  const others = minorErrors.filter((error) => !isSkipToFirstPicture(error, isLive) && !isGivenUp(error));
  assert.deepEqual({ fatalErrors, others, stalls }, { fatalErrors: [], others: [], stalls: [] });
};

/** No error, no stall, and no hole: all that is loaded is one stretch, which is returned. */
export const assertWhole = (stats: HlsStats): readonly [number, number] => {
  assertNoErrors(stats);
  assert.equal(stats.buffered.length, 1, JSON.stringify(stats.buffered));
  return stats.buffered[0]!;
};
