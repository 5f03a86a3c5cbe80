import type { Browser } from './browser.js';
import { openPlayer, Player } from './player.js';

export type WebSocketStats = {
  readonly isOpen: boolean;
  /** Once it is closed. */
  readonly closeCode: number | null;
  /** Codec string made of the newest parameter sets. */
  readonly codec: string | null;
  readonly configs: number;
  readonly frames: number;
  readonly keyFrames: number;
  readonly framesDecoded: number;
  readonly width: number;
  readonly height: number;
  readonly lastTimestampUs: number;
  /** From opening the socket to the first picture on the canvas. */
  readonly firstPictureMs: number | null;
  /** Whatever breaks the promises of the stream, and what the decoder says. */
  readonly faults: readonly string[];
};

/** Watches over a WebSocket, with WebCodecs and a canvas; `url` is ws://. */
export const playWebSocket = async (browser: Browser, url: string): Promise<Player<WebSocketStats>> =>
  new Player(await openPlayer(browser, 'websocket', { url }));
