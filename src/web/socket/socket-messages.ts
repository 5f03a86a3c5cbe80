import type { Happening } from '../data/happenings.js';
import type { TileAnswer } from './tile-answer.js';

/** What a tile is to get; `decoder` is the number of the decode worker that shows it. */
export type WantedTile = {
  readonly tile: number;
  readonly camera: string;
  readonly stream: 'sub' | 'main';
  readonly mode: 'all' | 'key' | 'off';
  readonly priority: number;
  readonly sound: boolean;
  readonly decoder: number;
};

/**
 * `blocked`: the service answers, and lets no socket open. `refused`: the user's role or password is another one now.
 */
export type SocketState =
  | { readonly state: 'connecting' | 'open' | 'blocked' | 'refused' | 'closed' }
  | { readonly state: 'waiting'; readonly untilMs: number };

export type ToSocketWorker =
  | { readonly op: 'open'; readonly url: string }
  | { readonly op: 'token'; readonly token: string | null }
  | { readonly op: 'decoder'; readonly decoder: number; readonly port: MessagePort }
  | { readonly op: 'tiles'; readonly tiles: readonly WantedTile[] }
  /** `isNew`: whatever there is of a socket is not to be trusted. */
  | { readonly op: 'wake'; readonly isNew: boolean }
  | { readonly op: 'close' };

export type FromSocketWorker =
  | { readonly op: 'wants-token' }
  | { readonly op: 'state'; readonly state: SocketState }
  | { readonly op: 'tile'; readonly answer: TileAnswer }
  | { readonly op: 'lost'; readonly stream: number; readonly frames: number; readonly reason: string }
  | { readonly op: 'happening'; readonly happening: Happening }
  | { readonly op: 'tick'; readonly serverMs: number; readonly atMs: number }
  | { readonly op: 'sound'; readonly data: ArrayBuffer };

/** From the socket's worker to one that decodes, without a detour over the page. */
export type ToDecoder =
  | { readonly op: 'connection'; readonly connection: number }
  | {
      readonly op: 'route';
      readonly tile: number;
      readonly stream: number | null;
      readonly isKeysOnly: boolean;
    }
  | { readonly op: 'message'; readonly data: ArrayBuffer };

export type FromDecoder = {
  readonly op: 'taken';
  readonly connection: number;
  readonly messages: number;
  readonly bytes: number;
};
