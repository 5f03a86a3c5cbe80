import type { Browser } from './browser.js';
import { openPlayer, Player } from './player.js';

export type WallStats = {
  /** Pictures by stream. */
  readonly decoded: Readonly<Record<string, number>>;
  /** Times that it said how much it took. */
  readonly acknowledged: number;
  /** How often it had done so when it was last told that frames are lost to it. */
  readonly acknowledgedAtLoss: number;
  readonly closeCode: number | null;
  readonly faults: readonly string[];
};

/** Shows each camera in a tile of a wall, with WebCodecs; `url` is ws://. */
export const playWall = async (
  browser: Browser,
  url: string,
  cameras: readonly string[],
): Promise<Player<WallStats>> => new Player(await openPlayer(browser, 'wall', { url, cameras }));
