import type { Browser } from './browser.js';
import { openPlayer, Player } from './player.js';

/** A `<video>` element's figures. */
export type VideoStats = {
  readonly currentTime: number;
  /** null: endless or not known yet. */
  readonly duration: number | null;
  readonly videoWidth: number;
  readonly videoHeight: number;
  readonly isPaused: boolean;
  readonly isEnded: boolean;
  readonly isSeeking: boolean;
  readonly readyState: number;
  /** Code and text of the media error. */
  readonly error: string | null;
  readonly framesDecoded: number;
  readonly framesDropped: number;
  /** Null where the browser doesn't tell. */
  readonly soundBytesDecoded: number | null;
  /** What is there to play, in seconds: one range if there is no hole. */
  readonly buffered: readonly (readonly [number, number])[];
  /** Times where it stood still for want of media, after the first picture and not while seeking. */
  readonly waits: readonly number[];
};

export const PICTURE_WIDTH_PIXELS = 64;
export const PICTURE_HEIGHT_PIXELS = 36;

/** Whatever shows pictures in a `<video>`. */
export class VideoPlayer<Stats> extends Player<Stats> {
  /** Resolves when the picture of that time is there. */
  seek(seconds: number): Promise<void> {
    return this.call('seek', seconds);
  }

  play(rate = 1): Promise<void> {
    return this.call('play', rate);
  }

  pause(): Promise<void> {
    return this.call('pause');
  }

  /** The picture that is shown: 64 x 36 pixels, one byte of luminance each. */
  async picture(): Promise<Buffer> {
    return Buffer.from(
      await this.call<string>('picture', PICTURE_WIDTH_PIXELS, PICTURE_HEIGHT_PIXELS),
      'base64',
    );
  }
}

export type PlayVideoOptions = {
  /** False: it stands at the first picture. */
  readonly autoplay?: boolean;
};

/** Opens a file in a `<video>`, as a person would who clicks on it. */
export const playVideoFile = async (
  browser: Browser,
  url: string,
  { autoplay = true }: PlayVideoOptions = {},
): Promise<VideoPlayer<VideoStats>> => new VideoPlayer(await openPlayer(browser, 'video', { url, autoplay }));
