import type { Browser } from './browser.js';
import { openPlayer } from './player.js';
import { VideoPlayer, type VideoStats } from './video-player.js';

export type WhepStats = VideoStats & {
  /** Of the answer to the offer; 0 before it. */
  readonly status: number;
  /** The Location header of the answer, if the page may read it. */
  readonly location: string | null;
  readonly answer: string;
  /** Of the DELETE at the end; 0 before it. */
  readonly deleteStatus: number;
  readonly connectionState: string;
  readonly codecs: readonly string[];
  readonly packetsReceived: number;
  readonly packetsLost: number;
  readonly keyFramesDecoded: number;
  readonly audioPacketsReceived: number;
  /** From the POST to the first picture on the screen. */
  readonly firstPictureMs: number | null;
  readonly failure: string | null;
};

export type PlayWhepOptions = {
  /** Sent as `Authorization: Bearer`. */
  readonly token?: string;
  readonly audio?: boolean;
};

/** Watches by WebRTC: one offer, one answer. `close` sends DELETE to the answer's Location. */
export const playWhep = async (
  browser: Browser,
  url: string,
  { token, audio = true }: PlayWhepOptions = {},
): Promise<VideoPlayer<WhepStats>> =>
  new VideoPlayer(await openPlayer(browser, 'whep', { url, token: token ?? null, audio }));
