import type { Browser } from './browser.js';
import { openPlayer } from './player.js';
import { VideoPlayer, type VideoStats } from './video-player.js';

export type HlsStats = VideoStats & {
  /** `type details`, e.g. `networkError manifestLoadError`: after one of these nothing plays any more. */
  readonly fatalErrors: readonly string[];
  /** The others, which hls.js gets over; stalls are among them. */
  readonly minorErrors: readonly string[];
  /** Where it stood still, and how much there was to play: with plenty ahead the machine is too slow. */
  readonly stalls: readonly string[];
  readonly isLive: boolean;
  readonly levels: readonly { readonly width: number; readonly height: number; readonly codecs: string }[];
  readonly fragmentsLoaded: number;
  /** Seconds behind the live edge. */
  readonly latencySeconds: number;
  /** Wall time of the picture by EXT-X-PROGRAM-DATE-TIME, ms since 1970. */
  readonly playingDateMs: number | null;
  readonly subtitleTracks: readonly string[];
  /** Cues that were shown, each once, in order. */
  readonly cues: readonly { readonly startTime: number; readonly endTime: number; readonly text: string }[];
};

export type PlayHlsOptions = {
  /** How much to keep loaded ahead. */
  readonly bufferSeconds?: number;
  readonly autoplay?: boolean;
};

/** Plays a playlist with hls.js. */
export const playHls = async (
  browser: Browser,
  url: string,
  { bufferSeconds = 30, autoplay = true }: PlayHlsOptions = {},
): Promise<VideoPlayer<HlsStats>> =>
  new VideoPlayer(await openPlayer(browser, 'hls', { url, bufferSeconds, autoplay }));
